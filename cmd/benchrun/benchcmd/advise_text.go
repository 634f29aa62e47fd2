package benchcmd

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/bench/runner"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/report"
)

// mostRows is how many comparisons of a kind an advice names.
const mostRows = 4

// adviceText is an advice as it is written: labels, and sentences beside them.
type adviceText struct {
	bytes.Buffer
	runner.Result
	width int
}

// labelWidth is the column in which sentences begin.
const labelWidth = 14

// writeAdvice says what a run speaks for, component by component. What to use is what package
// compare answers, designs for study aside.
func writeAdvice(cmd *cobra.Command, result runner.Result) error {
	_, to := shown(cmd, false)
	r, err := reportOf(result)
	if err != nil {
		return err
	}
	w := &adviceText{Result: result, width: cmp.Or(to.Width, 80)}
	groups := usable(r.Groups)
	warnings := compare.RunWarnings(result.Run)
	if text, _ := compare.Disturbance(result.Run); text != "" {
		w.say("First", text)
		warnings = warnings[1:]
	}
	w.say("Load", w.loads()...)
	answers := compare.Answers(result.Run, groups)
	for _, a := range answers {
		w.component(a, groups)
	}
	if len(answers) == 0 {
		w.say("\nNo answer", "the run compares no two implementations that are there for use")
	}
	w.say("\nMeasured", fmt.Sprintf("%d processes: %s", len(result.Run.Forks),
		filepath.Join(result.Dir, report.HTMLFile)))
	for _, warning := range warnings {
		w.say("Note", warning)
	}
	if !result.Run.Complete && !result.Run.Settings.Pair {
		w.say("Go on", fmt.Sprintf("%s && %s advise %s", record.ResumeCommand(result.Dir), program,
			record.ShellWord(result.Dir)))
	}
	_, err = cmd.OutOrStdout().Write(w.Bytes())
	return err
}

// usable leaves out what the catalog has for study.
func usable(groups []compare.Group) []compare.Group {
	groups = slices.Clone(groups)
	for i, g := range groups {
		groups[i].Rows = slices.Clone(g.Rows)
		for j := range g.Rows {
			row := &groups[i].Rows[j]
			row.Values = slices.DeleteFunc(slices.Clone(row.Values), func(v compare.Value) bool {
				e, err := catalog.Lookup(g.Cells[0].Component, v.Impl)
				return err == nil && e.Study
			})
		}
	}
	return groups
}

// loads describes the workloads of the run, each once.
func (w *adviceText) loads() (out []string) {
	for _, t := range w.Run.Workloads {
		says := t.Name
		if p, err := load.ParseWorkload(t.Name, []byte(t.YAML)); err == nil && p.Description != "" {
			says = p.Description
		}
		if !slices.Contains(out, says) {
			out = append(out, says)
		}
	}
	return out
}

func (w *adviceText) component(a compare.Answer, groups []compare.Group) {
	rows := map[stats.Verdict][]*compare.Comparison{}
	for _, c := range compare.Judged(groups) {
		if c.Name.Component == a.Component && (c.Name.Impl == a.Use || a.Use == a.Reference) {
			rows[c.Verdict] = append(rows[c.Verdict], c)
		}
	}
	if a.Use == a.Reference {
		w.say(fmt.Sprintf("\n%s: %s", a.Component, a.Stays()))
		switch {
		case a.Rejected != "":
			w.say("  because", fmt.Sprintf("%s gains more, and %s", a.Rejected, a.Why))
		case a.Inconclusive < a.Judged:
			w.say("  because", "none of the others gains more than it loses, by what is proved")
		}
	} else {
		w.say(fmt.Sprintf("\n%s: use %s", a.Component, a.Use))
		w.rows("  because", a, slices.DeleteFunc(rows[stats.Better], func(c *compare.Comparison) bool {
			return c.Proved() <= 0 // a disturbance could explain it
		}))
		w.rows("  price", a, rows[stats.Worse])
	}
	if a.Inconclusive > 0 {
		w.say("  not settled", fmt.Sprintf("%d of %d comparisons, such as %s: more --budget settles more",
			a.Inconclusive, a.Judged, w.label(rows[stats.Inconclusive][0])))
	}
	if len(a.Level) > 0 {
		w.say("  level", strings.Join(a.Level, ", ")+": not told apart from it")
	}
	for _, im := range w.Run.Impls {
		if im.Component == a.Component && im.Name == a.Use {
			w.say("  keeps", im.Guarantees)
			w.verified(im)
		}
	}
	w.code(contract.Component(a.Component), a.Use)
}

