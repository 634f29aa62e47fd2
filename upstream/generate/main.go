// Command generate writes the patches in upstream/patches: what kubernetes#130767 needs in
// client-go v0.37.2. Run it in the repository's root, after each change of the store:
//
//	go run ./upstream/generate
//
// Each patch has its own files, which lie in upstream/_src at their paths in client-go. The
// package tools/cache/internal/lockfree is made from impl/lockfree and impl/indexing
// (store.go). The edits of client-go's own files are made from its source in the module
// cache, which go mod download fetches (hook.go). So this repository keeps no line of
// client-go but the context lines of patches.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// clientGo is what the patches apply to.
const clientGo = "k8s.io/client-go@v0.37.2"

func main() {
	root := flag.String("root", ".", "the root of this repository")
	flag.Parse()
	if err := run(*root); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	source, err := download()
	if err != nil {
		return err
	}
	patches, err := makePatches(root, source)
	if err != nil {
		return err
	}
	for _, p := range patches {
		path := filepath.Join(root, "upstream", "patches", p.name)
		if err := os.WriteFile(path, p.text(), 0o644); err != nil {
			return err
		}
		fmt.Println(path)
	}
	return nil
}

// download returns the folder of client-go's source in the module cache.
func download() (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", clientGo)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var module struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &module); jsonErr != nil {
		return "", fmt.Errorf("go mod download %s: %w", clientGo, cmp.Or(err, jsonErr))
	}
	if module.Error != "" {
		return "", fmt.Errorf("go mod download %s: %s", clientGo, module.Error)
	}
	return module.Dir, nil
}

// makePatches returns all patches, in the order in which they apply.
func makePatches(root, source string) ([]patch, error) {
	benchmark := patch{
		name: "0001-tools-cache-benchmark-writers-beside-listers.patch",
		about: `tools/cache: benchmark writers beside listers

BenchmarkThreadSafeStoreContention measures a store's one writer beside goroutines that
list or search an index. Its rows are a closed loop, an open loop with delays from when
each write was due, and both with batches of up to 1,000 writes.
BenchmarkThreadSafeStoreMemory measures what a store keeps of each object. The patch needs
no other one.
See kubernetes/kubernetes#130767.`,
	}
	if err := benchmark.add(root, "tools/cache/thread_safe_store_contention_test.go"); err != nil {
		return nil, err
	}

	store := patch{
		name: "0002-tools-cache-internal-lockfree-a-store-without-reader-locks.patch",
		about: `tools/cache/internal/lockfree: a store whose readers take no lock

The package is used by the next patch only. It imports the standard library and
apimachinery's meta package.
See kubernetes/kubernetes#130767.`,
	}
	files, err := storeFiles(root)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		store.files = append(store.files, created("tools/cache/internal/lockfree/"+f.name, f.text))
	}
	if err := store.add(root, "tools/cache/internal/lockfree/types.go"); err != nil {
		return nil, err
	}

	hook := patch{
		name: "0003-tools-cache-feature-gate-LockFreeThreadSafeStore.patch",
		about: `tools/cache: feature gate LockFreeThreadSafeStore

With the gate on, NewThreadSafeStore returns the store of tools/cache/internal/lockfree.
The gate is alpha, and off by default.
See kubernetes/kubernetes#130767.`,
	}
	edits, err := hookEdits(source)
	if err != nil {
		return nil, err
	}
	hook.files = append(hook.files, edits...)
	for _, name := range []string{"thread_safe_store_lockfree.go",
		"thread_safe_store_lockfree_test.go"} {
		if err := hook.add(root, "tools/cache/"+name); err != nil {
			return nil, err
		}
	}
	patches := []patch{benchmark, store, hook}
	for i := range patches {
		patches[i].place = fmt.Sprintf("%d/%d", i+1, len(patches))
	}
	return patches, nil
}

// add adds a file of ours, from upstream/_src.
func (p *patch) add(root, path string) error {
	text, err := os.ReadFile(filepath.Join(root, "upstream", "_src", filepath.FromSlash(path)))
	if err != nil {
		return err
	}
	p.files = append(p.files, created(path, bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))))
	return nil
}
