package advise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/report"
)

// Decision is what an advice asks for.
type Decision string

// The decisions.
const (
	Use     Decision = "use"
	Measure Decision = "measure"
)

// Advice is the advice for one component.
type Advice struct {
	Component contract.Component `json:"component"`
	Decision  Decision           `json:"decision"`
	// Use is the recommended implementation, of the catalog; "" if Decision is Measure.
	Use string `json:"use,omitempty"`
	// Rule is the rule that decided; "" for a run's own measurements.
	Rule string `json:"rule,omitempty"`
	// Because are the reasons, the strongest first. A run's own come without a page.
	Because []Reason `json:"because,omitempty"`
	// Price is what the recommendation costs.
	Price []Reason `json:"price,omitempty"`
	// Memory is what it keeps for each object, and for all of the load's.
	Memory *Reason `json:"memory,omitempty"`
	// Unless says when another implementation would be better.
	Unless *Reason `json:"unless,omitempty"`
	Code   []Code  `json:"code,omitempty"`
	// Unknown says why there is no recommendation.
	Unknown []string `json:"unknown,omitempty"`
	// Missing are the flags without which the rules cannot decide.
	Missing []string `json:"missing,omitempty"`
	// Silent says that the load has no number that matters to the component.
	Silent bool `json:"silent,omitempty"`
	// Commands measure the load where it is unknown, or other than that of the run, one after
	// the other.
	Commands []string `json:"commands,omitempty"`
	// Notes are what a reader should know beside the advice.
	Notes []string `json:"notes,omitempty"`
}

// Reason is a statement and where it comes from.
type Reason struct {
	Says    string `json:"says"`
	Record  string `json:"record,omitempty"`
	Source  string `json:"source,omitempty"`
	Page    string `json:"page,omitempty"`
	Section string `json:"section,omitempty"`
	Measure string `json:"measure,omitempty"` // the command that measures it again
}

// Code is the code that puts an implementation into a program.
type Code struct {
	Program Program  `json:"program"`
	Code    string   `json:"code,omitempty"` // "" if nothing changes
	Imports []string `json:"imports,omitempty"`
	Note    string   `json:"note,omitempty"`
}

func (e Evidence) reason() Reason {
	return Reason{Says: e.Text(), Record: e.Record, Source: e.Source, Page: e.Page, Section: e.Section,
		Measure: e.Measure}
}

// Question is what is asked of the table.
type Question struct {
	Load Load
	// Asked is the part of Load that does not come from Run: what flags and a trace say. The run
	// answers for each component with this over the heaviest load that it measured of that one.
	Asked Load
	// Run is a run whose measurements come before the rules; nil if there is none.
	Run *Run
	// Trace is the file of a trace that the load comes from; "" if there is none.
	Trace string
}

// Advise gives an advice for each component that a workload can be about, in their order. It
// recommends nothing that the catalog does not have.
func (t *Table) Advise(q Question) []Advice {
	var out []Advice
	for _, c := range load.Components() {
		out = append(out, t.adviseOn(c, q))
	}
	return out
}

func (t *Table) adviseOn(c contract.Component, q Question) Advice {
	a := t.byRules(c, q)
	if q.Run == nil {
		return a
	}
	own, notes, run := q.Run.advise(c, q)
	if own == nil {
		a.Notes = append(notes, a.Notes...)
		if len(a.Commands) == 0 {
			a.Commands = run
		}
		return a
	}
	if more := t.tooLarge(c, own.Use, q.Load); more != "" {
		return Advice{Component: c, Decision: Measure, Commands: commands(c, q), Unknown: []string{more},
			Notes: notes}
	}
	own.Code = t.code(c, own.Use)
	own.Notes = append(own.Notes, notes...)
	if a.Decision == Use && a.Use != own.Use {
		own.Notes = append(own.Notes,
			fmt.Sprintf("The rules, which rest on other runs, would say %s (%s).", a.Use, a.Rule))
	}
	return *own
}

// byRules is the advice of the first rule that holds.
func (t *Table) byRules(c contract.Component, q Question) Advice {
	var missing []string
	for _, r := range t.Of(c) {
		unmet, unknown := r.When.check(q.Load)
		switch {
		case len(unmet) > 0:
		case len(unknown) > 0:
			missing = append(missing, unknown...)
		case len(missing) > 0: // an earlier rule may hold
		default:
			return t.follow(r, q)
		}
	}
	a := Advice{Component: c, Decision: Measure, Commands: commands(c, q)}
	if len(missing) > 0 {
		a.Missing, a.Silent = unique(missing), t.silent(c, q.Load)
		a.Unknown = []string{
			"It depends on what the load leaves out: add " + strings.Join(a.Missing, ", ") + "."}
		return a
	}
	a.Unknown = t.outside(c, q.Load)
	return a
}

// follow is the advice of a rule that holds.
func (t *Table) follow(r Rule, q Question) Advice {
	if more := t.tooLarge(r.Component, r.Use, q.Load); more != "" {
		return Advice{Component: r.Component, Decision: Measure, Commands: commands(r.Component, q),
			Unknown: []string{more}}
	}
	a := Advice{Component: r.Component, Decision: Use, Use: r.Use, Rule: r.Name,
		Code: t.code(r.Component, r.Use)}
	for _, s := range t.statements(r) {
		reason := s.reason()
		if s.Bytes != nil {
			more, _ := s.Bytes.of(q.Load)
			reason.Says = strings.TrimSpace(reason.Says + " " + more)
		}
		switch s.label {
		case labelBecause:
			a.Because = append(a.Because, reason)
		case labelPrice:
			a.Price = append(a.Price, reason)
		case labelMemory:
			a.Memory = &reason
		case labelUnless:
			a.Unless = &reason
		}
	}
	return a
}

