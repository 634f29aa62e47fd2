package advise

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
	"github.com/informerbench/informerbench/report"
)

// runOf makes a run of stores under a workload of 100,000 objects and 10 listers.
func runOf(forks int, impls ...recordtest.Impl) *record.Run {
	r := recordtest.Run(recordtest.Spec{Forks: forks, Seed: 1, Impls: impls})
	r.Workloads[0].YAML = `name: store-ops
component: store
objects: {count: 100000}
groups:
  - {name: writer, op: update, goroutines: 1, rate: 10000}
  - {name: listers, op: list, goroutines: 10}
duration: 1s
`
	return r
}

func adviceOf(t *testing.T, c contract.Component, q Question) Advice {
	t.Helper()
	all := Rules().Advise(q)
	return all[slices.IndexFunc(all, func(a Advice) bool { return a.Component == c })]
}

// A run's verdicts come before the rules, under the load that it measured.
func TestRunComesBeforeTheRules(t *testing.T) {
	t.Parallel()
	slow := OfRun("results/mine",
		runOf(12, recordtest.Impl{Name: "clientgo", NsPerOp: 100},
			recordtest.Impl{Name: "lockfree", NsPerOp: 300}))
	l := slow.Load()
	if got := l.String(); got != "100,000 objects; 10 goroutines list everything; 10,000 writes a "+
		"second" {
		t.Fatalf("the run's load is %s", got)
	}
	a := adviceOf(t, contract.ComponentStore, Question{Load: l, Run: slow})
	if a.Decision != Use || a.Use != "clientgo" || a.Rule != "" ||
		a.Because[0].Record != "results/mine" ||
		!strings.Contains(strings.Join(a.Notes, " "), "would say lockfree") {
		t.Errorf("all is worse in the run: %+v", a)
	}

	quick := OfRun("results/mine",
		runOf(12, recordtest.Impl{Name: "clientgo", NsPerOp: 100},
			recordtest.Impl{Name: "dense", NsPerOp: 50}))
	a = adviceOf(t, contract.ComponentStore, Question{Load: l, Run: quick})
	if a.Use != "dense" || !strings.Contains(a.Because[0].Says, "time 0.5") ||
		!strings.Contains(strings.Join(a.Notes, " "), "for study") ||
		!strings.Contains(a.Code[0].Note, "docs/api.md") {
		t.Errorf("dense is better in the run: %+v", a)
	}
	if informer := adviceOf(t, contract.ComponentInformer,
		Question{Load: l, Run: quick}); informer.Rule != "informer-many-listers" {
		t.Errorf("the run measured no informer: %+v", informer)
	}
}

// A run of several components answers for each with the load that it measured of that one: its
// numbers differ from the store's.
func TestRunOfSeveralComponents(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(root, "results", "quick")
	kept, err := record.ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := OfRun(dir, kept)
	for _, a := range Rules().Advise(Question{Load: r.Load(), Run: r}) {
		if a.Rule != "" || len(a.Because) != 1 || a.Because[0].Record != dir {
			t.Errorf("%s: the run does not answer: %+v", a.Component, a)
		}
	}
}

// A run that was made slow on purpose says so.
func TestRunThatIsTainted(t *testing.T) {
	t.Parallel()
	planted := runOf(12, recordtest.Impl{Name: "clientgo", NsPerOp: 100},
		recordtest.Impl{Name: "lockfree", NsPerOp: 50})
	planted.Settings.Plant = &record.Plant{Impl: "clientgo", Share: 0.5}
	r := OfRun("results/mine", planted)
	a := adviceOf(t, contract.ComponentStore, Question{Load: r.Load(), Run: r})
	if !strings.Contains(strings.Join(a.Notes, " "),
		"The run: planted: the store clientgo is 50% slower") {
		t.Errorf("%+v", a)
	}
}

