package report

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
	"github.com/informerbench/informerbench/measure/stats"
)

// allComponents is a run of every component, with names as long as the catalog's.
func allComponents(t *testing.T) *record.Run {
	t.Helper()
	var all *record.Run
	for i, names := range [][]string{
		{"store", "clientgo", "lockfree", "mutexmap"},
		{"fifo", "clientgo-deltafifo", "coalescing", "clientgo-realfifo-unlocked"},
		{"delay", "containerheap", "quadheap", "pairingheap"},
		{"queue", "clientgo", "workqueue", "controllerruntime-priority"},
		{"informer", "clientgo", "informerbench", "lockfree+coalescing"},
	} {
		r := recordtest.Run(
			recordtest.Spec{Forks: 12, Seed: uint64(i),
				Impls: []recordtest.Impl{{Name: names[1], NsPerOp: 100}, {Name: names[2], NsPerOp: 52.34},
					{Name: names[3], NsPerOp: 234.5}}})
		for j := range r.Cells {
			r.Cells[j].Component = contract.Component(names[0])
		}
		for j := range r.Impls {
			r.Impls[j].Component = names[0]
		}
		for j := range r.Forks {
			f := &r.Forks[j]
			f.Cell.Component = contract.Component(names[0])
			if f.Cell.Impl == names[2] {
				f.Process["heap-B/object"] = 234 // a price
			}
		}
		for j := range r.Workloads {
			r.Workloads[j].Key = r.Cells[0].WorkloadKey()
			r.Workloads[j].YAML = fmt.Sprintf("component: %s\nobjects: {count: 10}\nops: [get]\n", names[0])
		}
		if all == nil {
			all = r
			continue
		}
		all.Cells, all.Impls, all.Forks, all.Workloads = append(all.Cells, r.Cells...),
			append(all.Impls, r.Impls...), append(all.Forks, r.Forks...),
			append(all.Workloads, r.Workloads...)
	}
	return all
}

func textOf(t *testing.T, r *record.Run, to Terminal) string {
	t.Helper()
	var out bytes.Buffer
	if err := of(t, r).WriteText(&out, to); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var escapes = regexp.MustCompile("\x1b\\[[0-9]*m")

// No line is longer than the terminal, and more columns show more.
func TestTextFitsTheTerminal(t *testing.T) {
	t.Parallel()
	r := allComponents(t)
	for i := range r.Forks {
		r.Forks[i].Series[0].Warnings = []string{
			"the machine was busy with so much else that a warning of more than eighty characters is " +
				"about it"}
	}
	for _, width := range []int{0, 80, 100, 120, 200} {
		text := textOf(t, r, Terminal{Width: width, Colour: true})
		if width == 0 {
			width = 80
		}
		for line := range strings.SplitSeq(escapes.ReplaceAllString(text, ""), "\n") {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("%d columns: a line has %d: %s", width, n, line)
			}
		}
		if hasMedian := strings.Contains(text, "median [interval]"); hasMedian != (width >= 120) {
			t.Errorf("%d columns: medians %v", width, hasMedian)
		}
		for _, want := range []string{"controllerrunt", "0.52", "worse", "better", "inconclusive"} {
			if !strings.Contains(text, want) {
				t.Errorf("%d columns: it lacks %q", width, want)
			}
		}
	}
	if wide := textOf(t, r, Terminal{Width: 80, Wide: true}); !strings.Contains(wide, "finds") ||
		!strings.Contains(wide, "noise") {
		t.Error("--wide lacks columns")
	}
}

// The answer is the end of the text, in a few lines for a component. It names the load.
func TestAnswerIsShort(t *testing.T) {
	t.Parallel()
	r := allComponents(t)
	lines := strings.Split(strings.TrimSpace(textOf(t, r, Terminal{})), "\n")
	begin := slices.IndexFunc(lines, func(l string) bool {
		return strings.HasPrefix(l, "What to use")
	})
	if begin < 0 || len(lines)-begin > 30 {
		t.Fatalf("the answer begins in line %d of %d, want 30 lines at most:\n%s", begin, len(lines),
			strings.Join(lines, "\n"))
	}
	answer := strings.Join(lines[begin:], "\n")
	for _, want := range []string{
		"store: lockfree instead of clientgo, for 10 objects, each operation alone\n   memory 2.3x",
		"\n   price: memory per object 2.3x [2.3, 2.3]; 0 of 4 inconclusive\n",
		"\n   lockfree is 1.93 times as fast as clientgo under load\n", "delay: quadheap ",
		"informer: informerbench ", "time of an operation 0.52x [0.5"} {
		if !strings.Contains(answer, want) {
			t.Errorf("the answer lacks %q:\n%s", want, answer)
		}
	}
}

