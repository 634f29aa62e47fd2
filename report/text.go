package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// WriteText writes a run for a terminal: for each workload the comparisons with the
// reference, then what concerns all of them, and at last the answer. Control
// characters in the record's strings are shown as escapes.
func (rep *Report) WriteText(out io.Writer, to Terminal) error {
	w := &writer{w: out}
	r, groups := rep.Run, rep.Groups
	all := generalNotes(groups)
	disturbed, _ := compare.Disturbance(r)
	disturbed = to.wrapped(to.painted(stats.Worse, disturbed))
	if disturbed != "" {
		w.printf("%s\n\n", disturbed)
	}
	for _, g := range groups {
		notes := notesOf(g, all)
		t := to.comparison(r, g, notes)
		forTerminal(t, g.Title)
		w.printf("%s\n%s\n", t.Render(), to.wrapped(notes.text()+linesOf(percentileNotes(g))))
	}
	if to.columns() == everyColumn {
		writeContentionText(w, groups)
	}
	for _, text := range slices.Sorted(maps.Keys(all)) {
		w.printf("%s\n", to.wrapped("most numbers: "+indented(text)))
	}
	for i, warning := range compare.RunWarnings(r) {
		if i > 0 || disturbed == "" {
			w.printf("%s\n", to.wrapped("warning: "+indented(warning)))
		}
	}
	if to.columns() == everyColumn {
		w.printf("%s\n", legend(r))
	} else {
		w.printf("%s\n", to.wrapped(shortLegend(r)))
	}
	if len(rep.Answers) > 0 {
		w.printf("\n%s\n", to.wrapped(
			"What to use instead of the reference (0.5x: half of its numbers, on average)"))
	}
	if disturbed != "" { // again, for this is the end that a terminal shows
		w.printf("%s\n", disturbed)
	}
	for _, a := range rep.Answers {
		w.printf("%s\n", to.answer(a, loadOf(r, a.Component)))
	}
	return w.err
}

func forTerminal(t table.Writer, title string) {
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.SetTitle("%s", title)
}

// line is one implementation's number in a row, and its comparison with the reference.
type line struct {
	series, metric, impl string
	median               string
	against              *compare.Comparison // nil for the reference, and for what was not measured
	effect, verdict      string
	noise, finds         string
}

// block lays out a row of a group: a line for each implementation. Without medians only the
// reference's is shown, and has footnotes.
func block(r *record.Run, g compare.Group, row compare.Row, notes *footnotes,
	medians bool) (lines []line) {
	for _, c := range g.Cells {
		if c.Role != "" {
			continue
		}
		l := line{series: cmp.Or(row.Series, compare.ProcessSeries), metric: Heading(row.Metric),
			impl: c.Label(), median: "not supported", noise: percent(row.Floor)}
		if len(r.Measured(c)) == 0 {
			l.median = "not measured"
		}
		for _, v := range row.Values {
			if v.Impl != c.Label() {
				continue
			}
			if l.median = interval(row.Metric, v.Estimate); medians || v.Against == nil {
				l.median += notes.mark(v.Estimate.Warnings)
			}
			if a := v.Against; a != nil {
				l.against, l.effect, l.verdict, l.finds = a, effect(a)+notes.mark(a.Warnings), verdict(a),
					factor(a.Detectable)
			}
		}
		lines = append(lines, l)
	}
	return lines
}

// percent formats a relative difference; "" if it is not known.
func percent(relative float64) string {
	switch {
	case relative <= 0:
		return ""
	case relative == stats.FromZero:
		return "from 0"
	}
	return fmt.Sprintf("±%.3g%%", 100*relative)
}

// factor formats the smallest detectable difference, in either direction, as a ratio.
func factor(relative float64) string {
	if relative <= 0 {
		return ""
	}
	return fmt.Sprintf("%.3gx", 1+relative)
}

// footnotes carries warnings with the numbers that they taint: a letter beside
// the number, the text below the table.
type footnotes struct {
	notes   []footnote
	general map[string]bool // of most numbers, which have no letter
	here    []string        // those that are general in this table alone
}

// footnote is a warning, and in how many forks of a number it was given.
type footnote struct {
	text        string
	least, most int // 0 if it does not say
	of          string
}

// inForks ends a warning that was counted over forks.
var inForks = regexp.MustCompile(` \((\d+) of (\d+) forks\)$`)

// footnoteOf is the note of one warning.
func footnoteOf(warning string) footnote {
	n := footnote{text: warning}
	if m := inForks.FindStringSubmatch(warning); m != nil {
		n.text, n.of = strings.TrimSuffix(warning, m[0]), m[2]
		n.least, _ = strconv.Atoi(m[1]) // digits; too many are 0
		n.most = n.least
	}
	return n
}

func (n footnote) String() string {
	switch {
	case n.most == 0:
		return n.text
	case n.least == n.most:
		return fmt.Sprintf("%s (%d of %s forks)", n.text, n.most, n.of)
	}
	return fmt.Sprintf("%s (%d to %d of %s forks)", n.text, n.least, n.most, n.of)
}

// notesOf are the footnotes of a group's table. general are those of most numbers of the run.
func notesOf(g compare.Group, general map[string]bool) *footnotes {
	f := &footnotes{general: map[string]bool{}}
	maps.Copy(f.general, general)
	for _, text := range slices.Sorted(maps.Keys(generalNotes([]compare.Group{g}))) {
		if !general[text] {
			f.general[text], f.here = true, append(f.here, text)
		}
	}
	return f
}

