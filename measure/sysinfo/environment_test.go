package sysinfo

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Each state of the code has a revision of its own, files that git does not know yet included;
// pages do not count.
func TestRevisionOfAnEditedTree(t *testing.T) {
	t.Parallel()
	if rev := builtFrom(); rev != "" {
		t.Skipf("this program is stamped with %s, which comes before the work tree's", rev)
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=test", "-c", "user.email=test@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if rev := revision(dir); rev != "" {
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
		rev := revision(dir)
		if former, ok := seen[rev]; ok || rev == "" {
			t.Errorf("%s: the revision is %q, as it was when %s", step.name, rev, former)
		}
		seen[rev] = step.name
	}
	before := revision(dir)
	write("page.md", "a page\n")
	if rev := revision(dir); rev != before {
		t.Errorf("a page changes the revision from %q to %q", before, rev)
	}
}
