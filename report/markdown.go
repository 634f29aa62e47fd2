package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// writer keeps the first error, so that the calls need no error checks.
type writer struct {
	w   io.Writer
	err error
}

func (w *writer) printf(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.w, format, args...)
	}
}

// WriteMarkdown writes the whole report. All strings of the record are shown as text.
func (rep *Report) WriteMarkdown(out io.Writer) error {
	w := &writer{w: out}
	r, code, groups := rep.markdown.Run, rep.Run, rep.markdown.Groups
	w.printf("# benchrun %s: %s\n\n", r.Preset, r.Name)
	w.printf("%s\n\n", codeSpan(strings.Join(code.MadeBy(), " ")))
	writeState(w, r)
	writeChecks(w, r)
	w.printf("## Results\n\n%s\n\n", markdownLines(legend(r)))
	for _, g := range groups {
		writeGroup(w, r, g)
	}
	writeContention(w, groups)
	writeScaling(w, rep.markdown.Scalings)
	writeImplementations(w, r, code)
	writeEnvironment(w, r)
	writeProfiles(w, code)
	writeWorkloads(w, r, code)
	return w.err
}

// writeProfiles says how to look at the cells' profiles. code is the record that is not
// escaped.
func writeProfiles(w *writer, code *record.Run) {
	var commands []string
	for _, f := range code.Forks {
		if len(f.Profiles) > 0 {
			commands = append(commands, profileCommands(&profiledCell{cell: f.Cell}, nil)[0].Command)
		}
	}
	if len(commands) == 0 {
		return
	}
	w.printf("## Where the time goes\n\n`report.html` has each cell's flame graphs, of CPU time "+
		"and of allocated bytes, and their differences to the reference. "+
		"pprof opens the same CPU profiles. Beside each lie heap, allocs, mutex and block.\n\n%s\n\n",
		codeBlock("", "sh", strings.Join(commands, "\n")))
}

// writeWorkloads writes each workload's YAML, from code, the record that is not escaped.
func writeWorkloads(w *writer, r, code *record.Run) {
	w.printf("## Workloads\n\n")
	for i, wl := range r.Workloads {
		w.printf("<details><summary>%s (%s)</summary>\n\n%s\n</details>\n\n", wl.Name, wl.Source,
			codeBlock("", "yaml", code.Workloads[i].YAML))
	}
}