// The rules speak where the run measured another load, or proves nothing.
func TestRunOfAnotherLoad(t *testing.T) {
	t.Parallel()
	quick := OfRun("results/mine",
		runOf(12, recordtest.Impl{Name: "clientgo", NsPerOp: 100},
			recordtest.Impl{Name: "dense", NsPerOp: 50}))
	for _, c := range []struct {
		flags Load
		note  string
	}{
		{Load{}.With(Objects, 50_000), "50,000 objects: the run measured 100,000"},
		{Load{}.With(Readers, 80), "80 goroutines read: the run measured 10"},
		{Load{Reads: ReadIndex}.With(Matches, 2_000), "by-index: the run has none"},
	} {
		a := adviceOf(t, contract.ComponentStore,
			Question{Load: c.flags.Over(quick.Load()), Asked: c.flags, Run: quick})
		if a.Use != "lockfree" || a.Rule == "" || !strings.Contains(strings.Join(a.Notes, " "), c.note) ||
			len(a.Commands) == 0 {
			t.Errorf("%s: %+v", c.note, a)
		}
	}
	two := runOf(2, recordtest.Impl{Name: "clientgo", NsPerOp: 100},
		recordtest.Impl{Name: "dense", NsPerOp: 50})
	for complete, note := range map[bool]string{true: "with --budget 10m",
		false: `benchrun run --resume 'my results/it'\''s'`} {
		two.Complete = complete
		r := OfRun("my results/it's", two)
		a := adviceOf(t, contract.ComponentStore, Question{Load: r.Load(), Run: r})
		if a.Rule != "store-many-listers" || !strings.Contains(strings.Join(a.Notes, " "), note) {
			t.Errorf("two forks prove nothing: %+v", a)
		}
	}
}

// A run answers with the workloads that are nearest to a load. Where many goroutines list a large
// store, a small store that many list does not count, nor does a large one that nobody reads.
func TestNearestWorkloadsAnswer(t *testing.T) {
	t.Parallel()
	r := &Run{}
	for _, m := range []struct {
		title string
		alone bool
		load  Load
	}{
		{"small, 80 list", false, Load{Reads: ReadList}.With(Objects, 1_000).With(Readers, 80)},
		{"small, 10 list", false, Load{Reads: ReadList}.With(Objects, 1_000).With(Readers, 10)},
		{"small, 1 lists", false, Load{Reads: ReadList}.With(Objects, 1_000).With(Readers, 1)},
		{"small, 1 gets", false, Load{Reads: ReadGet}.With(Objects, 1_000).With(Readers, 1)},
		{"large, not read", false, Load{}.With(Objects, 1_000_000).With(Readers, 0)},
		{"large, 1 lists", false, Load{Reads: ReadList}.With(Objects, 1_000_000).With(Readers, 1)},
		{"small, alone", true, Load{}.With(Objects, 1_000).With(Readers, 0)},
	} {
		r.measured = append(r.measured,
			measurement{contract.ComponentStore, m.load, m.alone, compare.Group{Title: m.title}})
	}
	for _, c := range []struct {
		load Load
		want []string
	}{
		{Load{Reads: ReadList}.With(Objects, 1_000_000).With(Readers, 80), nil},
		{Load{Reads: ReadList}.With(Objects, 1_000).With(Readers, 80),
			[]string{"small, 80 list", "small, alone"}},
		{Load{Reads: ReadList}.With(Objects, 1_000).With(Readers, 5),
			[]string{"small, 10 list", "small, 1 lists", "small, alone"}},
		{Load{Reads: ReadList}.With(Objects, 500_000).With(Readers, 1),
			[]string{"small, 1 lists", "large, 1 lists", "small, alone"}},
		{Load{}.With(Objects, 500_000).With(Readers, 0), []string{"large, not read", "small, alone"}},
		{Load{Reads: ReadList}.With(Objects, 1_000).With(Readers, 0), []string{"small, alone"}},
		{Load{Reads: ReadGet}.With(Objects, 1_000).With(Readers, 1),
			[]string{"small, 1 gets", "small, alone"}},
		{Load{Reads: ReadIndex}.With(Objects, 1_000).With(Readers, 1), nil},
		{Load{Reads: ReadList}.With(Objects, 1_000).With(Readers, 100), nil},
	} {
		near, why := r.near(contract.ComponentStore, c.load)
		var got []string
		for _, m := range near {
			got = append(got, m.group.Title)
		}
		if !slices.Equal(got, c.want) || (why == "") != (len(got) > 0) {
			t.Errorf("%v: %q, want %q: %s", c.load, got, c.want, why)
		}
	}
}

// Asked about a load without readers, the kept run answers with what it measured without readers:
// client-go's store makes all of its writes there. The mean over all numbers of readers, in which
// it is starved, does not count.
func TestKeptRunAnswersForItsOwnLoad(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(root, "results", "lock-starvation")
	kept, err := record.ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := OfRun(dir, kept)
	for readers, gains := range map[float64]bool{0: false, 80: true} {
		asked := Load{}.With(Readers, readers)
		a := adviceOf(t, contract.ComponentStore,
			Question{Load: asked.Over(r.Load()), Asked: asked, Run: r})
		if a.Rule != "" || len(a.Because) != 1 {
			t.Fatalf("%g readers: the run does not answer: %+v", readers, a)
		}
		if same := strings.Contains(a.Because[0].Says, "done 1.00x ["); same == gains {
			t.Errorf("%g readers: %s", readers, a.Because[0].Says)
		}
	}
}

