package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // the page's template, style sheet and script
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

var (
	//go:embed page.gotmpl
	pageText string
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	pageScript string

	// The page has one style sheet and one script, which the policy allows by their hashes.
	style  = pageStyle + flameStyle
	script = pageScript + flameScript

	pageTemplate = template.Must(
		template.Must(template.New(HTMLFile).Parse(pageText)).Parse(flameText))
)

// policy is the page's Content-Security-Policy. It allows the page's one style sheet and its
// one script, by their hashes, and embedded pictures. Another script that got into the page
// would not run.
func policy() string {
	return fmt.Sprintf(
		"default-src 'none'; style-src '%s'; script-src '%s'; img-src data:; base-uri 'none'; "+
			"form-action 'none'", hashOf(style), hashOf(script))
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// frame is what the pages of a run and of two runs have alike. Its strings are shown as text:
// html/template escapes them.
type frame struct {
	Policy     string
	Style      template.CSS
	Script     template.JS
	Title      string
	Command    string
	Warnings   []string
	Left       []string // what was left out
	Components []string
	Impls      []string // those measured
	Verdicts   []stats.Verdict
	Legend     []string
	Latencies  []latency
	Flames     *flames // nil if no cell has a profile
	tallied
}

// tallied counts verdicts, and how far the same code lay apart.
type tallied struct {
	Counts             []count
	Judged             int
	NoiseMedian, Noise string // in the median, at most; "" if it was not measured
}

func newFrame(title, command, legend string) frame {
	return frame{
		Policy: policy(), Style: template.CSS(style), Script: template.JS(script), //nolint:gosec // ours
		Title: title, Command: command, Legend: strings.Split(legend, "\n"),
	}
}

// name lists a component and an implementation for the filter.
func (f *frame) name(component, impl string) {
	f.Components, f.Impls = withName(f.Components, component), withName(f.Impls, impl)
}

func withName(names []string, name string) []string {
	if name == "" || slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

// tally counts verdicts in the order given. floors below 0 are of what was not measured.
func tally(judged []*compare.Comparison, order []stats.Verdict, floors []float64) (t tallied) {
	t.Judged = len(judged)
	for _, v := range order {
		n := 0
		for _, c := range judged {
			if c.Verdict == v {
				n++
			}
		}
		if n > 0 {
			t.Counts = append(t.Counts, count{v, n})
		}
	}
	floors = slices.DeleteFunc(floors, func(f float64) bool { return f < 0 })
	if len(floors) > 0 {
		t.NoiseMedian, t.Noise = shareText(stats.MedianOf(floors)), shareText(slices.Max(floors))
	}
	return t
}

// ownIDs are what the templates name themselves.
func ownIDs(names ...string) anchors {
	ids := anchors{}
	for _, own := range append(names, "trust", "results", "results-title", "filter", "shown",
		"latency", "latency-title", "profiles", "profiles-title", "flame-tools", "flame-data",
		"reading") {
		ids.of(own)
	}
	return ids
}

// execute runs a template, and writes a whole page or nothing.
func execute(w io.Writer, t *template.Template, page any) error {
	var text bytes.Buffer
	if err := t.Execute(&text, page); err != nil {
		return fmt.Errorf("rendering %s: %w", t.Name(), err)
	}
	_, err := w.Write(text.Bytes())
	return err
}

// page is what the template shows of a run.
type page struct {
	frame
	Disturbed    string // said first, "" if it was not
	Answers      []pageAnswer
	Trust        trust
	Groups       []pageGroup
	Confidence   string // of the intervals
	Parts        []part
	HasReference bool // something is compared
}

// pageGroup is a table: a workload at one value of its sweep.
type pageGroup struct {
	ID, Title, Component string
	Reference            string
	Axis                 axis
	Rows                 []pageRow
	Notes                []string
	Numbers              numbers // every number, or those without a verdict
}

// pageRow is a key metric of an operation, of all implementations.
type pageRow struct {
	ID, Operation, Metric, Help string
	Lines                       []pageLine
	Noise, Harness              string
	strips
	Profiles []flameLink
}

// pageLine is one implementation in a row.
type pageLine struct {
	Impl, Median, Effect string
	Verdict              stats.Verdict // "" for the reference and for what was not measured
	Text                 string        // of the verdict
	Mark                 *mark
	Again                string  // the command that measures it again
	Order                float64 // the ratio, for sorting
}

// numbers is a plain table.
type numbers struct {
	Header []string
	Cells  [][]string
}

// part is a section that report.md has as well.
type part struct {
	ID, Title string
	Body      template.HTML
}

// trust is what the numbers rest on.
type trust struct {
	Passed, Checked    int
	Failed             []string
	Machine, Disturbed string
	Forks              string
}

type count struct {
	Verdict stats.Verdict
	N       int
}

// WriteHTML writes the report as one page that opens offline.
func (rep *Report) WriteHTML(out io.Writer) error {
	r, groups := rep.Run, rep.Groups
	ids, rowOf := ownIDs("answer", "answer-title"), map[*compare.Comparison]string{}
	parts, err := rep.parts(ids)
	if err != nil {
		return err
	}
	p := page{
		frame: newFrame(r.Preset+" "+r.Name, commandLine(r.MadeBy()), legend(r)), Trust: trustOf(r),
		Parts: parts, Confidence: fmt.Sprintf("%.0f%%", 100*stats.Confidence),
	}
	p.Warnings, p.Left = compare.RunWarnings(r), leftOut(r)
	if p.Disturbed, _ = compare.Disturbance(r); p.Disturbed != "" {
		p.Warnings = p.Warnings[1:]
	}
	general := generalNotes(groups)
	for _, text := range slices.Sorted(maps.Keys(general)) {
		p.Warnings = append(p.Warnings, "most numbers: "+text)
	}
	p.Verdicts = []stats.Verdict{stats.Better, stats.Worse, stats.Same, stats.Inconclusive}
	var floors []float64
	for _, g := range groups {
		for _, row := range keyRows(g) {
			floors = append(floors, row.Floor)
		}
	}
	p.tallied = tally(compare.Judged(groups), append(p.Verdicts, stats.NotComparable), floors)
	if p.Flames, err = flamesOf(r, groups, rep.Profiles, ids); err != nil {
		return err
	}
	for _, g := range groups {
		shown := groupOn(r, g, p.Flames, general, ids)
		p.Groups = append(p.Groups, shown)
		for _, c := range g.Cells {
			if c.Role == "" {
				p.name(shown.Component, c.Impl)
			}
		}
		latencies, err := latenciesOf(r, g, shown.Reference, ids)
		if err != nil {
			return err
		}
		p.Latencies = append(p.Latencies, latencies...)
	}
	for i, g := range groups {
		for j, row := range keyRows(g) {
			for _, v := range row.Values {
				rowOf[v.Against] = p.Groups[i].Rows[j].ID
			}
		}
	}
	for _, a := range rep.Answers {
		p.Answers = append(p.Answers, answerOn(a, ids, rowOf))
		p.Answers[len(p.Answers)-1].Load = loadOf(r, a.Component)
	}
	p.HasReference = p.Judged > 0
	return execute(out, pageTemplate, p)
}

// parts are the sections that the page takes from report.md.
func (rep *Report) parts(ids anchors) (parts []part, err error) {
	r, code := rep.markdown.Run, rep.Run
	for _, s := range []struct {
		id    string
		write func(*writer)
	}{
		{"loads", func(w *writer) { writeContention(w, rep.markdown.Groups) }},
		{"scaling", func(w *writer) { writeScaling(w, rep.markdown.Scalings) }},
		{"checks", func(w *writer) { writeChecks(w, r) }},
		{"implementations", func(w *writer) { writeImplementations(w, r, code) }},
		{"environment", func(w *writer) { writeEnvironment(w, r) }},
		{"workloads", func(w *writer) { writeWorkloads(w, r, code) }},
	} {
		var md bytes.Buffer
		w := &writer{w: &md}
		if s.write(w); w.err != nil {
			return nil, w.err
		}
		heading, text, any := bytes.Cut(md.Bytes(), []byte("\n"))
		if !any {
			continue
		}
		body, err := fragment(text, rep.pictures, place{ids.of(s.id), ids})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.id, err)
		}
		parts = append(parts, part{s.id, string(bytes.TrimPrefix(heading, []byte("## "))), body})
	}
	return parts, nil
}

