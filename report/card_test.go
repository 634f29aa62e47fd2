package report

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// A card names its load. What differs between workloads is a range.
func TestCardsNameTheirLoad(t *testing.T) {
	t.Parallel()
	const contended = `{component: store, objects: {count: 10000}, groups: [` +
		`{name: writer, op: update, goroutines: 1, rate: 5000}, {name: listers, op: list, goroutines: `
	for want, yamls := range map[string][]string{
		"for 10,000 objects, 5,000 writes a second, 4 listers":       {contended + "4}]}"},
		"for 10,000 objects, 5,000 writes a second, 0 to 80 listers": {contended + "0}]}", contended + "80}]}"},
		"for 10,000 objects, 5,000 writes a second, 1 lister":        {contended + "1}]}"},
		"for 10 to 10,000 objects, 5,000 writes a second, 4 listers, and each operation alone": {
			"{component: store, objects: {count: 10}, ops: [get]}", contended + "4}]}"},
		"for 9 objects, 7 waiting, each operation alone": {
			"{component: store, objects: {count: 9}, waiting: 7, ops: [pop]}"},
		"": {"{component: fifo, objects: {count: 9}}", "no YAML: :", "{component: store}"},
	} {
		r := &record.Run{}
		for _, y := range yamls {
			r.Workloads = append(r.Workloads, record.WorkloadText{YAML: y})
		}
		if got := loadOf(r, "store"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A card ends with a sentence of plain words, and names each concern in such.
func TestCardsHavePlainWords(t *testing.T) {
	t.Parallel()
	of := func(c metrics.Concern, ratio float64, series ...string) compare.Weighed {
		w := compare.Weighed{Concern: c, Series: series, Better: metrics.LowerIsBetter,
			Ratio:    stats.Ratio{Estimate: ratio, Lo: ratio, Hi: ratio, N: 1},
			Verdicts: map[stats.Verdict]int{stats.Better: 1}}
		if c == metrics.ConcernDone {
			w.Better = metrics.HigherIsBetter
		}
		return w
	}
	writes := of(metrics.ConcernDone, 46, "writer:update")
	for want, w := range map[string]compare.Weighed{
		"how late the writer is|mine is 2.0 times as fast as theirs under load": of(metrics.ConcernDelay,
			0.5, "writer:update"),
		"time of an operation under load|mine is 2.0 times as fast as theirs under load": of(
			metrics.ConcernDelay, 0.5, "writer:update", "listers:list"),
		"how late consumers get events|consumers get events 2.0 times as fast from mine as from theirs": of(
			metrics.ConcernStaleness, 0.5, "handlers:handle"),
		"time of an operation|mine is 2.0 times as fast as theirs":    of(metrics.ConcernTime, 0.5, "get"),
		"writes done|mine delivers 46 times as many writes as theirs": writes,
		"operations done|mine delivers 46 times as many operations as theirs": of(metrics.ConcernDone, 46,
			"listers:list"),
		"memory|mine takes 0.50 of theirs's memory": of(metrics.ConcernMemory, 0.5, compare.ProcessSeries),
	} {
		a := compare.Answer{Component: "informer", Use: "mine", Reference: "theirs",
			Concerns: []compare.Weighed{w}}
		if got := concernText(w) + "|" + sentence(a); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if a.Writes = &writes; !strings.HasSuffix(sentence(a), "46 times as many writes as theirs") {
			t.Errorf("%q: want the writes", sentence(a))
		}
	}
}

// In colour as without, at any width: each line of a table is as wide as its border, a colour ends
// in the cell that it began in, and no word is broken: long names are at their punctuation.
func TestNoWordIsBroken(t *testing.T) {
	t.Parallel()
	r := allComponents(t)
	r.Environment.OthersMedian = 47
	for i := range r.Forks {
		r.Forks[i].Series[0].Warnings = []string{"no steady state after warm-up"}
	}
	rep := of(t, r)
	in := func(width int) string {
		var out strings.Builder
		if err := rep.WriteText(&out, Terminal{Width: width, Colour: true}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	letters := regexp.MustCompile(`\pL+`)
	words := letters.FindAllString(escapes.ReplaceAllString(in(1000), ""), -1)
	for _, width := range []int{72, 80, 81, 93, 100, 120, 130} {
		border, shown := 0, in(width)
		for line := range strings.SplitSeq(shown, "\n") {
			n := text.StringWidthWithoutEscSequences(line)
			if strings.HasPrefix(line, "┌") {
				border = n
			}
			if n > width || strings.HasPrefix(line, "│") && n != border {
				t.Errorf("%d columns: %q", width, line)
			}
			for cell := range strings.SplitSeq(line, "│") {
				if strings.Count(cell, "\x1b[0m")*2 != strings.Count(cell, "\x1b[") {
					t.Errorf("%d columns: a colour runs over a border: %q", width, line)
				}
			}
		}
		for _, w := range letters.FindAllString(escapes.ReplaceAllString(shown, ""), -1) {
			if !slices.Contains(words, w) {
				t.Errorf("%d columns: a word is broken: %q", width, w)
			}
		}
	}
}

// The notes of a table are those of its own numbers: without medians, those of the reference.
func TestFootnotesAreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	r := sampleRun(12)
	for i := range r.Forks {
		r.Forks[i].Series[0].Warnings = []string{"of " + r.Forks[i].Cell.Impl}
	}
	r.Forks[len(r.Forks)-1].Series[0].Warnings = nil
	narrow, wide := textOf(t, r, Terminal{}), textOf(t, r, Terminal{Width: 120})
	if strings.Contains(narrow, "(b)") || !strings.Contains(wide, "(b) of ") {
		t.Errorf("want one note at 80 columns, and more at 120:\n%s\n%s", narrow, wide)
	}
}

// A note counts the forks of all its numbers, and has one letter.
func TestOneLetterForAWarning(t *testing.T) {
	t.Parallel()
	f := &footnotes{}
	for _, w := range []string{"unsteady (2 of 6 forks)", "unsteady (5 of 6 forks)", "other",
		"unsteady (1 of 6 forks)"} {
		f.mark([]string{w})
	}
	if got, want := f.text(), "(a) unsteady (1 to 5 of 6 forks)\n(b) other\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A disturbed run says so before anything else, and again before it recommends.
func TestDisturbedRunsSaySoFirst(t *testing.T) {
	t.Parallel()
	r := sampleRun(12)
	r.Environment.OthersMedian, r.Environment.OthersMax = 47, 60
	out := textOf(t, r, Terminal{})
	if _, answer, _ := strings.Cut(out, "What to use"); !strings.HasPrefix(out, "DISTURBED: others took 47%") ||
		!strings.Contains(answer, "\nDISTURBED: ") {
		t.Errorf("%s", out)
	}
	var page strings.Builder
	if err := of(t, r).WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	if d, card := strings.Index(page.String(), "DISTURBED"), strings.Index(page.String(),
		`class="card"`); d < 0 || d > card {
		t.Errorf("in the page it stands at %d, the first card at %d", d, card)
	}
}

// A flame graph of few samples says that its shares are rough. A value in ms has no heading of ns.
func TestWordsOfNumbers(t *testing.T) {
	t.Parallel()
	for samples, rough := range map[int]bool{3: true, 99: true, 100: false} {
		c := newCalls()
		for range samples {
			if err := c.add([]string{"f"}, 10e6, 1); err != nil {
				t.Fatal(err)
			}
		}
		if got := taken(cellProfiles{cpu: c}); strings.Contains(got, "rough") != rough {
			t.Errorf("%q", got)
		}
	}
	r := sampleRun(12)
	for name, out := range map[string]string{"narrow": textOf(t, r, Terminal{}),
		"wide": textOf(t, r, Terminal{Wide: true})} {
		if strings.Contains(out, "p99-ns") || !strings.Contains(out, "p99") {
			t.Errorf("%s: want headings without -ns:\n%s", name, out)
		}
	}
}