// A run may recommend what this catalog does not have, or what waives clauses.
func TestRunOfStrangers(t *testing.T) {
	t.Parallel()
	r := OfRun("results/mine", runOf(12, recordtest.Impl{Name: "clientgo", NsPerOp: 100},
		recordtest.Impl{Name: "theirs", NsPerOp: 50}))
	a := adviceOf(t, contract.ComponentStore, Question{Load: r.Load(), Run: r})
	if a.Use != "lockfree" || !strings.Contains(strings.Join(a.Notes, " "), "does not have") {
		t.Errorf("%+v", a)
	}
	loose := runOf(12, recordtest.Impl{Name: "clientgo", NsPerOp: 100},
		recordtest.Impl{Name: "lockfree", NsPerOp: 80}, recordtest.Impl{Name: "syncmap", NsPerOp: 50})
	loose.Impls[2].Waivers = []record.Waiver{{Clause: "STORE-7", Reason: "List walks the map"}}
	loose.Impls[1].Verified = record.VerifyFailed
	r = OfRun("results/mine", loose)
	a = adviceOf(t, contract.ComponentStore, Question{Load: r.Load(), Run: r})
	if notes := strings.Join(a.Notes, " "); a.Use != "lockfree" ||
		!strings.Contains(notes, "syncmap gains more") ||
		!strings.Contains(notes, "it waives STORE-7, which clientgo keeps.") ||
		!strings.Contains(notes, "did not pass") {
		t.Errorf("%+v", a)
	}
}

// Nothing that a foreign run has in its strings acts at a terminal or in Markdown.
func TestForeignStringsAreText(t *testing.T) {
	t.Parallel()
	const evil = "\x1b[31m</code><script>alert(1)</script>\u202e`|[x](javascript:x)"
	foreign := runOf(12, recordtest.Impl{Name: "clientgo", NsPerOp: 100},
		recordtest.Impl{Name: "lockfree", NsPerOp: 10})
	for i := range foreign.Forks {
		f := &foreign.Forks[i]
		f.Series[1].Op = evil
		f.Series[1].Values["delay-p99-ns"] = 1e3 + float64(i)
		if f.Cell.Impl == "lockfree" { // worse by less than the time is better
			f.Series[1].Values["delay-p99-ns"] *= 1.5
		}
	}
	r := OfRun(evil, foreign)
	q := Question{Load: r.Load(), Run: r}
	g := Given{q.Load, Rules().Advise(q)}
	if a := adviceOf(t, contract.ComponentStore, q); a.Use != "lockfree" || len(a.Price) == 0 ||
		!strings.Contains(a.Price[0].Says, "script") {
		t.Fatalf("the test sees no foreign string: %+v", a)
	}
	var text, markdown, json bytes.Buffer
	for _, err := range []error{WriteText(&text, g, true, report.Terminal{}),
		WriteMarkdown(&markdown, g), WriteJSON(&json, g)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, out := range map[string]string{"text": text.String(), "markdown": markdown.String(),
		"json": json.String()} {
		if strings.Contains(out, "\x1b") {
			t.Errorf("%s has an escape character", name)
		}
	}
	for name, out := range map[string]string{"text": text.String(), "markdown": markdown.String()} {
		if strings.Contains(out, "\u202e") {
			t.Errorf("%s has a bidi override", name)
		}
	}
	for _, block := range strings.Split(markdown.String(), "```") {
		if strings.HasPrefix(block, "sh\n") || strings.HasPrefix(block, "go\n") {
			continue // code is shown as it is
		}
		if strings.Contains(block, "<script") || strings.Contains(block, "](javascript") {
			t.Errorf("Markdown of a foreign string:\n%s", block)
		}
	}
}

// The kept runs are read, and their own verdicts agree with the rules that rest on them.
func TestKeptRunsAgree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ preset, heaviest, price string }{
		{"lock-starvation", "100,000 objects; 80 goroutines list everything; 10,000 writes a second", ""},
		{"kcm-150k", "150,000 objects; 1 goroutine lists everything", "lister:list delay-p90-ns is 1."},
	} {
		dir := filepath.Join(root, "results", c.preset)
		kept, err := record.ReadRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		r := OfRun(dir, kept)
		if got := r.Load().String(); got != c.heaviest {
			t.Errorf("%s: its heaviest load is %s, want %s", c.preset, got, c.heaviest)
		}
		a := adviceOf(t, contract.ComponentStore, Question{Load: r.Load(), Run: r})
		if a.Use != "lockfree" || a.Rule != "" || (len(a.Price) == 0) != (c.price == "") {
			t.Errorf("%s: %+v", c.preset, a)
		}
		if len(a.Price) > 0 && !strings.Contains(a.Price[0].Says, c.price) {
			t.Errorf("%s: the first price is %q, want %q in it", c.preset, a.Price[0].Says, c.price)
		}
	}
}

