package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The patches are what the program writes for the store as it is now, they apply to client-go,
// and what they make compiles.
func TestPatchesAreTrue(t *testing.T) {
	t.Parallel()
	source, err := download()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join("..", "..")
	patches, err := makePatches(root, source)
	if err != nil {
		t.Fatal(err)
	}
	if len(patches) != 3 {
		t.Fatalf("%d patches, want 3", len(patches))
	}
	patched := filepath.Join(t.TempDir(), "client-go")
	if err := os.CopyFS(patched, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	for _, p := range patches {
		path, err := filepath.Abs(filepath.Join(root, "upstream", "patches", p.name))
		if err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(kept, p.text()) {
			t.Errorf("%s is not what the sources say (%v): go run ./upstream/generate", p.name, err)
		}
		inside(t, patched, "git", "apply", path)
	}
	inside(t, patched, "go", "test", "-run=^$", "./tools/cache/...")
}

func inside(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
}
