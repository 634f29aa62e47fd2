package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/informerbench/informerbench/history"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
	"github.com/informerbench/informerbench/measure/stats"
)

// aHistory has a step of 10 percent in "mine", a drift in "other", and two machines.
func aHistory(t *testing.T, mine string, change func(i int, r *record.Run)) *history.History {
	t.Helper()
	h, err := history.Of(t.Context(), recordtest.History(recordtest.HistorySpec{Runs: 24, Seed: 1, Impls: func(i int) []recordtest.Impl {
		return []recordtest.Impl{{Name: "reference", NsPerOp: 200}, {Name: mine, NsPerOp: 100 + 10*float64(i/12)}, {Name: "other", NsPerOp: 100 + 1*float64(i)}}
	}, Change: func(i int, r *record.Run) {
		if i == 0 {
			r.Environment.CPU = "Other CPU"
		}
		if change != nil {
			change(i, r)
		}
	}}), history.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// historyForms are all the forms of a history but Otava's.
var historyForms = map[string]func(io.Writer, *history.History) error{
	"text":     func(w io.Writer, h *history.History) error { return WriteHistoryText(w, h, Terminal{}) },
	"wide":     func(w io.Writer, h *history.History) error { return WriteHistoryText(w, h, Terminal{Wide: true}) },
	"markdown": WriteHistoryMarkdown,
	"json":     WriteHistoryJSON,
	"page":     WriteHistoryPage,
}

func form(t *testing.T, name string, h *history.History) string {
	t.Helper()
	var out bytes.Buffer
	if err := historyForms[name](&out, h); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out.String()
}

func TestHistoryForms(t *testing.T) {
	t.Parallel()
	h := aHistory(t, "mine", nil)
	for name, wants := range map[string][]string{
		"text":     {"What changed", "run012 of", "0.5006x -> 0.5493x", "11 runs, then 12", "worse", "drifts since", "24 runs by time: 4 of 12 series changed", "machine 2: Test CPU"},
		"wide":     {"Every series", "too few runs"},
		"markdown": {"| what |", "run012 of 2026-01-13", "11 runs, then 12", "0000000c..0000000d"},
		"page":     {"<title>History of these runs</title>", `class="step worse"`, "worse 1.1x", "benchrun compare run011 run012", "ratio to reference in 23 runs"},
	} {
		text := form(t, name, h)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, text[:min(len(text), 4000)])
			}
		}
	}
	for line := range strings.Lines(form(t, "text", h)) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	var read struct {
		Schema int
		history.History
	}
	if err := json.Unmarshal([]byte(form(t, "json", h)), &read); err != nil {
		t.Fatal(err)
	}
	if read.Schema != HistorySchema || len(read.Runs) != 24 || len(read.Series) != len(h.Series) || read.Series[0].Drift == nil || len(read.Series[3].Changes) != 1 {
		t.Errorf("JSON: %+v", read)
	}
}

// Every form of a history shows the strings of its runs as text.
func TestHostileHistory(t *testing.T) {
	t.Parallel()
	made := func(text string) *history.History {
		return aHistory(t, text, func(i int, r *record.Run) {
			r.Name = fmt.Sprintf("%d%s", i, text)
			r.Preset, r.Environment.Revision = text, fmt.Sprintf("%d%s", i/12, text)
			r.Environment.OS = text
			r.Environment.Modules = map[string]string{"module" + text: fmt.Sprintf("v%d%s", i/12, text)}
			if i >= 12 {
				r.Environment.GoVersion = text
				r.Settings.Plant = &record.Plant{Impl: text, Share: 0.1}
			}
		})
	}
	harmless := made("harmless")
	page, md := elements(t, form(t, "page", harmless)), elements(t, asGitHub(t, form(t, "markdown", harmless)))
	for _, text := range hostile {
		h := made(text)
		for name := range historyForms {
			out := form(t, name, h)
			plainText(t, fmt.Sprintf("%q: %s", text, name), out)
			switch name {
			case "page":
				if got := elements(t, out); !maps.Equal(got, page) {
					t.Errorf("%q: the page has other elements: %s", text, changed(page, got))
				}
			case "markdown":
				if got := elements(t, asGitHub(t, out)); !maps.Equal(got, md) {
					t.Errorf("%q: the Markdown has other elements: %s", text, changed(md, got))
				}
			case "json":
				if !json.Valid([]byte(out)) {
					t.Errorf("%q: no JSON", text)
				}
			}
		}
		if _, err := WriteOtava(t.TempDir(), h); err != nil {
			t.Errorf("%q: Otava: %v", text, err)
		}
	}
}

func TestHistoryPolicyIsOfThePage(t *testing.T) {
	t.Parallel()
	found := found(t, form(t, "page", aHistory(t, "mine", nil)))
	want := policyOf(style+historyStyle, historyScript)
	if _, ok := found["meta content "+want]; !ok || !strings.HasPrefix(want, "default-src 'none';") || strings.Contains(want, "unsafe") {
		t.Errorf("the policy is not in the page, or allows too much: %s", want)
	}
	if found["style"] != style+historyStyle || found["script"] != historyScript {
		t.Error("style or script of the page are not those of the policy")
	}
}

func TestHistoryWithoutFindings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		runs int
		want string
	}{{1, "no number has the 6 comparable runs"}, {3, "no number has the 6 comparable runs"}, {8, "no change is proved in"}} {
		h, err := history.Of(t.Context(), recordtest.History(recordtest.HistorySpec{Runs: c.runs, Impls: func(int) []recordtest.Impl {
			return []recordtest.Impl{{Name: "reference", NsPerOp: 200}, {Name: "mine", NsPerOp: 100}}
		}}), history.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for name := range historyForms {
			if text := form(t, name, h); name != "json" && !strings.Contains(text, c.want) {
				t.Errorf("%d runs, %s: no %q in\n%s", c.runs, name, c.want, text)
			}
		}
	}
}

// A drift leads from one end of its line to the other, and not from the first run to the last, of
// which each may be disturbed.
func TestDriftsLevelsAreThoseOfItsLine(t *testing.T) {
	t.Parallel()
	s := &history.Series{Against: "clientgo", Drift: &history.Shift{Ratio: 1.21, Lo: 1.1, Hi: 1.3, Verdict: stats.Worse}}
	h := &history.History{}
	for i, v := range []float64{3, 0.95, 1, 1.05, 0.5} {
		h.Runs = append(h.Runs, history.Run{Name: "r"})
		s.Points = append(s.Points, history.Point{Run: i, Value: v})
	}
	lines := shiftLines(h, s)
	if len(lines) != 1 || lines[0].from != "0.9091x" || lines[0].to != "1.1x" || lines[0].before != lines[0].from {
		t.Errorf("%+v", lines)
	}
	two := &history.Series{Changes: []history.Change{{At: 1}, {At: 2}}, Points: s.Points}
	two.Changes[0].Verdict, two.Changes[1].Verdict = stats.Worse, stats.Better
	h.Series, h.Tested = []*history.Series{two}, 1
	if text := HistorySummary(h); !strings.Contains(text, "1 of 1 series changed in 2 places: 1 worse, 1 better") {
		t.Error(text)
	}
}
