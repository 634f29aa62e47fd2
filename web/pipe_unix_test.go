//go:build unix

package web

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipes: a pipe in a run's folder would block its reader for ever.
func TestPipes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, cell := withProfiles(t, dir)
	keep(t, dir, "forked", sample("forked", 1, 50))
	write(t, dir, "forked/forks/other", nil)
	write(t, dir, "whole/other", nil)
	for _, name := range []string{"whole/run.json", "forked/forks/a.json", "head/report.html", "head/bench.txt", "head/profiles/" + cell + "/heap.pb.gz"} {
		if err := syscall.Mkfifo(filepath.Join(dir, filepath.FromSlash(name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, dir)
	_, page := get(t, s, "/")
	if n := strings.Count(page, "not a regular file</td>"); n != 2 {
		t.Errorf("%d runs are called unreadable because of a pipe, want 2:\n%s", n, page)
	}
	for path, want := range map[string]int{"/runs/head/report": 200, "/runs/head/files/bench.txt": 404, segments("pprof", "head", cell, "heap") + "top": 404, "/runs/whole/": 404, "/runs/forked/": 404} {
		if code, _ := get(t, s, path); code != want {
			t.Errorf("%s: %d, want %d", path, code, want)
		}
	}
}
