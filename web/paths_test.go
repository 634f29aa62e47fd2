package web

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoPathLeavesTheFolder asks for files outside the folder by every kind of name, over a
// real connection, because clients tidy paths up. Outside is a whole run with a word that no
// answer may have.
func TestNoPathLeavesTheFolder(t *testing.T) {
	t.Parallel()
	const secret = "the-secret-word"
	top := t.TempDir()
	dir := filepath.Join(top, "results")
	outside := sample(secret, 1, 50)
	outside.Preset = secret
	keep(t, top, "outside", outside)
	write(t, top, "outside/report.html", []byte(secret))
	write(t, top, "outside/forks/x.json", []byte(secret))
	_, cell := withProfiles(t, dir)
	stolen := packed(t, cpuProfile(secret, secret, 5))
	write(t, top, "outside/profiles/"+cell+"/cpu.pb.gz", stolen)
	write(t, top, "run.json", []byte(secret))
	link := func(to, from string) {
		t.Helper()
		from = filepath.Join(dir, filepath.FromSlash(from))
		if err := os.MkdirAll(filepath.Dir(from), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.FromSlash(to), from); err != nil {
			t.Skipf("this system makes no symbolic links for this user: %v", err)
		}
	}
	absolute := filepath.ToSlash(filepath.Join(top, "outside"))
	link(absolute, "absolute")
	link("../outside", "relative")
	link("..", "parent")
	link("/", "root")
	link(absolute+"/run.json", "file/run.json")
	link("../../outside/run.json", "file2/run.json")
	keep(t, dir, "inner", sample("inner", 1, 50))
	link("../../outside/report.html", "inner/report.html")
	link("../../outside/forks", "inner/forks")
	link("../../outside/run.json", "inner/bench.txt")
	link("../../outside/profiles", "inner/profiles")
	link("head", "alias") // within the folder: allowed
	s := serve(t, dir)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	ask := func(path string) string {
		t.Helper()
		conn, err := net.Dial("tcp", strings.Trim(strings.TrimPrefix(s.URL(), "http:"), "/"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return res.Status + "\n" + string(body)
	}
	ids := []string{
		"..", "../outside", "%2e%2e", "%2e%2e%2foutside", "..%2foutside", "..%2f..%2f..%2fetc", "head%2f..%2f..%2foutside", "head/../../outside", ".%2e%2foutside", "..%5coutside", "..%252foutside",
		"%2foutside", "%2f" + strings.ReplaceAll(strings.TrimPrefix(absolute, "/"), "/", "%2f"), absolute, "file:%2f%2f" + absolute, "C:%5coutside", "%00", "head%00", "..%c0%afoutside", ".", "%2e", "",
		"absolute", "relative", "parent", "parent%2foutside", "root", "root%2fetc", "file", "file2", "inner",
	}
	for _, id := range ids {
		paths := []string{"/" + id, "/runs/" + id, "/runs/" + id + "/", "/runs/" + id + "/report", "/runs/" + id + "/files/run.json", "/runs/" + id + "/files/bench.txt", "/runs/head/files/" + id + "/run.json", "/runs/head/files/" + id,
			"/pprof/" + id + "/" + cell + "/cpu/top", "/pprof/head/" + id + "/cpu/top", "/pprof/head/" + cell + "/" + id + "/top", "/diff/head/" + cell + "/cpu/" + id + "/" + cell + "/top",
			"/diff/" + id + "/" + cell + "/cpu/head/" + cell + "/top", "/compare?force=1&base=head&head=" + id, "/profiles?base=head&head=" + id}
		for _, path := range paths {
			if got := ask(path); strings.Contains(got, secret) || strings.Contains(got, "root:x:0:0") || strings.HasPrefix(got, "5") {
				t.Errorf("%s is answered with %.300q", path, got)
			}
		}
	}
	page := ask("/")
	if strings.Contains(page, secret) {
		t.Error("the list has a run from outside")
	}
	for _, name := range []string{"absolute", "relative", "parent", "root", "file", "file2"} {
		if !strings.Contains(page, `data-name="`+name+`"`) || strings.Contains(page, `value="`+name+`"`) {
			t.Errorf("%s is not listed as unreadable", name)
		}
	}
	wants(t, page, "path escapes from parent", `value="alias"`, `value="inner"`) // inner is whole without what it links to
	wants(t, ask("/runs/alias/"), "200 OK", "lockfree")
}

// TestOnlyFiles: what is no regular file, or too large, is not opened, for it could block or
// fill the memory.
func TestOnlyFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "small", []byte("1234"))
	write(t, dir, "large", []byte("12345"))
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	f := files{root, 4}
	for name, want := range map[string]bool{"small": true, "large": false, "none": false, "../x": false, "/small": false, "": false} {
		opened, err := f.Open(name)
		if err == nil {
			_ = opened.Close()
		}
		if (err == nil) != want || f.isFile(name) != want {
			t.Errorf("%q: %v, is a file: %v; want %v", name, err, f.isFile(name), want)
		}
	}
	if f.isFile(".") {
		t.Error("the folder itself is a file")
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"a": true, "a/b": true, "a b": true, "<b>": true, "...a": false, ".a": false, "a/.b": false, "a/b/c": false, "..": false, "../a": false, "a/..": false, ".": false, "": false, "/a": false, "a/": false, "a//b": false,
	} {
		if isID(id) != want {
			t.Errorf("%q may be a run: %v, want %v", id, !want, want)
		}
	}
}
