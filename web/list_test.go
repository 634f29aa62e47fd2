package web

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/measure/record"
)

var rowName = regexp.MustCompile(`<tr [^>]*data-name="([^"]*)"`)

// names are the runs that a page lists, in its order.
func names(page string) string {
	var out []string
	for _, m := range rowName.FindAllStringSubmatch(page, -1) {
		out = append(out, m[1])
	}
	return strings.Join(out, " ")
}

func TestList(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, id := range []string{"c", "a", "pair/base", "pair/head"} {
		r := sample(id, uint64(i), 20)
		r.Started, r.Finished = time.Unix(int64(i)*3600, 0), time.Unix(int64(i)*3600+90, 0)
		r.Preset = []string{"stores", "quick", "stores", "stores"}[i]
		keep(t, dir, id, r)
	}
	write(t, dir, "broken/run.json", []byte(`{"schema": 99}`))
	write(t, dir, ".hidden/run.json", []byte(`{}`))
	write(t, dir, "empty/notes.txt", nil)
	write(t, dir, "deep/er/still/run.json", []byte(`{}`))
	write(t, dir, "README.md", []byte("# runs"))
	s := serve(t, dir)
	for _, c := range []struct{ query, want string }{
		{"", "pair/head pair/base a c broken"},
		{"?order=oldest", "c a pair/base pair/head broken"},
		{"?order=name", "a c pair/base pair/head broken"},
		{"?order=preset", "a pair/head pair/base c broken"},
		{"?order=%3Cb%3E", "pair/head pair/base a c broken"},
		{"?q=PAIR", "pair/head pair/base"},
		{"?q=lockfree&preset=quick", "a"},
		{"?preset=quick&base=c", "a c"},
		{"?q=newer+than", "broken"},
		{"?q=nothing-like-it", ""},
	} {
		code, page := get(t, s, "/"+c.query)
		got := names(page)
		if c.query == "?order=preset" { // within a preset any order will do
			got = strings.Replace(got, "c pair/head pair/base", "pair/head pair/base c", 1)
		}
		if code != 200 || got != c.want {
			t.Errorf("%q: %d, %q; want %q", c.query, code, got, c.want)
		}
		shown := 0
		if c.want != "" {
			shown = len(strings.Fields(c.want))
		}
		wants(t, page, fmt.Sprintf("%d of 5 shown", shown))
	}
	_, page := get(t, s, "/?base=c&q=%22%3E%3Cscript%3E")
	wants(t, page, "5 runs, 1 unreadable", `<input type="radio" name="base" value="c" checked`, `!<script>`+"<", `value="&#34;&gt;&lt;script&gt;"`)
	_, page = get(t, s, "/")
	wants(t, page, "cannot be read: broken/run.json: schema: 99 is newer", "1970-01-01 03:00 UTC, took 1m30s", "revision <code title=\"0123456789abcdef\">0123456789ab</code>",
		"Test CPU, 2 cores, linux/amd64", "8 forks each", `<strong class="better">lockfree</strong> instead of clientgo: <span class="ratio">time 0.20x`, "inconclusive)", `href="/runs/pair%2Fhead/report"`)
}

// TestListFollowsTheFolder: a run that goes on, a new one and one that is gone show when the
// page is loaded again. What did not change is not read again.
func TestListFollowsTheFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, dir)
	_, page := get(t, s, "/")
	wants(t, page, "0 runs", "There is no run in this folder", "!<form")
	r := sample("a", 1, 50)
	r.Complete, r.Finished = false, time.Time{}
	keep(t, dir, "a", r)
	_, page = get(t, s, "/")
	wants(t, page, "1 run.", "not complete: interrupted or in progress", "!Compare the two")
	first := s.runs.summary("a")
	if s.runs.summary("a") != first {
		t.Error("an unchanged run is evaluated again")
	}
	r.Complete, r.Finished = true, r.Started.Add(time.Hour)
	keep(t, dir, "a", r)
	keep(t, dir, "b", sample("b", 1, 50))
	_, page = get(t, s, "/")
	wants(t, page, "2 runs", "took 1h0m0s", "Compare the two")
	if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	_, page = get(t, s, "/")
	if names(page) != "b" || len(s.runs.mu.known) != 1 {
		t.Errorf("%q and %d summaries, want those of the one that is left", names(page), len(s.runs.mu.known))
	}
}

func TestMostRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 9 {
		write(t, dir, fmt.Sprintf("r%d/run.json", i), []byte("{"))
	}
	s := serve(t, dir)
	s.runs.most = 4
	_, page := get(t, s, "/?order=name")
	if got := names(page); got != "r5 r6 r7 r8" {
		t.Errorf("%q, want the last 4 names", got)
	}
	wants(t, page, "4 runs, 4 unreadable. 5 more are left out")
}

func TestCompare(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keep(t, dir, "base", sample("same name", 1, 50))
	keep(t, dir, "head", sample("same name", 2, 75))
	other := sample("other", 3, 50)
	other.Environment.CPU = "Another CPU"
	keep(t, dir, "other", other)
	alien := sample("alien", 3, 50)
	for i := range alien.Cells {
		alien.Cells[i].Workload = "another"
	}
	for i := range alien.Forks {
		alien.Forks[i].Cell.Workload = "another"
	}
	alien.Workloads = []record.WorkloadText{{Key: alien.Cells[0].WorkloadKey(), Name: "another"}}
	keep(t, dir, "alien", alien)
	s := serve(t, dir)
	for _, c := range []struct {
		query string
		code  int
		texts []string
	}{
		{"base=base&head=head", 200, []string{"head against base", "regression: store/store-ops/objects=10/get/lockfree/ns/op"}},
		{"base=head&head=base", 200, []string{"base against head", "pass: "}},
		{"base=base&head=base", 400, []string{"are the same run"}},
		{"base=base", 400, []string{"choose two runs"}},
		{"", 400, []string{"choose two runs"}},
		{"base=base&head=none", 400, []string{"no run &#34;none&#34;"}},
		{"base=..&head=base", 400, []string{"no run"}},
		{"base=base&head=other", 409, []string{"their machines differ", `<a href="/compare?base=base&amp;force=1&amp;head=other">Compare them all the same</a>`}},
		{"base=base&head=other&force=1", 200, []string{"forced although their machines differ"}},
		{"base=base&head=alien", 409, []string{"no cell in common", "!all the same"}},
		{"base=base&head=alien&force=1", 409, []string{"no cell in common", "!all the same"}},
	} {
		code, page := get(t, s, "/compare?"+c.query)
		if code != c.code {
			t.Errorf("%s: %d, want %d", c.query, code, c.code)
		}
		wants(t, page, c.texts...)
	}
}

func TestRunPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	withProfiles(t, dir)
	keep(t, dir, "plain", sample("plain", 1, 50))
	write(t, dir, "head/report.html", []byte("the report of the folder"))
	write(t, dir, "head/bench.txt", []byte("BenchmarkStore"))
	write(t, dir, "head/secret.txt", []byte("not for the browser"))
	s := serve(t, dir)
	_, page := get(t, s, "/runs/head/")
	wants(t, page, "8 forks of each cell, 24 in all", "files/bench.txt", "!secret.txt", "!report.md", "store-ops/objects=10, GOMAXPROCS 2", "the reference", "cpu &minus; clientgo", "Show the difference", "!>heap</a>")
	_, page = get(t, s, "/runs/plain/")
	wants(t, page, "has no profiles")
	for path, want := range map[string]string{
		"/runs/head/report": "the report of the folder", "/runs/plain/report": "What to use instead of the reference", "/runs/head/files/bench.txt": "BenchmarkStore", "/runs/head/files/run.json": `"schema"`,
	} {
		code, page := get(t, s, path)
		if code != 200 || !strings.Contains(page, want) {
			t.Errorf("%s: %d %.200s, want %q", path, code, page, want)
		}
	}
	for _, path := range []string{"/runs/head/files/secret.txt", "/runs/head/files/report.md", "/runs/head/files/..%2fplain%2frun.json", "/runs/none/", "/runs/none/report", "/runs/head/other"} {
		if code, page := get(t, s, path); code != 404 || strings.Contains(page, "not for the browser") {
			t.Errorf("%s: %d, want 404", path, code)
		}
	}
}