// The implementations that this run cannot tell from the recommended one are named.
func TestAnswerNamesWhatIsLevel(t *testing.T) {
	t.Parallel()
	a := compare.Answer{Component: "queue", Reference: "clientgo", Use: "priority",
		Level: []string{"workqueue"}}
	if got := (Terminal{}).answer(a, "for 1 object"); !strings.Contains(got,
		"\n   0 of 0 inconclusive; not told apart from it: workqueue") {
		t.Error(got)
	}
}

// A price says what the others are that it does not name.
func TestPricesNameTheOthers(t *testing.T) {
	t.Parallel()
	worse := func(metrics ...string) compare.Answer {
		var a compare.Answer
		for _, m := range metrics {
			a.Worse = append(
				a.Worse, &compare.Comparison{Name: compare.Name{Series: compare.ProcessSeries,
					Metric: m},
					Ratio: &stats.Ratio{Estimate: 2, Lo: 2, Hi: 2}})
		}
		return a
	}
	for want, a := range map[string]compare.Answer{
		"ns/op 2.0x [2.0, 2.0]":                            worse("ns/op"),
		"ns/op 2.0x [2.0, 2.0] (worst of 3)":               worse("ns/op", "ns/op", "ns/op"),
		"ns/op 2.0x [2.0, 2.0] and 2 of memory per object": worse("ns/op", "heap-B/object", "heap-B/object"),
		"ns/op 2.0x [2.0, 2.0] and 2 more":                 worse("ns/op", "ns/op", "heap-B/object"),
	} {
		if got := price(a); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The answer says why the reference stays.
func TestAnswerSaysWhyTheReferenceStays(t *testing.T) {
	t.Parallel()
	r := recordtest.Run(
		recordtest.Spec{Forks: 12, Impls: []recordtest.Impl{{Name: "clientgo", NsPerOp: 100},
			{Name: "loose", NsPerOp: 50}}})
	r.Impls[1].Waivers = []record.Waiver{{Clause: "STORE-7", Reason: "it is faster"},
		{Clause: "STORE-8", Reason: "it is faster"}}
	if text := textOf(t, r, Terminal{}); !strings.Contains(strings.Join(strings.Fields(text), " "),
		"loose gains more, and waives STORE-7, STORE-8, which clientgo keeps;") {
		t.Errorf("no reason:\n%s", text)
	}
	slow := recordtest.Run(
		recordtest.Spec{Forks: 12, Impls: []recordtest.Impl{{Name: "clientgo", NsPerOp: 100},
			{Name: "slow", NsPerOp: 150}}})
	if text := textOf(t, slow, Terminal{}); !strings.Contains(text, "store: keep clientgo") ||
		!strings.Contains(text, "\n   none gains more than it loses, by what is proved;") {
		t.Errorf("no reason:\n%s", text)
	}
	few := recordtest.Run(recordtest.Spec{Forks: 2, Impls: []recordtest.Impl{
		{Name: "clientgo", NsPerOp: 100}, {Name: "slow", NsPerOp: 110}}})
	if text := textOf(t, few, Terminal{}); !strings.Contains(text,
		"store: not settled; until it is, keep clientgo") {
		t.Errorf("with two processes it is settled:\n%s", text)
	}
}

// A concern is better only if a comparison is: a whole interval below 1 may lie within the
// noise that the comparisons are judged by.
func TestConcernIsBetterWhereAComparisonIs(t *testing.T) {
	t.Parallel()
	below := compare.Weighed{Better: metrics.LowerIsBetter,
		Ratio: stats.Ratio{Estimate: 0.98, Lo: 0.97, Hi: 0.99, N: 2}}
	for _, c := range []struct {
		of   map[stats.Verdict]int
		want stats.Verdict
	}{
		{map[stats.Verdict]int{stats.Same: 2}, stats.Same},
		{map[stats.Verdict]int{stats.Same: 1, stats.Inconclusive: 1}, stats.Inconclusive},
		{map[stats.Verdict]int{stats.Better: 1, stats.Inconclusive: 1}, stats.Better},
		{map[stats.Verdict]int{stats.Worse: 1, stats.Inconclusive: 1}, stats.Inconclusive},
	} {
		below.Verdicts = c.of
		if got := below.Verdict(); got != c.want {
			t.Errorf("%v: %s, want %s", c.of, got, c.want)
		}
	}
}

// A concern that is no gain names its verdict, because a terminal may have no colours. A mean over
// gains that are counted as a thousand has no interval.
func TestWeighedText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ratio   stats.Ratio
		verdict stats.Verdict
		bounded bool
		want    string
	}{
		{stats.Ratio{Estimate: 0.5, Lo: 0.4, Hi: 0.6, N: 1}, stats.Better, false,
			"memory 0.50x [0.40, 0.60]"},
		{stats.Ratio{Estimate: 1.3, Lo: 1.2, Hi: 1.4, N: 1}, stats.Worse, false,
			"memory 1.30x [1.20, 1.40] (worse)"},
		{stats.Ratio{Estimate: 0.9, Lo: 0.8, Hi: 1.1, N: 1}, stats.Inconclusive, false,
			"memory 0.90x [0.80, 1.10] (inconclusive)"},
		{stats.Ratio{Estimate: 1, Lo: 1, Hi: 1, N: 1}, stats.Same, false,
			"memory 1.00x [1.00, 1.00] (same)"},
		{stats.Ratio{Estimate: 0.001, Lo: 0.001, Hi: 0.001, N: 1}, stats.Better, true,
			"memory 1/1000 or less"},
		{stats.Ratio{Estimate: 900, Lo: 800, Hi: 1000, N: 1}, stats.Worse, true,
			"memory 900x or more (worse)"},
		{stats.Ratio{Estimate: 0, Lo: 0, Hi: 0.5, N: 1}, stats.Better, false, "memory 0 [0, 0.50]"},
	} {
		w := compare.Weighed{Concern: metrics.ConcernMemory, Better: metrics.LowerIsBetter,
			Ratio: c.ratio, Bounded: c.bounded, Verdicts: map[stats.Verdict]int{c.verdict: 1}}
		if got := WeighedText(w); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Verdicts are coloured where the terminal can, and nothing of the record is.
func TestColours(t *testing.T) {
	t.Parallel()
	r := sampleRun(12)
	r.Impls[1].Name = "slow\x1b[32m"
	for i := range r.Cells {
		if r.Cells[i].Impl == "slow" {
			r.Cells[i].Impl = "slow\x1b[32m"
		}
	}
	for i := range r.Forks {
		if r.Forks[i].Cell.Impl == "slow" {
			r.Forks[i].Cell.Impl = "slow\x1b[32m"
		}
	}
	if text := textOf(t, r, Terminal{}); strings.Contains(text, "\x1b") {
		t.Errorf("there are colours where none are asked for:\n%q", text)
	}
	text := textOf(t, r, Terminal{Colour: true})
	found := map[string]int{}
	for _, e := range escapes.FindAllString(text, -1) {
		found[e]++
	}
	if found["\x1b[31m"] == 0 || found["\x1b[32m"] > 0 ||
		found["\x1b[0m"] != found["\x1b[31m"]+found["\x1b[33m"] {
		t.Errorf("%v: want red for what is worse, each ended, and no green: nothing is better", found)
	}
}

// What taints most numbers is said once.
func TestGeneralNotesAreSaidOnce(t *testing.T) {
	t.Parallel()
	r := allComponents(t)
	for i := range r.Forks {
		r.Forks[i].Warnings = []string{"others were busy"}
	}
	r.Forks[0].Series[0].Warnings = []string{"no steady state"}
	text := textOf(t, r, Terminal{Width: 120})
	if n := strings.Count(text, "others were busy"); n != 1 {
		t.Errorf("the warning of all numbers is said %d times", n)
	}
	if n := strings.Count(text, "no steady state"); n != 1 ||
		!strings.Contains(text, "(a) no steady state") {
		t.Errorf("the warning of one number is said %d times; want once, by letter", n)
	}
}

// A comparison of two runs fits too, and begins with what changed.
func TestVersusFitsAndBeginsWithWhatChanged(t *testing.T) {
	t.Parallel()
	run := func(seed uint64, ns float64) *record.Run {
		return recordtest.Run(
			recordtest.Spec{Name: fmt.Sprint("run ", seed), Forks: 12, Seed: seed,
				Impls: []recordtest.Impl{{Name: "reference", NsPerOp: 100}, {Name: "steady", NsPerOp: 100},
					{Name: "mine", NsPerOp: ns}}})
	}
	result, err := compare.Runs(run(1, 100), run(2, 150), false)
	if err != nil {
		t.Fatal(err)
	}
	gate, err := compare.ParseGate("store/*/get/*/ns/op <= +5%")
	if err != nil {
		t.Fatal(err)
	}
	if err := result.Judge([]compare.Gate{gate}); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{80, 120} {
		var out bytes.Buffer
		if err := WriteVersusText(&out, result, Terminal{Width: width}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(out.String(), "\n") {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("%d columns: a line has %d: %s", width, n, line)
			}
		}
		if worse, same := strings.Index(out.String(), "worse"),
			strings.Index(out.String(), "same"); worse < 0 || same < worse {
			t.Errorf("%d columns: worse at %d, same at %d; want what changed first\n%s", width, worse, same,
				out.String())
		}
	}
}