func TestLoadOfWorkloads(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"lock-starvation-by-index": "100,000 objects; 10 goroutines look up 2,000 by index; 10,000 " +
			"writes a second",
		"requeue-storm":   "0 items wait for their time; 1,000 workers",
		"queue-due-storm": "400,000 items wait for their time; 8 workers",
		"delay-million":   "1,000,000 items wait for their time",
		"stores-update":   "100,000 objects; no goroutine reads",
		"slow-handler":    "10,000 objects; 1,000 writes a second",
	} {
		found := false
		for _, p := range load.Presets() {
			for _, w := range p.Workloads {
				if w.Name != name || found {
					continue
				}
				found = true
				if got := loadOf(w.Variants()[0].Workload).String(); got != want {
					t.Errorf("%s: %s, want %s", name, got, want)
				}
			}
		}
		if !found {
			t.Errorf("no preset has %s", name)
		}
	}
}

func TestLoadOfTrace(t *testing.T) {
	t.Parallel()
	trace := &load.Trace{TraceHeader: load.TraceHeader{Compress: 20, Resources: []load.TraceResource{
		{Version: "v1", Resource: "nodes", Kind: "Node"},
		{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true},
	}}}
	for i := range 30 {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: string(rune('a' + i))}}
		e := load.TraceEvent{Type: watch.Added, Resource: 1, Key: synthetic.Key(pod), Object: pod}
		if i < 10 {
			trace.Initial = append(trace.Initial, e)
			continue
		}
		e.At = time.Duration(i/20) * 1500 * time.Millisecond
		trace.Events = append(trace.Events, e)
	}
	if err := trace.Validate(); err != nil {
		t.Fatal(err)
	}
	l := OfTrace("pods.trace", trace)
	if l.Numbers[Objects] != 30 || l.Numbers[Writes] != 10 || l.Reads != "" ||
		!strings.Contains(l.From[0], "pods at once") || !strings.Contains(l.From[0], "20 times as fast") {
		t.Errorf("%+v", l)
	}
	q := Question{Load: Load{Reads: ReadList}.With(Readers, 10).Over(l), Trace: "my pods.trace"}
	if a := adviceOf(t, contract.ComponentStore, q); a.Decision != Measure || len(a.Commands) != 2 ||
		!strings.Contains(a.Commands[1], "run --trace 'my pods.trace' -f store.yaml --component store") {
		t.Errorf("%+v", a)
	}
	if a := adviceOf(t, contract.ComponentFIFO, q); len(a.Commands) != 1 ||
		!strings.Contains(a.Commands[0], "--component fifo") {
		t.Errorf("%+v", a)
	}
	if empty := OfTrace(
		"none", &load.Trace{TraceHeader: load.TraceHeader{Compress: 1}}); empty.Validate() != nil {
		t.Errorf("%+v", empty)
	}
}

// What a run favours must do what is asked for, and fit into the memory.
func TestRunIsNoAnswerToWhatItDoesNotMeet(t *testing.T) {
	t.Parallel()
	of := func(preset string) *Run {
		dir := filepath.Join(root, "results", preset)
		kept, err := record.ReadRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		return OfRun(dir, kept)
	}
	quick, slow := of("quick"), of("slow-handler")
	ask := func(c contract.Component, r *Run, l Load) Advice {
		return adviceOf(t, c, Question{Load: l.Over(r.Load()), Asked: l, Run: r})
	}
	if a := ask(contract.ComponentQueue, quick, Load{Priorities: true}); a.Use != "priority" {
		t.Errorf("with priorities: use %q: %+v", a.Use, a)
	}
	if a := ask(contract.ComponentFIFO, slow, Load{Events: EventsEvery}); a.Use == "coalescing" ||
		a.Use == "clientgo-deltafifo" {
		t.Errorf("every event: use %q: %+v", a.Use, a)
	}
	if a := ask(contract.ComponentStore, quick, Load{Memory: 1 << 20}); a.Decision != Measure ||
		len(a.Unknown) != 1 || !strings.Contains(a.Unknown[0], "the limit is 1.0 MiB") {
		t.Errorf("with a limit of 1 MiB: %+v", a)
	}
}