// tooLarge says that an implementation does not fit into the load's memory, by what the table knows
// of its size; "" if it does, or the table does not know.
func (t *Table) tooLarge(c contract.Component, impl string, l Load) string {
	if memory, known := t.Memory[implementation(c, impl)]; known {
		if more, fits := memory.Bytes.of(l); !fits {
			return more
		}
	}
	return ""
}

// of says what bytes per object come to under a load, and whether the memory has room for them.
func (b Bytes) of(l Load) (says string, fits bool) {
	objects, known := l.Numbers[Objects]
	if !known {
		return "", true
	}
	all, more, word := b.Own*objects, (b.Own-b.Reference)*objects, "more"
	if more < 0 {
		more, word = -more, "less"
	}
	if l.Memory > 0 && all >= float64(l.Memory) {
		return fmt.Sprintf(
			"%s objects take %s beside the objects themselves, and the limit is %s: that does not fit.",
			grouped(objects), humanize.IBytes(uint64(all)), humanize.IBytes(l.Memory)), false
	}
	says = fmt.Sprintf("That is %s %s for %s objects", humanize.IBytes(uint64(more)), word,
		grouped(objects))
	if l.Memory > 0 {
		says += fmt.Sprintf(", %s of %s", report.PercentText(100*more/float64(l.Memory)),
			humanize.IBytes(l.Memory))
	}
	return says + ".", true
}

// code returns the lines of an implementation. Where the table has none, the API's page has
// the constructor.
func (t *Table) code(c contract.Component, impl string) (out []Code) {
	lines := t.Lines[implementation(c, impl)]
	for _, p := range Programs() {
		l, have := lines[p]
		if !have {
			l.Note = "no line is kept for it: docs/api.md has the constructor"
		}
		out = append(out, Code{Program: p, Code: l.Code, Imports: l.Imports, Note: l.Note})
	}
	return out
}

// check returns the flags of what a load breaks of a condition, and of what it would have to say
// for the condition to be decided.
func (w Condition) check(l Load) (unmet []Dimension, unknown []string) {
	if len(w.Priorities) > 0 && !slices.Contains(w.Priorities, l.Priorities) {
		unmet = append(unmet, "priorities")
	}
	if len(w.Events) > 0 && !slices.Contains(w.Events, l.events()) {
		unmet = append(unmet, "events")
	}
	// Without readers the kind of reads does not matter, and no rule about readers holds.
	readers, known := l.Numbers[Readers]
	nobody := known && readers == 0
	if len(w.Reads) > 0 && !nobody {
		switch {
		case l.Reads == "":
			unknown = append(unknown, "--reads")
		case !slices.Contains(w.Reads, l.Reads):
			unmet = append(unmet, "reads")
		}
	}
	for _, d := range dimensions {
		limits, limited := w.Ranges[string(d.Dimension)]
		if !limited {
			continue
		}
		switch v, known := l.Numbers[d.Dimension]; {
		case !known && d.Dimension == Matches && l.Reads == "": // --reads says it
		case !known:
			unknown = append(unknown, d.flag)
		case !limits.holds(v):
			unmet = append(unmet, d.Dimension)
		}
	}
	return unmet, unknown
}

func (l Load) events() Events {
	if l.Events == "" {
		return EventsEvery
	}
	return l.Events
}

// outside says what of a load lies outside of what was measured: by the rule that comes nearest
// to it, which breaks in the fewest ranges.
func (t *Table) outside(c contract.Component, l Load) []string {
	if v, known := l.Numbers[Delayed]; c == contract.ComponentDelay && known && v == 0 {
		return []string{"Nothing waits for its time, so the heap does not matter."}
	}
	var nearest *Rule
	var breaks []Dimension
	for _, r := range t.Of(c) {
		unmet, _ := r.When.check(l)
		if slices.ContainsFunc(unmet, func(d Dimension) bool { return !isRange(d) }) {
			continue
		}
		if nearest == nil || len(unmet) < len(breaks) {
			nearest, breaks = &r, unmet
		}
	}
	if nearest == nil {
		return []string{fmt.Sprintf("No rule is about a %s of this kind.", c)}
	}
	var out []string
	for _, d := range breaks {
		out = append(out, fmt.Sprintf("%s: what comes nearest (%s) was measured with %s.",
			describe(d).counted(l.Numbers[d]), nearest.Name, nearest.When.Ranges[string(d)]))
	}
	return out
}

// silent reports whether a load has no number that a rule of the component looks at, but for
// the writes, which matter to several components.
func (t *Table) silent(c contract.Component, l Load) bool {
	for _, r := range t.Of(c) {
		for d := range r.When.Ranges {
			if _, known := l.Numbers[Dimension(d)]; known && Dimension(d) != Writes {
				return false
			}
		}
	}
	return true
}

func isRange(d Dimension) bool {
	return slices.ContainsFunc(dimensions, func(known described) bool { return known.Dimension == d })
}

// compared are the implementations of a component that are worth measuring against each other:
// those that the catalog does not keep for study.
func compared(c contract.Component) (names []string) {
	for _, e := range catalog.All() {
		if e.Component == c && !e.Study {
			names = append(names, e.Name)
		}
	}
	return names
}

func unique[T comparable](list []T) (out []T) {
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