// leftOut names what was not measured because an implementation lacks it.
func leftOut(r *record.Run) []string {
	seen := map[string]bool{}
	for _, f := range r.Forks {
		for _, x := range f.Unsupported {
			seen[fmt.Sprintf("%s: %s", f.Cell.ID(), x)] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// writeState writes the conditions that taint every number. Those that taint single numbers
// stand beside them.
func writeState(w *writer, r *record.Run) {
	if warnings := compare.RunWarnings(r); len(warnings) > 0 {
		w.printf("**Warnings**\n\n")
		for _, x := range warnings {
			w.printf("- %s\n", item(x))
		}
		w.printf("\n")
	}
	if left := leftOut(r); len(left) > 0 {
		w.printf("**Left out**\n\n")
		for _, x := range left {
			w.printf("- %s\n", item(x))
		}
		w.printf("\n")
	}
}

func writeChecks(w *writer, r *record.Run) {
	if len(r.Checks) == 0 {
		return
	}
	w.printf("## Checks\n\n")
	t := table.NewWriter()
	t.AppendHeader(table.Row{"check", "outcome", "detail"})
	for _, c := range r.Checks {
		outcome := "passed"
		if !c.Passed {
			outcome = "**failed**"
		}
		t.AppendRow(table.Row{c.Name, outcome, c.Detail})
	}
	w.printf("%s\n\n", t.RenderMarkdown())
}

// writeGroup writes a comparison of the key metrics, then every number with its interval.
func writeGroup(w *writer, r *record.Run, g compare.Group) {
	w.printf("### %s\n\n", g.Title)
	notes := notesOf(g, nil)
	w.printf("%s\n\n%s\n", everything.comparison(r, g, notes).RenderMarkdown(),
		markdownLines(notes.text()+linesOf(percentileNotes(g))))
	notes = &footnotes{}
	all := everyNumber(g, func(metric string, e stats.Estimate) string {
		text := interval(metric, e)
		if e.Outliers > 0 {
			text += fmt.Sprintf(" (%d outliers)", e.Outliers)
		}
		return text + notes.mark(e.Warnings)
	})
	t := table.NewWriter()
	t.AppendHeader(rowOf(all.Header))
	for _, cells := range all.Cells {
		t.AppendRow(rowOf(cells))
	}
	w.printf("<details><summary>every number, median [interval]</summary>\n\n%s\n\n%s\n</details>\n\n",
		t.RenderMarkdown(), markdownLines(notes.text()))
}

func rowOf(cells []string) (row table.Row) {
	for _, c := range cells {
		row = append(row, c)
	}
	return row
}

// markdownLines keeps lines apart that Markdown would join.
func markdownLines(text string) string { return strings.ReplaceAll(text, "\n", "  \n") }

// writeImplementations writes the outcome of each suite. The output of a failed suite is
// from code, the record that is not escaped.
func writeImplementations(w *writer, r, code *record.Run) {
	w.printf("## Implementations\n\n")
	t := table.NewWriter()
	t.AppendHeader(table.Row{"component", "name", "from", "what it is", "guarantees", "conformance"})
	for _, im := range r.Impls {
		verified := im.Verified
		if im.CasesPassed > 0 {
			verified += fmt.Sprintf(" (%d cases, seed %d)", im.CasesPassed, im.Seed)
		}
		t.AppendRow(table.Row{im.Component, im.Name, im.Module, im.Description, im.Guarantees, verified})
	}
	w.printf("%s\n\n", t.RenderMarkdown())
	for i, im := range r.Impls {
		for _, wv := range im.Waivers {
			w.printf("- %s/%s: clause %s is waived: %s\n", item(im.Component), im.Name, wv.Clause, wv.Reason)
		}
		for _, f := range code.Impls[i].Failures {
			w.printf("- **%s/%s failed its suite and was not measured:**\n\n%s\n", im.Component, im.Name,
				codeBlock("  ", "", f))
		}
	}
	w.printf("\n")
}

func writeEnvironment(w *writer, r *record.Run) {
	e := r.Environment
	w.printf("## Environment\n\n")
	t := table.NewWriter()
	t.AppendHeader(table.Row{"", ""})
	for _, kv := range [][2]string{
		{"CPU", fmt.Sprintf("%s, %d cores (%s)", e.CPU, e.Cores, e.CacheKB)},
		{"frequency", fmt.Sprintf("%.0f MHz before, %.0f MHz after, governor %s, boost %s", e.MHzBefore,
			e.MHzAfter, orUnknown(e.Governor), orUnknown(e.Boost))},
		{"hardware counters", orUnknown(e.HardwareCounters)},
		{"processors kept awake", orUnknown(e.Awake)},
		{"memory", fmt.Sprintf("%d MB, %d MB swapped out before, %d MB after; transparent huge pages: %s",
			e.MemoryMB, e.SwapMBBefore, e.SwapMBAfter, orUnknown(e.HugePages))},
		{"container", limits(e)},
		{"system", fmt.Sprintf("%s/%s %s %s", e.OS, e.Arch, e.Kernel, e.Virtualisation)},
		{"Go", fmt.Sprintf("%s GOGC=%s GOMEMLIMIT=%s", e.GoVersion, orDefault(e.GOGC),
			orDefault(e.GOMEMLIMIT))},
		{"load", fmt.Sprintf("%.2f before, %.2f in the median during, %.2f at most, %.2f after",
			e.LoadBefore, e.LoadMedian, e.LoadMax, e.LoadAfter)},
		{"taken by others", fmt.Sprintf(
			"%.1f%% by the hypervisor; by other processes %.1f%% during the median fork, %.1f%% at most",
			e.StealPercent, e.OthersMedian, e.OthersMax)},
		{"commit", orDefault(e.Revision)},
		{"started", r.Started.UTC().Format(time.DateTime) + " UTC" + took(r)},
		{"settings", fmt.Sprintf("%d forks, seed %d", r.Settings.Forks, r.Settings.Seed)},
	} {
		t.AppendRow(table.Row{kv[0], kv[1]})
	}
	if n := len(r.Shards); n > 0 {
		t.AppendRow(table.Row{"joined from",
			fmt.Sprintf("%d shards on %d machines of this class; load and what others took are the worst "+
				"of any", n, len(r.Machines()))})
	}
	for _, m := range slices.Sorted(maps.Keys(e.Modules)) {
		t.AppendRow(table.Row{m, e.Modules[m]})
	}
	w.printf("%s\n\n", t.RenderMarkdown())
}

// took is the run's duration, "" if it was killed before it recorded one.
func took(r *record.Run) string {
	if r.Finished.IsZero() {
		return ""
	}
	return ", took " + r.Finished.Sub(r.Started).Round(time.Second).String()
}

// limits are those of the control groups.
func limits(e sysinfo.Environment) string {
	var out []string
	if e.CgroupCPUs > 0 {
		out = append(out, fmt.Sprintf("%.3g CPUs", e.CgroupCPUs))
	}
	if e.CgroupMemoryMB > 0 {
		out = append(out, fmt.Sprintf("%d MB", e.CgroupMemoryMB))
	}
	return cmp.Or(strings.Join(out, ", "), "no limits")
}

func orUnknown(s string) string { return cmp.Or(s, "unknown") }

func orDefault(s string) string { return cmp.Or(s, "default") }