func groupOn(r *record.Run, g compare.Group, f *flames, general map[string]bool,
	ids anchors) pageGroup {
	out := pageGroup{ID: ids.of(g.Title), Title: g.Title, Component: string(g.Cells[0].Component),
		Reference: r.ReferenceOf(g.Cells).Label()}
	out.Axis = axisOfGroup(g)
	var keys []string // of the cells' profiles
	for _, c := range g.Cells {
		keys = append(keys, c.ID())
	}
	notes := notesOf(g, general)
	for _, row := range keyRows(g) {
		out.Rows = append(out.Rows, rowOn(r, g, row, out, notes, ids))
		out.Rows[len(out.Rows)-1].Profiles = f.of(keys...)
	}
	out.Notes = slices.Concat(notes.list(), percentileNotes(g))
	out.Numbers = everyNumber(g, interval)
	return out
}

// keyRows are those with a verdict.
func keyRows(g compare.Group) []compare.Row {
	return slices.DeleteFunc(slices.Clone(g.Rows), func(row compare.Row) bool { return !row.Key })
}

func rowOn(r *record.Run, g compare.Group, row compare.Row, in pageGroup, notes *footnotes,
	ids anchors) pageRow {
	series := cmp.Or(row.Series, compare.ProcessSeries)
	out := pageRow{
		ID: ids.of(g.Title + " " + series + " " + row.Metric), Operation: series, Metric: Heading(row.Metric),
		Help: metrics.Of(row.Metric).Help, Noise: percent(row.Floor),
	}
	if row.Harness > 0 {
		out.Harness = duration(row.Harness)
	}
	for _, l := range block(r, g, row, notes, true) {
		shown := pageLine{Impl: l.impl, Median: l.median, Effect: l.effect}
		if a := l.against; a != nil && a.Ratio != nil {
			m := in.Axis.mark(l.impl, *a.Ratio, a.Verdict)
			shown.Mark, shown.Verdict, shown.Text, shown.Order = &m, a.Verdict, l.verdict, a.Ratio.Estimate
			shown.Again = again(r, in.Component, in.Reference, l.impl)
		}
		out.Lines = append(out.Lines, shown)
	}
	out.strips = forkStrips(r, g, row)
	return out
}

