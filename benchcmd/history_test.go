package benchcmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
)

// aHistory writes runs in which the store "mine" becomes 10 percent slower at run 10 of 20.
func aHistory(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, r := range recordtest.History(recordtest.HistorySpec{Runs: 20, Seed: 1, Impls: func(i int) []recordtest.Impl {
		return []recordtest.Impl{{Name: "reference", NsPerOp: 200}, {Name: "mine", NsPerOp: 100 + 10*float64(i/10)}}
	}}) {
		folder := filepath.Join(dir, r.Name)
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := record.WriteRun(folder, r); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestHistory(t *testing.T) {
	t.Parallel()
	dir := aHistory(t)
	page, otava := filepath.Join(t.TempDir(), "history.html"), filepath.Join(t.TempDir(), "otava")
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"a table", []string{dir}, []string{"What changed", "since", "run010 of", "1.1", "worse", "20 runs by time: 3 of 8 series changed"}},
		{"a page", []string{dir, "--html", page}, []string{page}},
		{"Markdown", []string{dir, "--format", "markdown"}, []string{"| what | since |", "run010 of 2026-01-11"}},
		{"Otava", []string{dir, "--format", "otava", "-o", otava}, []string{otava + ": 1 tests", "otava analyze benchrun"}},
		{"another metric", []string{dir, "--match", "store/*/mine/cpu-ns/op", "--least", "3%"}, []string{"1 of 1 series changed", "cpu-ns/op"}},
		{"a change too small", []string{dir, "--least", "0.5"}, []string{"no change is proved", "smaller than 50%"}},
	} {
		code, out, errOut := benchrun(t, append([]string{"history"}, c.args...)...)
		if code != 0 {
			t.Errorf("%s: exit code %d\n%s%s", c.name, code, out, errOut)
		}
		for _, w := range c.want {
			if !strings.Contains(out, w) {
				t.Errorf("%s: lacks %q\n%s", c.name, w, out)
			}
		}
	}
	if b, err := os.ReadFile(page); err != nil || !strings.Contains(string(b), "History of "+dir) {
		t.Errorf("the page: %v", err)
	}
	_, out, _ := benchrun(t, "history", dir, "--format", "json")
	var h struct {
		Series []struct{ Changes []struct{ At int } }
	}
	if err := json.Unmarshal([]byte(out), &h); err != nil || len(h.Series) == 0 || len(h.Series[0].Changes) != 1 {
		t.Errorf("JSON: %v, %+v", err, h)
	}
}

func TestHistoryBadInput(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{empty}, "no runs that can be read"},
		{[]string{filepath.Join(empty, "none")}, "give a folder of runs"},
		{[]string{empty, "--format", "xml"}, "want text, markdown, json or otava"},
		{[]string{empty, "--by", "name"}, "want time or commit"},
		{[]string{empty, "--repo", "."}, "--by commit"},
		{[]string{empty, "--format", "otava"}, "-o"},
		{[]string{empty, "-o", "x"}, "--html"},
		{[]string{empty, "--html", filepath.Join(empty, "none", "h.html")}, "--html"},
		{[]string{empty, "--least", "0"}, "want a share"},
		{[]string{empty, "--alpha", "120%"}, "want a share"},
	} {
		code, _, errOut := benchrun(t, append([]string{"history"}, c.args...)...)
		if code != exitBadInput || !strings.Contains(errOut, c.want) {
			t.Errorf("%v: exit code %d, %q, want %q", c.args, code, errOut, c.want)
		}
	}
}

func TestReportFormats(t *testing.T) {
	t.Parallel()
	dir := aRun(t, 1, 6, 110)
	for format, want := range map[string]string{
		"markdown": "## Results", "json": `"numbers": [`, "benchstat": "BenchmarkStore/workload=store-ops", "bencher": `"latency": {`, "perfdash": `"dataItems": [`,
	} {
		code, out, errOut := benchrun(t, "report", dir, "--format", format)
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d, lacks %q\n%s%s", format, code, want, out, errOut)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Errorf("the run's folder has %v (%v), want run.json alone", files, err)
	}
	if code, _, errOut := benchrun(t, "report", dir, "--format", "xml"); code != exitBadInput || !strings.Contains(errOut, "bencher") {
		t.Errorf("another format: exit code %d, %q", code, errOut)
	}
}