// mark returns the letters of the warnings, " (a)(c)".
func (f *footnotes) mark(warnings []string) string {
	out := ""
	for _, w := range warnings {
		n := footnoteOf(w)
		if f.general[n.text] {
			continue
		}
		at := slices.IndexFunc(f.notes, func(o footnote) bool {
			return o.text == n.text && o.of == n.of
		})
		if at < 0 {
			at, f.notes = len(f.notes), append(f.notes, n)
		}
		same := &f.notes[at]
		same.least, same.most = min(same.least, n.least), max(same.most, n.most)
		out += "(" + letter(at) + ")"
	}
	if out != "" {
		out = " " + out
	}
	return out
}

// generalNotes are the warnings of more than half of the key numbers of some groups, without
// their counts. They are said once, since a letter beside each number says nothing.
func generalNotes(groups []compare.Group) map[string]bool {
	numbers, count := 0, map[string]int{}
	for _, g := range groups {
		for _, row := range keyRows(g) {
			for _, v := range row.Values {
				numbers++
				for _, w := range v.Estimate.Warnings {
					count[footnoteOf(w).text]++
				}
			}
		}
	}
	maps.DeleteFunc(count, func(_ string, n int) bool {
		return numbers < fewestForGeneral || 2*n <= numbers
	})
	out := map[string]bool{}
	for w := range count {
		out[w] = true
	}
	return out
}

// fewestForGeneral is the number of key numbers from which on letters are too many.
const fewestForGeneral = 8

// letter counts a, b, ... z, aa, ab, ...
func letter(i int) string {
	if i < 26 {
		return string(rune('a' + i))
	}
	return letter(i/26-1) + letter(i%26)
}

// text lists the notes, a line each.
func (f *footnotes) text() string { return linesOf(f.list()) }

// linesOf gives each text a line of its own.
func linesOf(texts []string) string {
	var b strings.Builder
	for _, t := range texts {
		b.WriteString(indented(t) + "\n")
	}
	return b.String()
}

// list is the notes with their letters, behind those of most numbers of the table.
func (f *footnotes) list() (out []string) {
	for _, text := range f.here {
		out = append(out, "most numbers of this table: "+text)
	}
	for i, n := range f.notes {
		out = append(out, fmt.Sprintf("(%s) %s", letter(i), n))
	}
	return out
}

// indented indents the lines of a text, so that none passes for a line of the report.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }

// legend explains the columns; it says how many forks are behind a number.
func legend(r *record.Run) string {
	forks := fmt.Sprintf("%d forks", r.Settings.Forks)
	if len(r.Looks) > 0 {
		forks = fmt.Sprintf("%d forks and more (--budget %s)", r.Settings.Forks, r.Settings.Budget)
	}
	lines := []string{
		fmt.Sprintf("Medians over %s, each a process of its own, with their %.0f%% interval; 0.90x is "+
			"0.90 of the first implementation's, with the interval of the ratio.", forks,
			100*stats.Confidence),
		ruleText(r.Settings.Rule),
	}
	if slices.ContainsFunc(r.Forks, tookTurns) {
		lines = append(lines, fmt.Sprintf(
			"Operations of stores, FIFOs, heaps and queues took turns with the reference in each "+
				"process: their ratios are geometric means over at least %d forks, with the interval and "+
				"the test of Student's t. Their ns/op has no garbage collection in it; gc-ns/op is what "+
				"that costs.", stats.FewestDuets))
	}
	if why, none := strings.CutPrefix(r.Environment.HardwareCounters, "none: "); none {
		lines = append(lines, fmt.Sprintf("No %s: this machine has no counters for them (%s).",
			strings.Join(sysinfo.HardwareNames[:], ", "), why))
	}
	if r.Settings.Budget > 0 {
		lines = append(lines, "Forks were added to what was inconclusive; each such look is charged: "+
			"the first verdict asks for q <= alpha/2, each further one for half of that, which adds up "+
			"to alpha however often one looks.")
	}
	if r.Settings.Forks < stats.FewestForks {
		lines = append(lines, fmt.Sprintf(
			"Fewer than %d forks: the intervals are the range of the values, and hold less often than "+
				"they say.", stats.FewestForks))
	}
	return strings.Join(lines, "\n")
}

// shortLegend explains what a narrow terminal shows.
func shortLegend(r *record.Run) string {
	legend := fmt.Sprintf(
		"0.5x is half of the first implementation's number, with the %.0f%% interval.",
		100*stats.Confidence)
	if slices.ContainsFunc(r.Forks, tookTurns) {
		legend += " It comes from turns within each process and need not be the quotient of the " +
			"medians, which are from different ones."
	}
	return legend + fmt.Sprintf(" The rest stands in %s, or here with --wide.", MarkdownFile)
}

func tookTurns(f record.Fork) bool {
	return slices.ContainsFunc(f.Series, func(s record.Series) bool { return s.Duet != nil })
}

// ruleText explains verdicts.
func ruleText(rule stats.Rule) string {
	return strings.Join([]string{
		fmt.Sprintf("better, worse: the whole interval lies beyond %.0f%% and beyond the noise (the "+
			"same code against itself), and the Mann-Whitney test has q <= %g, where", 100*rule.Threshold,
			rule.Alpha),
		"q is p corrected for the number of verdicts given here (Benjamini and Hochberg 1995): where " +
			"nothing differs, the chance of any false better or worse is at most that.",
		fmt.Sprintf("same: the whole interval lies within %.0f%%, or within what stands beside it. "+
			"inconclusive: neither is shown; in brackets how many more forks (--forks, --budget) would "+
			"settle it, if more forks can.", 100*rule.Equivalence),
		fmt.Sprintf("finds: the smallest ratio (or its inverse) that this number of forks, with this "+
			"noise, finds %.0f times in 100; empty where they find none.", 100*stats.Power),
	}, "\n")
}
