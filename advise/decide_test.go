package advise

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/report"
)

// anyLoad draws loads of every size, with anything left out.
func anyLoad(t *rapid.T) Load {
	var l Load
	for _, d := range dimensions {
		if d.Dimension == Matches || rapid.Bool().Draw(t, "leave out "+string(d.Dimension)) {
			continue
		}
		// Sizes of every order of magnitude, 0 and the bounds.
		exponent := rapid.Float64Range(-1, math.Log10(d.most)).Draw(t, string(d.Dimension))
		l = l.With(d.Dimension, min(d.most, max(d.least(), math.Floor(math.Pow(10, exponent)))))
	}
	l.Reads = rapid.SampledFrom([]Reads{"", ReadGet, ReadList, ReadIndex}).Draw(t, "reads")
	if l.Reads == ReadIndex && rapid.Bool().Draw(t, "matches") {
		l = l.With(Matches, float64(rapid.IntRange(1, l.or(Objects, MostObjects)).Draw(t, "matches")))
	}
	l.Events = rapid.SampledFrom([]Events{"", EventsEvery, EventsMerged}).Draw(t, "events")
	l.Priorities = rapid.Bool().Draw(t, "priorities")
	if rapid.Bool().Draw(t, "limited") {
		l.Memory = rapid.Uint64Range(1, MostMemory).Draw(t, "memory")
	}
	return l
}

// Every component has an answer under every load: an implementation of the catalog, within the
// ranges of its rule, with evidence, price and code; or commands that measure it.
func TestEveryLoadHasAnAnswer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := anyLoad(t)
		if err := l.Validate(); err != nil {
			t.Fatalf("%+v: %v", l, err)
		}
		all := Rules().Advise(Question{Load: l})
		if len(all) != len(load.Components()) {
			t.Fatalf("%d answers", len(all))
		}
		for i, a := range all {
			if a.Component != load.Components()[i] {
				t.Fatalf("answer %d is about a %s", i, a.Component)
			}
			switch a.Decision {
			case Use:
				checkUse(t, a, l)
			case Measure:
				if a.Use != "" || len(a.Commands) == 0 || len(a.Unknown) == 0 || len(a.Because) > 0 {
					t.Fatalf("%+v", a)
				}
			default:
				t.Fatalf("decision %q", a.Decision)
			}
		}
		for _, write := range []func(*bytes.Buffer) error{
			func(b *bytes.Buffer) error { return WriteText(b, Given{l, all}, true, report.Terminal{}) },
			func(b *bytes.Buffer) error { return WriteMarkdown(b, Given{l, all}) },
			func(b *bytes.Buffer) error { return WriteJSON(b, Given{l, all}) },
		} {
			var out bytes.Buffer
			if err := write(&out); err != nil || out.Len() == 0 {
				t.Fatalf("%d bytes: %v", out.Len(), err)
			}
		}
	})
}

func checkUse(t *rapid.T, a Advice, l Load) {
	if e, err := catalog.Lookup(a.Component, a.Use); err != nil || e.Study {
		t.Fatalf("%s: %q is recommended: %v", a.Component, a.Use, err)
	}
	i := slices.IndexFunc(Rules().Rules, func(r Rule) bool { return r.Name == a.Rule })
	if i < 0 || len(a.Because) == 0 || !hasPrice(Rules(), Rules().Rules[i]) ||
		len(a.Price) != len(Rules().Rules[i].Price) || len(a.Code) != len(Programs()) {
		t.Fatalf("%+v lacks its rule, a reason, a price or code", a)
	}
	for d, limits := range Rules().Rules[i].When.Ranges {
		if v, known := l.Numbers[Dimension(d)]; !known || v < limits[0] || v > limits[1] {
			t.Fatalf("rule %s says %v, and the load has %v of %s", a.Rule, limits, v, d)
		}
	}
}

// Every load can be measured: its workloads are valid, and reading them back gives the same.
func TestEveryLoadHasAWorkload(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := anyLoad(t)
		for _, c := range load.Components() {
			w := Workload(l, c)
			if err := w.Validate(); err != nil {
				t.Fatalf("%s of %+v: %v", c, l, err)
			}
			var out bytes.Buffer
			if err := load.WriteWorkload(&out, w); err != nil {
				t.Fatal(err)
			}
			if _, err := load.ParseWorkload("advised.yaml", out.Bytes()); err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
		}
	})
}

