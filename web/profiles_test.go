package web

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/pprof/profile"
)

func TestProfiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	reference, other := withProfiles(t, dir)
	s := serve(t, dir)
	own := segments("pprof", "head", other, "cpu")
	against := segments("diff", "head", other, "cpu", "head", reference)
	between := segments("diff", "head", other, "cpu", "base", other)
	for _, c := range []struct {
		path  string
		texts []string
	}{
		{own + "flamegraph", []string{"<title>cpu of lockfree, store-ops objects=10, GOMAXPROCS 2 (head) cpu</title>", "callee.lockfree", "main.loop", "!callee.clientgo"}},
		{own + "top", []string{"callee.lockfree", "120ms"}}, // head's second cell: 10+1+1 samples of 10 ms
		{own + "top?si=samples", []string{"callee.lockfree"}},
		{own + "peek?f=loop", []string{"callee.lockfree"}},
		{against + "flamegraph", []string{"callee.lockfree", "callee.clientgo", "cpu of lockfree minus clientgo, store-ops"}},
		{against + "top", []string{"callee.lockfree", "120ms", "callee.clientgo", "-110ms"}},
		{between + "top", []string{"callee.lockfree", "10ms", "cpu of lockfree in head minus base, store-ops"}},
	} {
		code, page := get(t, s, c.path)
		if code != 200 {
			t.Errorf("%s: %d %s", c.path, code, page)
		}
		wants(t, page, c.texts...)
	}
	code, body := get(t, s, own+"download")
	p, err := profile.Parse(strings.NewReader(body))
	if code != 200 || err != nil || len(p.Sample) != 1 {
		t.Errorf("download: %d, %v; want the profile", code, err)
	}
	// The graph needs a program that this machine may lack. Then the page says so.
	if code, page := get(t, s, own); code != 200 && (code != http.StatusNotImplemented || !strings.Contains(page, "Graphviz")) {
		t.Errorf("the graph: %d %s", code, page)
	}
	if code, page := get(t, s, "/profiles?base=base&head=head"); code != 200 || strings.Count(page, "/diff/head/") != 3 || strings.Count(page, "/base/") < 3 {
		t.Errorf("the profiles of both runs: %d, want a difference for each of 3 cells:\n%s", code, page)
	}
	res := answer(s, "GET", "/difference?run=head&cell="+other+"&kind=cpu&baserun=head&basecell="+reference)
	_ = res.Body.Close()
	if at := res.Header.Get("Location"); res.StatusCode != http.StatusSeeOther || at != against+firstView {
		t.Errorf("the form leads to %q (%s), want %q", at, res.Status, against+firstView)
	}
	for _, path := range []string{
		"/difference?run=head&cell=x", segments("pprof", "head", other, "heap") + "top", segments("pprof", "head", "none", "cpu") + "top", segments("pprof", "none", other, "cpu") + "top",
		segments("diff", "head", other, "cpu", "base", "none") + "top", segments("diff", "head", other, "cpu", "none", other) + "top", segments("pprof", "head", other, "../cpu") + "top",
		own + "source", own + "disasm", own + "weblist", own + "saveconfig?config=x", own + "deleteconfig?config=x", own + "flamegraph/x", own + "nothing",
	} {
		if code, page := get(t, s, path); code != 404 && code != 400 {
			t.Errorf("%s: %d, want no page: %.500s", path, code, page)
		}
	}
}

// TestChangedProfile: a profile that is written anew is opened anew.
func TestChangedProfile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, other := withProfiles(t, dir)
	s := serve(t, dir)
	path := segments("pprof", "head", other, "cpu") + "top"
	_, page := get(t, s, path)
	wants(t, page, "callee.lockfree")
	write(t, dir, profileFile("head", other, "cpu"), packed(t, cpuProfile("main.another", "callee.another-function", 3)))
	_, page = get(t, s, path)
	wants(t, page, "callee.another-function", "!callee.lockfree")
}

