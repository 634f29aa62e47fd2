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

	"github.com/informerbench/informerbench/measure"
)

// writer remembers the first error, so that a report reads like the page it makes.
type writer struct {
	w   io.Writer
	err error
}

func (w *writer) printf(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.w, format, args...)
	}
}

// WriteMarkdown writes the whole report. top is the profiles' symbolised list,
// "" if the run took none.
func WriteMarkdown(out io.Writer, r *measure.Run, top string) error {
	w := &writer{w: out}
	w.printf("# benchrun %s: %s\n\n", r.Preset, r.Name)
	w.printf("`%s`\n\n", strings.Join(r.Command, " "))
	writeState(w, r)
	writeChecks(w, r)
	w.printf("## Results\n\n%s\n\n", legend(r))
	for _, g := range Groups(r) {
		writeGroup(w, r, g)
	}
	writeImplementations(w, r)
	writeLocks(w, r)
	writeEnvironment(w, r)
	if top != "" {
		w.printf("## Where the time went\n\nThe CPU profiles of the extra forks, merged (`profiles/`, for `go tool pprof`).\n\n```\n%s\n```\n\n", strings.TrimSpace(top))
	}
	w.printf("## Workloads\n\n")
	for _, wl := range r.Workloads {
		w.printf("<details><summary>%s (%s)</summary>\n\n```yaml\n%s```\n</details>\n\n", wl.Name, wl.Source, wl.YAML)
	}
	return w.err
}

// writeState says what a reader must know before trusting a number.
func writeState(w *writer, r *measure.Run) {
	if !r.Complete {
		w.printf("> **Interrupted**: %d forks were measured; `benchrun run --resume` with this folder goes on.\n\n", len(r.Forks))
	}
	if r.Settings.SkipVerify {
		w.printf("> **Not verified** (`--skip-verify`): the conformance suites were not run; a number below may be that of a broken implementation.\n\n")
	}
	warnings := slices.Clone(r.Warnings)
	warnings = append(warnings, r.Environment.Warnings()...)
	seen := map[string]int{}
	for _, f := range r.Forks {
		for _, x := range f.Warnings {
			seen[fmt.Sprintf("%s: %s", f.Cell.ID(), x)]++
		}
	}
	for _, k := range slices.Sorted(maps.Keys(seen)) {
		warnings = append(warnings, fmt.Sprintf("%s (%d forks)", k, seen[k]))
	}
	if len(warnings) > 0 {
		w.printf("**Warnings**\n\n")
		for _, x := range warnings {
			w.printf("- %s\n", x)
		}
		w.printf("\n")
	}
}

func writeChecks(w *writer, r *measure.Run) {
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

// writeGroup writes a comparison of the important metrics, then every number
// with its interval.
func writeGroup(w *writer, r *measure.Run, g Group) {
	w.printf("### %s\n\n", g.Title)
	w.printf("%s\n\n", comparison(r, g, func(row Row) bool { return slices.Contains(keyMetrics, row.Metric) && worthShort(g, row) }).RenderMarkdown())
	t := table.NewWriter()
	header := table.Row{"series", "metric"}
	for _, c := range g.Cells {
		header = append(header, c.Label())
	}
	t.AppendHeader(header)
	for _, row := range g.Rows {
		cells := table.Row{cmp.Or(row.Series, processSeries), row.Metric}
		for _, c := range g.Cells {
			text := ""
			for _, v := range row.Values {
				if v.Impl == c.Label() {
					text = interval(row.Metric, v.Estimate)
					if v.Estimate.Outliers > 0 {
						text += fmt.Sprintf(" (%d outliers)", v.Estimate.Outliers)
					}
				}
			}
			cells = append(cells, text)
		}
		t.AppendRow(cells)
	}
	w.printf("<details><summary>every number, median [interval]</summary>\n\n%s\n\n</details>\n\n", t.RenderMarkdown())
}

func writeImplementations(w *writer, r *measure.Run) {
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
	for _, im := range r.Impls {
		for _, wv := range im.Waivers {
			w.printf("- %s/%s: clause %s is waived: %s\n", im.Component, im.Name, wv.Clause, wv.Reason)
		}
		for _, f := range im.Failures {
			w.printf("- **%s/%s failed its suite and was not measured:** %s\n", im.Component, im.Name, strings.ReplaceAll(f, "\n", "\n  "))
		}
	}
	w.printf("\n")
}

func writeEnvironment(w *writer, r *measure.Run) {
	e := r.Environment
	w.printf("## Environment\n\n")
	t := table.NewWriter()
	t.AppendHeader(table.Row{"", ""})
	for _, kv := range [][2]string{
		{"CPU", fmt.Sprintf("%s, %d cores (%s)", e.CPU, e.Cores, e.CacheKB)},
		{"memory", fmt.Sprintf("%d MB", e.MemoryMB)},
		{"system", fmt.Sprintf("%s/%s %s %s", e.OS, e.Arch, e.Kernel, e.Virtualisation)},
		{"Go", fmt.Sprintf("%s GOGC=%s GOMEMLIMIT=%s", e.GoVersion, orDefault(e.GOGC), orDefault(e.GOMEMLIMIT))},
		{"load", fmt.Sprintf("%.2f before, %.2f after, %.1f%% stolen by the hypervisor", e.LoadBefore, e.LoadAfter, e.StealPercent)},
		{"commit", orDefault(e.Revision)},
		{"started", r.Started.UTC().Format(time.DateTime) + " UTC" + took(r)},
		{"settings", fmt.Sprintf("%d forks, seed %d", r.Settings.Forks, r.Settings.Seed)},
	} {
		t.AppendRow(table.Row{kv[0], kv[1]})
	}
	for _, m := range slices.Sorted(maps.Keys(e.Modules)) {
		t.AppendRow(table.Row{m, e.Modules[m]})
	}
	w.printf("%s\n\n", t.RenderMarkdown())
}

// took says how long the run took, unless it was killed before it could tell.
func took(r *measure.Run) string {
	if r.Finished.IsZero() {
		return ""
	}
	return ", took " + r.Finished.Sub(r.Started).Round(time.Second).String()
}

func orDefault(s string) string {
	if s == "" {
		return "default"
	}
	return s
}
