package page

import (
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/pprof/profile"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
	"github.com/informerbench/informerbench/web"
)

// served is a server over two runs with profiles, a third without, and one that cannot be
// read.
func served(t *testing.T) (url string, cells []record.Cell) {
	t.Helper()
	dir := *runsDir
	if dir == "" {
		dir = t.TempDir()
		for i, name := range []string{"base", "head", "no-profiles-and-a-very-long-name-that-has-no-space-in-it-anywhere"} {
			run := recordtest.Run(recordtest.Spec{Name: name, Forks: 8, Seed: uint64(i), Duets: true, Impls: []recordtest.Impl{{Name: "clientgo", NsPerOp: 100}, {Name: "lockfree", NsPerOp: 50 * float64(i+1)}}})
			run.Environment.Revision = "0123456789abcdef0123456789abcdef01234567+dirty-0123"
			if err := errors.Join(os.MkdirAll(filepath.Join(dir, name), 0o755), record.WriteRun(filepath.Join(dir, name), run)); err != nil {
				t.Fatal(err)
			}
			if i < 2 {
				cells = run.Cells
				for n, c := range run.Cells {
					writeProfile(t, filepath.Join(dir, name, "profiles", c.FileName()), int64(1+i+n))
				}
			}
		}
		broken := filepath.Join(dir, "broken")
		if err := errors.Join(os.Mkdir(broken, 0o755), os.WriteFile(filepath.Join(broken, record.RunFile), []byte("{"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := web.New(dir, web.Options{})
	if err == nil {
		t.Cleanup(s.Stop)
		err = s.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return s.URL(), cells
}

// writeProfile writes a CPU profile of two functions.
func writeProfile(t *testing.T, dir string, value int64) {
	t.Helper()
	functions := []*profile.Function{{ID: 1, Name: "main.loop", Filename: "main.go"}, {ID: 2, Name: "lockfree.(*Store).Update", Filename: "store.go"}}
	mapping := &profile.Mapping{ID: 1, File: "/bin/true"}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}, PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1,
		Function: functions, Mapping: []*profile.Mapping{mapping},
		Location: []*profile.Location{
			{ID: 1, Address: 1, Mapping: mapping, Line: []profile.Line{{Function: functions[0], Line: 1}}},
			{ID: 2, Address: 2, Mapping: mapping, Line: []profile.Line{{Function: functions[1], Line: 2}}},
		},
	}
	p.Sample = []*profile.Sample{{Location: []*profile.Location{p.Location[1], p.Location[0]}, Value: []int64{value, value * 10_000_000}}}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "cpu.pb.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if err := errors.Join(p.WriteUncompressed(z), z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestServeInChromium opens the pages of benchrun serve as a reader does.
func TestServeInChromium(t *testing.T) {
	url, cells := served(t)
	ctx, said := watched(t)
	said.home = url
	if len(cells) == 0 { // a folder was given: it is only looked at
		pages(ctx, t, said, url, map[string]string{"runs": ""})
		return
	}
	file := cells[1].FileName()
	pages(ctx, t, said, url, map[string]string{
		"runs": "", "run": "runs/head/", "compare": "compare?base=base&head=head", "profiles": "profiles?base=base&head=head",
	})
	t.Run("filter", func(t *testing.T) { filtersRuns(ctx, t, url); said.check(t) })
	t.Run("report", func(t *testing.T) {
		open(ctx, t, url+"runs/head/report")
		if n := count(ctx, t, `document.querySelectorAll("#filter:not([hidden])").length`); n != 1 {
			t.Errorf("the report's own script did not run in its sandbox: %d filters shown", n)
		}
		said.check(t)
	})
	for name, path := range map[string]string{"profile": "pprof/head/" + file + "/cpu/", "difference": "diff/head/" + file + "/cpu/base/" + file + "/"} {
		t.Run(name, func(t *testing.T) {
			open(ctx, t, url+path+"flamegraph")
			if n := count(ctx, t, `document.querySelectorAll("#stack-chart .boxbg").length`); n < 2 {
				t.Errorf("pprof's flame graph shows %d boxes, want those of two functions", n)
			}
			shoot(ctx, t, "serve-"+name)
			said.check(t)
			// pprof's own links lead on, from within the sandbox.
			count(ctx, t, `document.getElementById("topbtn").click(), 0`)
			if err := chromedp.Do(ctx, chromedp.WaitReady("#toptable")); err != nil {
				t.Fatal(err)
			}
			if n := count(ctx, t, `document.querySelectorAll("#rows tr").length`); n != 2 {
				t.Errorf("pprof's list has %d functions, want 2", n)
			}
			// The page cannot read another.
			stolen, err := chromedp.Run(ctx, chromedp.Evaluate[string](`fetch("/").then((r) => r.text(), (e) => "refused")`, chromedp.EvalAwaitPromise))
			if err != nil || stolen != "refused" {
				t.Errorf("a page of pprof reads the list of runs: %.100q, %v", stolen, err)
			}
			said.mu.Lock()
			said.all = nil // the browser complains of that
			said.mu.Unlock()
		})
	}
}

// pages opens pages of the server, wide and narrow, light and dark.
func pages(ctx context.Context, t *testing.T, said *complaints, url string, paths map[string]string) {
	t.Helper()
	for name, path := range paths {
		t.Run(name, func(t *testing.T) {
			inEachView(ctx, t, func(t *testing.T, view string) {
				open(ctx, t, url+path)
				found(ctx, t, "wider than the window", sticksOut)
				found(ctx, t, "too pale", tooPale)
				found(ctx, t, "without a name", unnamed)
				shoot(ctx, t, "serve-"+name+"-"+view)
				said.check(t)
			})
		})
	}
}

func open(ctx context.Context, t *testing.T, url string) {
	t.Helper()
	if err := chromedp.Do(ctx, chromedp.Navigate(url)); err != nil {
		t.Fatalf("%s: %v", url, err)
	}
}

func count(ctx context.Context, t *testing.T, expression string) int {
	t.Helper()
	n, err := chromedp.Run(ctx, chromedp.Evaluate[int](expression))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// filtersRuns types a part of a name, and chooses two runs.
func filtersRuns(ctx context.Context, t *testing.T, url string) {
	t.Helper()
	open(ctx, t, url)
	const visible = `[...document.querySelectorAll("#runs tbody tr:not([hidden])")].map((r) => r.dataset.name).join(" ")`
	type_ := func(script string) string {
		out, err := chromedp.Run(ctx, chromedp.Evaluate[string](`(() => { const form = document.getElementById("choose"), e = form.elements; `+script+`; form.dispatchEvent(new Event("input", { bubbles: true })); return `+visible+` + " | " + document.getElementById("hint").textContent })()`))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if got := type_(`e.q.value = "HEAD"`); !strings.HasPrefix(got, "head | Choose") {
		t.Errorf("with a part of a name the list shows %q, want head alone", got)
	}
	if got := type_(`e.q.value = ""; e.order.value = "name"; e.base.value = "base"; e.head.value = "head"`); !strings.HasPrefix(got, "base head no-") || !strings.HasSuffix(got, "broken | head against base") {
		t.Errorf("by name the list shows %q, want base, head, the third, and what cannot be read", got)
	}
	if n := count(ctx, t, `document.querySelectorAll("#actions button:not(:disabled)").length`); n != 2 {
		t.Errorf("%d of 2 buttons can be pressed when two runs are chosen", n)
	}
}
