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
	var paths []string
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
		paths = append(paths, path)
	}
	inside(t, patched, "go", "test", "-run=^$", "./tools/cache/...", "./features/...")
	// client-go's own tests do not pass this one check of vet.
	inside(t, patched, "go", "vet", "-lostcancel=false", "./tools/cache/...", "./features/...")
	if unformatted := inside(t, patched, "gofmt", "-l", "tools/cache", "features"); unformatted != "" {
		t.Errorf("not gofmt'ed:\n%s", unformatted)
	}
	areCommits(t, source, paths)
}

// areCommits: git am makes a commit of each patch, where client-go is a folder of a repository.
func areCommits(t *testing.T, source string, paths []string) {
	t.Helper()
	repository := t.TempDir()
	staged := filepath.Join(repository, "staging")
	for _, folder := range []string{"features", filepath.Join("tools", "cache")} {
		if err := os.CopyFS(filepath.Join(staged, folder),
			os.DirFS(filepath.Join(source, folder))); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) string {
		return inside(t, repository, "git",
			append([]string{"-c", "user.name=a", "-c", "user.email=a@localhost", "-c",
				"commit.gpgsign=false"}, args...)...)
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "client-go")
	git(append([]string{"am", "-q", "--signoff", "--directory=staging"}, paths...)...)
	const want = `tools/cache: feature gate LockFreeThreadSafeStore
tools/cache/internal/lockfree: a store whose readers take no lock
tools/cache: benchmark writers beside listers
client-go
`
	if got := git("log", "--format=%s"); got != want {
		t.Errorf("the commits are\n%swant\n%s", got, want)
	}
}

// The patch of a new file, and that of changes, are read as what they are meant to be.
func TestPatchesOfSmallFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	before := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n"
	if err := os.WriteFile(filepath.Join(dir, "old.txt"), []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	old, err := changed("old.txt", before,
		[]change{{3, 0, "a\n"}, {9, 2, "b\n\nc\nd\n"}, {17, 1, "e\n"}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "small.patch")
	p := patch{about: "a subject\n\nand more",
		files: []fileDiff{old, created("new/file.txt", []byte("x\n\ny\n"))}}
	if err := os.WriteFile(path, p.text(), 0o644); err != nil {
		t.Fatal(err)
	}
	inside(t, dir, "git", "apply", path)
	for name, want := range map[string]string{
		"old.txt":      "1\n2\n3\na\n4\n5\n6\n7\n8\n9\nb\n\nc\nd\n12\n13\n14\n15\n16\n17\ne\n19\n20\n21\n22\n",
		"new/file.txt": "x\n\ny\n",
	} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
	}
	if _, err := changed("old.txt", before, []change{{3, 0, "a\n"}, {8, 0, "b\n"}}); err == nil {
		t.Error("changes whose contexts meet were taken")
	}
}

// inside runs a command in a folder and returns what it printed.
func inside(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}