// The flags that describe a load, in its commands, describe the same load.
func TestFlagsDescribeTheLoad(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := anyLoad(t)
		var again Load
		flags := l.Flags()
		for i := 0; i < len(flags); i++ {
			if flags[i] == "--priorities" {
				again.Priorities = true
				continue
			}
			i++
			switch value := flags[i]; flags[i-1] {
			case "--reads":
				reads, matches, err := ParseReads(value)
				if l.Reads == ReadIndex && l.Numbers[Matches] == 0 {
					reads, err = ReadIndex, nil // only a run's load has no number beside it
				}
				if err != nil {
					t.Fatal(err)
				}
				again.Reads = reads
				if matches > 0 {
					again = again.With(Matches, matches)
				}
			case "--memory":
				n, err := ParseBytes(value)
				if err != nil {
					t.Fatal(err)
				}
				again.Memory = n
			case "--events":
				again.Events = Events(value)
			default:
				d := Dimension(strings.TrimPrefix(flags[i-1], "--"))
				n, err := ParseNumber(d, value)
				if err != nil {
					t.Fatal(err)
				}
				again = again.With(d, n)
			}
		}
		if fmt.Sprint(again) != fmt.Sprint(l) || again.Memory != l.Memory {
			t.Fatalf("%v became %v", l, again)
		}
	})
}

