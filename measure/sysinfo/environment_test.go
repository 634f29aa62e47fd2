package sysinfo

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// Each state of the code has a revision of its own, files that git does not know yet included;
// pages do not count.
func TestRevisionOfAnEditedTree(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	git := func(args ...string) {
		cmd := exec.Command(
			"git", append([]string{"-C", dir, "-c", "user.name=test", "-c", "user.email=test@example.com"},
				args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if rev := ofWorkTree(dir); rev != "" {
		t.Errorf("a folder outside git has the revision %q", rev)
	}
	write("a.go", "package a\n")
	git("init", "--quiet")
	git("add", ".")
	git("commit", "--quiet", "--message", "one")
	seen := map[string]string{}
	for _, step := range []struct{ name, file, text string }{
		{"committed", "", ""},
		{"edited", "a.go", "package a // edited\n"},
		{"a new file", "new.go", "package a\n"},
		{"the new file edited", "new.go", "package a // edited\n"},
	} {
		if step.file != "" {
			write(step.file, step.text)
		}
		rev := ofWorkTree(dir)
		if former, ok := seen[rev]; ok || rev == "" {
			t.Errorf("%s: the revision is %q, as it was when %s", step.name, rev, former)
		}
		seen[rev] = step.name
	}
	elsewhere := &debug.BuildInfo{
		Deps: []*debug.Module{{Path: "example.com/store", Replace: &debug.Module{Path: "../store"}}}}
	if rev, both := ofWorkTree(dir), revision(elsewhere, dir); !strings.HasPrefix(both, rev+"-") ||
		strings.Count(both, "+dirty") != 1 {
		t.Errorf("with a module in a folder elsewhere, the revision %q becomes %q; want the program's "+
			"hash, too", rev, both)
	}
	before := ofWorkTree(dir)
	write("page.md", "a page\n")
	if rev := ofWorkTree(dir); rev != before {
		t.Errorf("a page changes the revision from %q to %q", before, rev)
	}
}

// A commit does not tell of the code in a folder elsewhere that replaces a module, so the program's
// hash is added. A report names the folder.
func TestModulesThatFoldersReplace(t *testing.T) {
	t.Parallel()
	const mine, clientGo = "example.com/store", "k8s.io/client-go"
	build := func(folder string) *debug.BuildInfo {
		return &debug.BuildInfo{
			Deps: []*debug.Module{
				{Path: mine, Version: "v0.0.0", Replace: &debug.Module{Path: folder}},
				{Path: clientGo, Version: "v1.0.0",
					Replace: &debug.Module{Path: "example.com/fork", Version: "v1.0.1"}},
				{Path: "example.com/other", Version: "v2.0.0"},
			},
			Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}},
		}
	}
	for folder, want := range map[string]string{"../store": "abc+dirty-", "/src/store": "abc+dirty-",
		"./store": "abc"} {
		bi := build(folder)
		if got := revision(bi, ""); !strings.HasPrefix(got, want) || len(got) > len(want)+12 {
			t.Errorf("a module in %s: the revision is %s, want %s and a hash", folder, got, want)
		}
		versions := map[string]string{clientGo: "v1.0.1"}
		if want != "abc" {
			versions[mine] = "from " + folder
		}
		if got := modules(bi); !maps.Equal(got, versions) {
			t.Errorf("a module in %s: the modules are %v, want %v", folder, got, versions)
		}
	}
}