// everyNumber lists every metric of every implementation with its interval.
func everyNumber(g compare.Group, format func(metric string, e stats.Estimate) string) numbers {
	out := numbers{Header: []string{"series", "metric"}}
	for _, c := range g.Cells {
		out.Header = append(out.Header, c.Label())
	}
	for _, row := range g.Rows {
		cells := make([]string, len(out.Header))
		cells[0], cells[1] = cmp.Or(row.Series, compare.ProcessSeries), Heading(row.Metric)
		for _, v := range row.Values {
			cells[2+v.Cell] = format(row.Metric, v.Estimate)
		}
		out.Cells = append(out.Cells, cells)
	}
	return out
}

// trustOf sums up what the run's numbers rest on.
func trustOf(r *record.Run) trust {
	t := trust{Checked: len(r.Impls), Forks: fmt.Sprint(r.Settings.Forks)}
	if len(r.Looks) > 0 {
		t.Forks += " or more"
	}
	for _, im := range r.Impls {
		if im.Verified == record.VerifyPassed {
			t.Passed++
		} else {
			t.Failed = append(t.Failed, fmt.Sprintf("%s/%s: %s", im.Component, im.Name, im.Verified))
		}
	}
	e := r.Environment
	t.Machine = fmt.Sprintf("%s, %d cores, %s/%s, %s", e.CPU, e.Cores, e.OS, e.Arch, e.GoVersion)
	t.Disturbed = fmt.Sprintf(
		"other processes took %.1f%% of the processors in the median fork and %.1f%% at most, the "+
			"hypervisor %.1f%%", e.OthersMedian, e.OthersMax, e.StealPercent)
	return t
}

func shareText(relative float64) string {
	if relative >= stats.FromZero {
		return "from 0"
	}
	return PercentText(100 * relative)
}

// PercentText formats a percentage with two digits, or all of them if there are more.
func PercentText(v float64) string {
	if v >= 99.5 {
		return fmt.Sprintf("%.0f%%", v)
	}
	return fmt.Sprintf("%.2g%%", v)
}

// again is the command that measures an implementation and its reference again: the run's
// own, of these two alone. It is the run's own unchanged if that was no benchrun run.
func again(r *record.Run, component, reference, impl string) string {
	return narrowed(r.Command, "run", nil, component, reference+","+impl)
}

// narrowed is a command of benchrun for some implementations of one component, without the
// flags of its output and those given, each of which has a value. It is the command unchanged
// if that is of another kind.
func narrowed(command []string, kind string, without []string, component, impls string) string {
	if len(command) < 2 || command[1] != kind {
		return commandLine(command)
	}
	without = append([]string{"-o", "--output", "--resume", "--component", "--impl", "--shard",
		"--machine"}, without...)
	var kept []string
	for args := command; len(args) > 0; args = args[1:] {
		name, _, whole := strings.Cut(args[0], "=")
		if name == "--continue" || strings.HasPrefix(name, "-o") && len(name) > 2 {
			continue // a flag without a value, and -oFOLDER
		}
		if slices.Contains(without, name) {
			if !whole && len(args) > 1 {
				args = args[1:] // its value
			}
			continue
		}
		kept = append(kept, args[0])
	}
	return commandLine(append(kept, "--component", component, "--impl", impls))
}

// commandLine writes a command as one types it.
func commandLine(args []string) string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a
		if a == "" || strings.ContainsFunc(a, func(r rune) bool {
			return strings.ContainsRune(" \t\n'\"\\$`*?[]{}()<>|&;!#~", r)
		}) {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// anchors gives every table, row and picture of a page an id of its own, the same for the
// same run.
type anchors map[string]bool

func (used anchors) of(name string) string {
	id := strings.Trim(notInIDs.ReplaceAllString(strings.ToLower(name), "-"), "-")
	for n, base := 2, id; id == "" || used[id]; n++ {
		id = base + "-" + strconv.Itoa(n)
	}
	used[id] = true
	return id
}