// TestAdvice holds the advice for loads that people have.
func TestAdvice(t *testing.T) {
	t.Parallel()
	of := func(objects, readers float64, reads Reads, writes float64) Load {
		return Load{Reads: reads}.With(Objects, objects).With(Readers, readers).With(Writes, writes)
	}
	queue := func(delayed, workers float64) Load {
		return Load{}.With(Delayed, delayed).With(Workers, workers)
	}
	limited := of(50_000, 10, ReadList, 2_000)
	limited.Memory = 5 << 20
	roomy := limited
	roomy.Memory = 2 << 30
	urgent := queue(0, 4)
	urgent.Priorities = true
	merged := Load{Events: EventsMerged}.With(Objects, 100_000).With(Writes, 100)
	for _, c := range []struct {
		name      string
		load      Load
		component contract.Component
		rule      string   // that decides, whose first reason must be in the text; "": none
		want      []string // in the advice as text; the first is what to use
	}{
		{"listers starve the writer", of(50_000, 10, ReadList, 2_000), "store", "store-many-listers",
			[]string{"use lockfree", "lockfree.New(indexers)", "cache.Options{NewInformer"}},
		{"one lister of a large store", of(100_000, 1, ReadList, 10_000), "store", "store-few-listers",
			[]string{"use lockfree"}},
		{"one lister of a small store", of(10_000, 1, ReadList, 10_000), "store", "",
			[]string{"measure", "1 goroutine reads", "10 to 80"}},
		{"more objects than were measured", of(5_000_000, 10, ReadList, 2_000), "store", "",
			[]string{"measure", "5,000,000 objects", "--workload store", "benchrun run -f store.yaml"}},
		{"more writes than were measured", of(100_000, 10, ReadList, 20_000), "store", "",
			[]string{"measure", "20,000 writes", "500 to 10,000"}},
		{"finders of 2,000", of(100_000, 10, ReadIndex, 10_000).With(Matches, 2_000), "store",
			"store-finders", []string{"use lockfree"}},
		{"Gets of a small store", of(5_000, 1, ReadGet, 100), "store", "store-get-small",
			[]string{"use clientgo", "nothing to change", "unless", "relist"}},
		{"Gets of a large store", of(200_000, 2, ReadGet, 100), "store", "store-get-large",
			[]string{"use lockfree", "by two goroutines"}},
		{"no reader", of(100_000, 0, "", 1_000), "store", "store-alone", []string{"use clientgo"}},
		{"who reads is unknown", Load{}.With(Objects, 100_000), "store", "",
			[]string{"measure", "--readers", "--reads", "--writes"}},
		{"memory that is enough", roomy, "store", "store-many-listers",
			[]string{"use lockfree", "for 50,000 objects", "of 2.0 GiB"}},
		{"memory that is too little", limited, "store", "", []string{"measure", "5.0 MiB"}},
		{"memory that is too little", limited, "informer", "", []string{"measure", "5.0 MiB"}},
		{"an informer under listers", of(50_000, 10, ReadList, 2_000), "informer",
			"informer-many-listers", []string{"use informerbench", "informers.NewSharedInformerFactory"}},
		{"an informer nobody reads", of(50_000, 0, "", 2_000), "informer", "informer-alone",
			[]string{"use informerbench"}},
		{"an informer of finders", of(50_000, 10, ReadIndex, 2_000).With(Matches, 5_000), "informer",
			"informer-finders", []string{"use informerbench"}},
		{"an informer of finders of few", of(50_000, 10, ReadIndex, 2_000).With(Matches, 5), "informer",
			"", []string{"measure", "5 objects found by a look-up", "2,000 to 10,000"}},
		{"an informer of Gets", of(50_000, 4, ReadGet, 2_000), "informer", "informer-getters",
			[]string{"use informerbench", "for 50,000 objects"}},
		{"an informer of Gets by many", of(50_000, 40, ReadGet, 2_000), "informer", "",
			[]string{"measure", "1 to 10"}},
		{"DeltaFIFO's semantics", merged, "fifo", "fifo-merged",
			[]string{"use coalescing", "NewCoalescing"}},
		{"every event", of(100_000, 0, "", 100), "fifo", "fifo-every",
			[]string{"use inorder-atomic", "NewInOrder"}},
		{"a million waiting", queue(1_000_000, 8), "queue", "queue-waiting",
			[]string{"use workqueue", "NewRateLimiting"}},
		{"a million waiting", queue(1_000_000, 8), "delay", "delay-large",
			[]string{"use quadheap", "NewQuadHeap"}},
		{"nothing waits", queue(0, 1), "queue", "queue-few", []string{"use workqueue"}},
		{"nothing waits", queue(0, 1), "delay", "", []string{"measure", "does not matter"}},
		{"few wait", queue(10, 1), "delay", "", []string{"measure", "1,000 to 100,000"}},
		{"a thousand workers", queue(0, 1_000), "queue", "queue-many-workers", []string{"use workqueue"}},
		{"priorities", urgent, "queue", "queue-priorities",
			[]string{"use priority", "ctrlqueue.New", "16 Gets"}},
	} {
		t.Run(c.name+"/"+string(c.component), func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			all := Rules().Advise(Question{Load: c.load})
			i := slices.IndexFunc(all, func(a Advice) bool { return a.Component == c.component })
			if err := WriteText(&out, Given{c.load, all[i : i+1]}, false,
				report.Terminal{Wide: true}); err != nil {
				t.Fatal(err)
			}
			if all[i].Rule != c.rule {
				t.Errorf("decided by the rule %q, want %q", all[i].Rule, c.rule)
			}
			for _, r := range Rules().Rules {
				if r.Name == c.rule {
					c.want = append(c.want, r.Because[0].Text())
				}
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("want %q in\n%s", want, &out)
				}
			}
		})
	}
}

// Text fits its terminal, but for code and commands, which stay whole.
func TestTextFitsTheTerminal(t *testing.T) {
	t.Parallel()
	for _, width := range []int{0, 60, 80, 120} {
		for _, r := range Rules().Rules {
			l := corners(r.When)[0]
			var out bytes.Buffer
			if err := WriteText(&out, Given{l, Rules().Advise(Question{Load: l})}, true,
				report.Terminal{Width: width}); err != nil {
				t.Fatal(err)
			}
			if width == 0 {
				width = 80
			}
			for line := range strings.SplitSeq(out.String(), "\n") {
				// What cannot be broken: a long flag of a command, a path, code.
				breakable := regexp.MustCompile(`\S{40}|:= |Options\{|Config`).FindString(line) == ""
				if n := len([]rune(line)); n > width && breakable {
					t.Errorf("%d columns, %d wide: %q", width, n, line)
				}
			}
		}
	}
}

// A command that goes on after a backslash is the same command.
func TestBrokenCommandsAreWhole(t *testing.T) {
	t.Parallel()
	command := "benchrun advise --objects 50000 --readers 10 --reads list --writes 2000 --workload " +
		"store > store.yaml"
	lines := broken(command, 40, false)
	if len(lines) < 3 {
		t.Fatalf("%q: the test sees nothing", lines)
	}
	joined := strings.ReplaceAll(strings.Join(lines, "\n"), " \\\n", " ")
	if got := strings.Join(strings.Fields(joined), " "); got != command {
		t.Errorf("%q became %q", command, got)
	}
	for _, l := range lines {
		if len(l) > 40 || strings.HasSuffix(l, "--objects \\") {
			t.Errorf("%q: too wide, or without its value", l)
		}
	}
}