// TestViewsAreBounded: only the most recently opened profiles are kept, and each is opened
// once.
func TestViewsAreBounded(t *testing.T) {
	t.Parallel()
	v := newViews()
	reads := map[string]int{}
	open := func(key string) {
		_, err := v.open(key, key, func() (p, base *profile.Profile, err error) {
			reads[key]++
			p = cpuProfile("main.loop", key, 1)
			defuse(p)
			return p, nil, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 * mostViews {
		open(fmt.Sprint(i))
	}
	last := fmt.Sprint(2*mostViews - 1)
	open(last)
	open("0")
	if v.cache.Len() != mostViews || reads[last] != 1 || reads["0"] != 2 {
		t.Errorf("%d kept, the last read %d times and the first %d; want %d, 1, 2", v.cache.Len(), reads[last], reads["0"], mostViews)
	}
	if _, err := v.open("bad", "", func() (p, base *profile.Profile, err error) { return nil, nil, os.ErrNotExist }); err == nil || v.cache.Len() != mostViews {
		t.Errorf("an error %v is kept", err)
	}
}

// TestManyReaders: pprof's driver keeps its settings in package variables; the race detector
// watches.
func TestManyReaders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	reference, other := withProfiles(t, dir)
	s := serve(t, dir)
	var wait sync.WaitGroup
	for _, path := range []string{
		"/", "/runs/head/", segments("pprof", "head", other, "cpu") + "top", segments("pprof", "base", other, "cpu") + "flamegraph", segments("diff", "head", other, "cpu", "base", reference) + "top?si=samples",
		segments("pprof", "head", other, "cpu") + "peek?f=.", "/compare?base=base&head=head",
	} {
		for range 2 {
			wait.Go(func() {
				res := answer(s, "GET", path)
				_ = res.Body.Close()
				if res.StatusCode != http.StatusOK {
					t.Errorf("%s: %s", path, res.Status)
				}
			})
		}
	}
	wait.Wait()
}

// hostileProfile names files and binaries of this machine, and has a build ID at which pprof
// panics.
func hostileProfile(binary, source string) *profile.Profile {
	p := cpuProfile("main.loop", "</script><script>alert(1)</script>", 5)
	p.Mapping[0].File, p.Mapping[0].BuildID, p.Mapping[0].KernelRelocationSymbol = binary, "x", "_text"
	p.DocURL = "https://evil.example/"
	p.Comments = []string{"<script>alert(2)</script>"}
	for _, f := range p.Function {
		f.Filename = source
	}
	p.SampleType[1].Type = `'];alert(3);//</script><script>alert(4)</script>`
	return p
}

// TestHostileProfile: nothing that a profile names is opened or run, and nothing in it becomes
// a part of a page.
func TestHostileProfile(t *testing.T) {
	outside := t.TempDir()
	mark := filepath.Join(outside, "it-ran")
	write(t, outside, "secret.go", []byte("THE-SECRET\nTHE-SECRET\n"))
	binaries := filepath.Join(outside, "binaries")
	for _, name := range []string{"program", "addr2line", "nm", "objdump", "llvm-symbolizer", "xdg-open"} {
		write(t, binaries, name, fmt.Appendf(nil, "#!/bin/sh\ntouch %s\n", mark))
		if err := os.Chmod(filepath.Join(binaries, name), 0o700); err != nil { //nolint:gosec // it has to be a program
			t.Fatal(err)
		}
	}
	config := filepath.Join(outside, "config")
	t.Setenv("PPROF_BINARY_PATH", binaries)
	t.Setenv("PPROF_TOOLS", binaries)
	t.Setenv("PPROF_TMPDIR", filepath.Join(outside, "saved"))
	t.Setenv("BROWSER", filepath.Join(binaries, "xdg-open"))
	t.Setenv("HOME", outside)
	t.Setenv("XDG_CONFIG_HOME", config)
	t.Setenv("AppData", config)

	dir := t.TempDir()
	reference, other := withProfiles(t, dir)
	write(t, dir, profileFile("head", other, "cpu"), packed(t, hostileProfile(filepath.Join(binaries, "program"), filepath.Join(outside, "secret.go"))))
	s := serve(t, dir)
	for _, place := range []string{segments("pprof", "head", other, "cpu"), segments("diff", "head", other, "cpu", "head", other)} {
		for _, view := range []string{"flamegraph", "top", "peek?f=.", "source?f=.", "disasm?f=.", "weblist?f=.", "saveconfig?config=x", "deleteconfig?config=x", "?f=.", "top?f=.&source_path=" + outside} {
			code, page := get(t, s, place+view)
			wants(t, page, "!THE-SECRET", "!<script>alert", "!evil.example", "!''];alert(3)")
			if view == "flamegraph" && code != 200 {
				t.Errorf("%s: %d %s", place+view, code, page)
			}
		}
	}
	// Profiles of different kinds have no difference; the page says so.
	if code, page := get(t, s, segments("diff", "head", other, "cpu", "head", reference)+"top"); code == 500 || strings.Contains(page, "<script>alert") {
		t.Errorf("%d %s", code, page)
	}
	for _, name := range []string{mark, filepath.Join(outside, "saved"), filepath.Join(outside, "pprof"), config} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	_, page := get(t, s, "/runs/head/")
	wants(t, page, "!<script>alert")
}

// TestNoBinaries: what reaches pprof's driver without defuse is not opened either.
func TestNoBinaries(t *testing.T) {
	t.Parallel()
	if f, err := (noBinaries{}).Open("/bin/true", 0, 0, 0, ""); f != nil || err == nil {
		t.Error("it opens a binary")
	}
	if f, err := (noWriter{}).Open("x"); f != nil || err == nil {
		t.Error("it writes a file")
	}
	if _, _, err := (fetched{}).Fetch("http://evil.example", 0, 0); err == nil {
		t.Error("pprof may fetch a profile by itself")
	}
	p := hostileProfile("/bin/true", "/etc/passwd")
	defuse(p)
	if m := p.Mapping[0]; m.File != "" || m.BuildID != "" || m.KernelRelocationSymbol != "" || p.DocURL != "" {
		t.Errorf("%+v, %q: want no names of files", m, p.DocURL)
	}
}

func TestDamagedProfiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, other := withProfiles(t, dir)
	whole := packed(t, cpuProfile("main.loop", "callee", 5))
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	if _, err := z.Write(make([]byte, 32<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir)
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"empty": {nil, "not a profile"}, "text": {[]byte("<script>alert(1)</script>"), "not a profile"}, "cut": {whole[:len(whole)/2], "unexpected EOF"}, "bomb": {bomb.Bytes(), "MiB unpacked"},
	} {
		write(t, dir, profileFile("head", other, "cpu"), c.file)
		code, page := get(t, s, segments("pprof", "head", other, "cpu")+"top")
		if code != http.StatusUnprocessableEntity || !strings.Contains(page, c.want) || strings.Contains(page, "<script>") {
			t.Errorf("%s: %d %s, want 422 about %q", name, code, page, c.want)
		}
	}
}