// rows writes comparisons with the reference, those that are proved to differ most first.
func (w *adviceText) rows(label string, a compare.Answer, rows []*compare.Comparison) {
	slices.SortStableFunc(rows, func(x, y *compare.Comparison) int {
		return cmp.Compare(math.Abs(y.Proved()), math.Abs(x.Proved()))
	})
	for _, c := range rows[:min(mostRows, len(rows))] {
		w.say(label, fmt.Sprintf("%s %s, %s's %s: %s", w.label(c),
			report.NumberText(c.Name.Metric, c.Head.Median), a.Reference,
			report.NumberText(c.Name.Metric, c.Base.Median), report.RatioText(*c.Ratio)))
		label = ""
	}
	if more := len(rows) - mostRows; more > 0 {
		w.say("", fmt.Sprintf("and %d more", more))
	}
}

// label names a row, and its workload where the run has several of the component.
func (w *adviceText) label(c *compare.Comparison) string {
	label := report.Heading(c.Name.Metric)
	if c.Name.Series != compare.ProcessSeries {
		label = c.Name.Series + " " + label
	}
	if slices.ContainsFunc(w.Run.Cells, func(o record.Cell) bool {
		return o.Component == c.Cell.Component && o.WorkloadKey() != c.Cell.WorkloadKey()
	}) {
		label = c.Name.Workload + " " + label
	}
	return label
}

func (w *adviceText) verified(im record.Implementation) {
	again := fmt.Sprintf("benchrun verify --component %s --impl %s", im.Component, im.Name)
	if im.Verified != record.VerifyPassed {
		w.say("  verified", "not in this run: "+again)
		return
	}
	says := fmt.Sprintf("%d cases of its suite passed in this run, on fewer histories than %s tries",
		im.CasesPassed, again)
	var waived []string
	for _, waiver := range im.Waivers {
		waived = append(waived, waiver.Clause)
	}
	if len(waived) > 0 {
		says += "; waived: " + strings.Join(waived, ", ")
	}
	w.say("  verified", says)
}

// code writes the lines that put an implementation in. They are not broken, so that they can
// be copied.
func (w *adviceText) code(c contract.Component, impl string) {
	for _, l := range linesOf[string(c)+"/"+impl] {
		fmt.Fprintf(w, "  code for %s\n    import %q\n    %s\n", l.program, modulePath+l.imports, l.code)
	}
}

// say writes sentences beside a label, each on lines of its own.
func (w *adviceText) say(label string, sentences ...string) {
	if len(sentences) == 0 {
		fmt.Fprintln(w, label)
	}
	for _, s := range sentences {
		if blank, rest, ok := strings.Cut(label, "\n"); ok {
			fmt.Fprintln(w, blank)
			label = rest
		}
		wrapped := text.WrapSoft(report.VisibleLine(s), max(20, w.width-labelWidth))
		for line := range strings.SplitSeq(wrapped, "\n") {
			fmt.Fprintf(w, "%-*s%s\n", labelWidth, label, strings.TrimRight(line, " "))
			label = ""
		}
	}
}

// putIn are the two lines that put an implementation into a kind of program.
type putIn struct {
	program string // and what the import replaces
	imports string // below this module
	code    string
}

// What puts several implementations in. A test compiles all of it.
var (
	ourFactory = putIn{"client-go; was k8s.io/client-go/informers", "/informer/informers",
		"factory := informers.NewSharedInformerFactory(client, resync)"}
	ourInManager = putIn{"controller-runtime, in manager.Options.Cache", "/informer",
		"cache.Options{NewInformer: informer.NewSharedIndexInformer}"}
	ourQueue = putIn{"client-go; was k8s.io/client-go/util/workqueue", "/dropin/workqueue",
		"queue := workqueue.NewTypedRateLimitingQueue(limiter)"}
)

// ourObjects puts a way to keep objects under the caches of a program.
func ourObjects(name string) putIn {
	return putIn{"controller-runtime, in manager.Options.Cache", "/objects/" + name,
		"cache.Options{NewInformer: informer.Func(informer.Options{Objects: " + name + ".New(" + name +
			".Options{})})}"}
}

// linesOf has the lines of implementations, by component/name.
var linesOf = map[string][]putIn{
	"store/lockfree": {{"client-go; was k8s.io/client-go/tools/cache", "/dropin/cache",
		"store := cache.NewIndexer(keyFunc, indexers)"}, ourInManager},
	"fifo/coalescing": {{"client-go; was k8s.io/client-go/tools/cache", "/dropin/cache",
		"fifo := cache.NewDeltaFIFOWithOptions(options)"}},
	"fifo/inorder-atomic":    {ourFactory, ourInManager},
	"informer/informerbench": {ourFactory, ourInManager},
	"objects/plain":          {ourFactory, ourInManager},
	"objects/interned":       {ourObjects("interned")},
	"objects/packed":         {ourObjects("packed")},
	"delay/quadheap":         {ourQueue},
	"queue/workqueue":        {ourQueue},
	"queue/priority": {{"controller-runtime, in each controller", "/dropin/ctrlqueue",
		"controller.Options{NewQueue: ctrlqueue.New[reconcile.Request]}"},
		{"was sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue", "/dropin/priorityqueue",
			"queue := priorityqueue.New[string](name)"}},
}