func TestBriefTextIsShort(t *testing.T) {
	t.Parallel()
	l := Load{Reads: ReadList}.With(Objects, 50_000).With(Readers, 10).With(Writes, 2_000)
	all := Rules().Advise(Question{Load: l})
	brief, whole := new(bytes.Buffer), new(bytes.Buffer)
	for out, every := range map[*bytes.Buffer]bool{brief: false, whole: true} {
		if err := WriteText(out, Given{l, all}, every, report.Terminal{Wide: true}); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(brief.String(), "repeat") ||
		!strings.Contains(whole.String(), "repeat   benchrun run --preset lock-starvation") {
		t.Errorf("the commands that repeat a measurement belong to --all:\n%s\n%s", brief, whole)
	}
	if !strings.Contains(brief.String(),
		"says nothing of delay (add --delayed); queue (add --delayed, --workers)") {
		t.Errorf("what is not asked takes one line:\n%s", brief)
	}
}

func TestJSONIsWhole(t *testing.T) {
	t.Parallel()
	l := Load{Reads: ReadList, Memory: 1 << 30}.With(Objects, 50_000).With(Readers, 10).With(Writes,
		2_000)
	var out bytes.Buffer
	if err := WriteJSON(&out, Given{l, Rules().Advise(Question{Load: l})}); err != nil {
		t.Fatal(err)
	}
	var back Given
	if err := json.Unmarshal(out.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	store := back.Advice[0]
	if back.Load.Numbers[Objects] != 50_000 || store.Use != "lockfree" || len(store.Because) != 3 ||
		store.Because[0].Measure == "" || store.Code[0].Code == "" {
		t.Errorf("%+v", back)
	}
}

func TestMistakesNameWhatIsAllowed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "by-index=N", "lists": "list, get",
		"by-index": "by-index=20", "by-index=0": "1 to 50,000,000", "list=3": "want list",
		"by-index=1e3": "1 to"} {
		if _, _, err := ParseReads(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--reads %q: %v, want %q", text, err, want)
		}
	}
	for _, text := range []string{"", "2 Gigs", "0", "-1", "1EiB"} {
		if _, err := ParseBytes(text); err == nil || !strings.Contains(err.Error(), "512MiB") {
			t.Errorf("--memory %q: %v", text, err)
		}
	}
	for _, text := range []string{"", "many", "NaN", "Inf", "-1", "0.5", "1e12"} {
		if _, err := ParseNumber(Objects, text); err == nil ||
			!strings.Contains(err.Error(), "1 to 50,000,000") {
			t.Errorf("--objects %q: %v", text, err)
		}
	}
	for _, c := range []struct {
		load Load
		want string
	}{
		{Load{}.With(Readers, 1e9), "--readers: 1e+09 is out of range"},
		{Load{}.With("pods", 1), `unknown number "pods"`},
		{Load{Reads: "scan"}, "get, list or by-index=N"},
		{Load{Events: "some"}, "every or merged"},
		{Load{Reads: ReadList}.With(Matches, 10), "by-index=N"},
		{Load{Reads: ReadIndex}.With(Matches, 10).With(Objects, 5), "more than there is"},
		{Load{Memory: math.MaxUint64}, "--memory"},
	} {
		if err := c.load.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.load, err, c.want)
		}
	}
}

// TestLessMemoryIsSaidSo: an implementation may take less than the reference.
func TestLessMemoryIsSaidSo(t *testing.T) {
	t.Parallel()
	l := Load{Memory: 2 << 30}.With(Objects, 50_000)
	for own, want := range map[float64]string{
		160: "That is 537 KiB less for 50,000 objects, 0.026% of 2.0 GiB.",
		182: "That is 537 KiB more for 50,000 objects, 0.026% of 2.0 GiB."} {
		if got, fits := (Bytes{Own: own, Reference: 171}).of(l); got != want || !fits {
			t.Errorf("%g B: %q, %t; want %q", own, got, fits, want)
		}
	}
}
