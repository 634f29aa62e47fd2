package compare

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/informerbench/informerbench/internal/input"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/stats"
)

// Gate is a bound on a number, for CI: 'store/*/p99 <= +5%'.
//
// Left of the bound is a pattern, matched against whole names (Name.String:
// component/workload/series/implementation/metric). In it, * matches any run of characters,
// including slashes. A metric may be written short: delay-p99 for delay-p99-ns, and p99 for
// the p99 that is judged in the series. That is the usual p99 of a short run.
//
// A bound with a sign and % limits the change against base. Any other bound limits the
// value of head, in the metric's own unit or as a duration: '<= +5%', '>= -2%', '<= 50ms',
// '>= 95'.
type Gate struct {
	Text     string
	glob     string // left of the bound
	pattern  *regexp.Regexp
	above    bool // the number must not be below the bound
	relative bool
	timed    bool    // the bound is a duration
	bound    float64 // a ratio where relative, nanoseconds where timed
}

// Outcome is the result of a gate.
type Outcome string

// The outcomes: the data show that the bound holds, that it is broken, or are too few or too
// noisy to show either.
const (
	Pass         Outcome = "pass"
	Regression   Outcome = "regression"
	Undetermined Outcome = "inconclusive"
)

// GateResult is the outcome of one gate for one comparison. Without gates the verdict of
// each judged comparison must be "not worse", and Gate is empty. Three gates hold always: head's
// implementations must keep their contract, its processes must end, and its checks must pass.
type GateResult struct {
	Gate    string  `json:"gate,omitempty"`
	Name    string  `json:"name"`
	Outcome Outcome `json:"outcome"`
	Detail  string  `json:"detail"`
	// MoreForks is how many more forks of either side would decide an inconclusive gate, as
	// stats.Prospect has it for a verdict.
	MoreForks int `json:"moreForks,omitempty"`

	of *Comparison
}

// Comparison is what the gate was applied to; nil where base or head has no such number.
func (r GateResult) Comparison() *Comparison { return r.of }

var gateSyntax = regexp.MustCompile(`^\s*(\S.*?)\s*(<=|>=)\s*([+-]?)([0-9.]+)\s*([^\s0-9.]*)\s*$`)

// ParseGate reads a gate. The error says what is wrong and shows the syntax.
func ParseGate(text string) (Gate, error) {
	wrong := func(why string) error {
		return fmt.Errorf(
			"gate %q: %s; want PATTERN <= +5%% (or >= -5%%, <= 50ms, >= 95), such as 'store/*/p99 <= +5%%'",
			text, why)
	}
	m := gateSyntax.FindStringSubmatch(text)
	if m == nil {
		return Gate{}, wrong("not a pattern, <= or >=, and a bound")
	}
	g := Gate{Text: strings.TrimSpace(text), above: m[2] == ">="}
	n, err := strconv.ParseFloat(m[4], 64)
	if err != nil {
		return Gate{}, wrong("the bound is no number")
	}
	sign, unit := m[3], m[5]
	switch {
	case unit == "%" && sign != "":
		g.relative = true
		g.bound = 1 + n/100
		if sign == "-" {
			g.bound = 1 - n/100
		}
		if g.bound <= 0 {
			return Gate{}, wrong("nothing can fall by 100% or more")
		}
	case unit == "%":
		return Gate{}, wrong("a change needs a sign")
	case sign != "":
		return Gate{}, wrong("a sign stands before a change in %")
	case unit == "":
		g.bound = n
	default:
		d, err := time.ParseDuration(m[4] + unit)
		if err != nil {
			return Gate{}, wrong("the unit of the bound is not one of ns, us, ms, s, %")
		}
		g.bound, g.timed = float64(d), true
	}
	g.glob = m[1]
	g.pattern, err = regexp.Compile(
		"(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(g.glob), `\*`, ".*") + "$")
	if err != nil {
		return Gate{}, wrong(err.Error())
	}
	return g, nil
}

// ReadGates reads a file of gates, one per line; # begins a comment. The error names the
// file and the line.
func ReadGates(path string) ([]Gate, error) {
	data, err := input.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []Gate
	text := strings.TrimPrefix(string(data), "\uFEFF") // the byte order mark of some editors
	for i, line := range strings.Split(text, "\n") {
		text, _, _ := strings.Cut(line, "#")
		if strings.TrimSpace(text) == "" {
			continue
		}
		g, err := ParseGate(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
		out = append(out, g)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no gate in it", path)
	}
	return out, nil
}

// matching are the comparisons that the gate applies to.
func (g Gate) matching(all []*Comparison) (out []*Comparison) {
	for _, c := range all {
		if anySpelling(c.Name, c.short, g.pattern.MatchString) {
			out = append(out, c)
		}
	}
	return out
}

// anySpelling reports whether a name is wanted under any spelling of its metric: in full, without
// its unit, and for a metric that is judged in its series without its distribution, and then
// without "usual-".
func anySpelling(n Name, judged bool, wanted func(string) bool) bool {
	names := []string{n.Metric}
	if short, ok := strings.CutSuffix(n.Metric, "-ns"); ok {
		names = append(names, short)
		if _, p, ok := strings.Cut(short, "-"); ok && judged {
			names = append(names, p, strings.TrimPrefix(p, "usual-"))
		}
	}
	return slices.ContainsFunc(names, func(metric string) bool {
		n.Metric = metric
		return wanted(n.String())
	})
}

// Judge gives the verdicts and applies the gates. Comparisons that a gate matches are
// judged together with the key metrics. Without gates every judged comparison must be "not
// worse", and numbers that only head lacks are inconclusive. A gate on a value also bounds the
// numbers that base lacks. An implementation that fails its suite in head, a process that crashed
// or hung there, and a check that fails are regressions with gates and without. The
// error is a *GateError: a gate matches nothing, or nothing but metrics that it bounds on the
// side on which they are better, or bounds by a duration what is not in nanoseconds.
func (r *Result) Judge(gates []Gate) error {
	type pair struct {
		gate Gate
		c    *Comparison
	}
	var pairs []pair
	var absent []GateResult // of numbers that one side lacks
	for _, g := range gates {
		before := len(absent)
		both, added, missing := g.matching(r.Comparisons), g.matching(r.added), g.matching(r.missing)
		for _, c := range slices.Concat(both, added, missing) {
			if err := g.wrongUnit(c.Name.Metric); err != nil {
				return err
			}
		}
		for _, c := range added {
			if !g.relative {
				absent = append(absent, g.apply(c, r.Rule))
				absent[len(absent)-1].of = nil
			}
		}
		for _, c := range missing {
			if !c.replaced || !slices.ContainsFunc(both, func(o *Comparison) bool {
				return o.Name == c.Name
			}) {
				absent = append(absent, unknown(c, g.Text))
			}
		}
		bound, err := g.bounds(both)
		if len(bound)+len(absent) == before {
			return cmp.Or(err, error(
				&GateError{g.Text, "it matches nothing; there are " + someNames(r.Comparisons)}))
		}
		for _, c := range bound {
			pairs = append(pairs, pair{g, c})
		}
	}
	for _, p := range pairs {
		p.c.judged = true
	}
	judge(r.Rule, r.Comparisons)
	r.Gates = slices.Concat(r.broken, absent)
	for _, p := range pairs {
		r.Gates = append(r.Gates, p.gate.apply(p.c, r.Rule))
	}
	if len(gates) == 0 {
		for _, c := range r.missing {
			if c.judged && !c.replaced {
				r.Gates = append(r.Gates, unknown(c, ""))
			}
		}
		for _, c := range r.Judged() {
			if c.direction != metrics.Neither {
				r.Gates = append(r.Gates, notWorse(c))
			}
		}
	}
	return nil
}

// bounds returns what the gate bounds of what it matches. A gate on changes leaves out conditions
// of the run, metrics that it bounds on the side on which they are better, and the control, unless
// that is all that remains. The first gate on a metric of unknown direction decides the direction
// of its verdict; a second may bound the other side. The error says what was on the wrong side.
func (g Gate) bounds(matched []*Comparison) (out []*Comparison, wrong error) {
	for _, c := range matched {
		if c.direction == metrics.Neither && g.relative {
			if metrics.Known(c.Name.Metric) { // a condition of the run
				continue
			}
			c.direction, c.gated = g.better(), true
		}
		if err := g.wrongSide(c.Name.String(), c.direction); err != nil && !c.gated {
			wrong = cmp.Or(wrong, err)
			continue
		}
		out = append(out, c)
	}
	if !g.relative {
		return out, wrong
	}
	isControl := func(c *Comparison) bool { return c.controls }
	if others := slices.DeleteFunc(slices.Clone(out), isControl); len(others) > 0 {
		out = others
	}
	return out, wrong
}

// unknown is the result for a number that head does not have.
func unknown(c *Comparison, gate string) GateResult {
	return GateResult{Gate: gate, Name: c.Name.String(), Outcome: Undetermined, Detail: c.lacks()}
}

// lacks says why head has no number of a comparison.
func (c *Comparison) lacks() string {
	if c.replaced {
		return "head did too few operations for this percentile, and a lower one is judged: name that one"
	}
	return "head has no value: see its warnings, or whether it failed"
}

func notWorse(c *Comparison) GateResult {
	out := GateResult{Name: c.Name.String(), Detail: string(c.Verdict), MoreForks: c.MoreForks, of: c}
	switch c.Verdict {
	case stats.Worse:
		out.Outcome = Regression
	case stats.Inconclusive:
		out.Outcome = Undetermined
	default:
		out.Outcome = Pass
	}
	return out
}

// Outcome combines the gates: Regression if any gate found one, else Undetermined if any
// was inconclusive or if there is none, since nothing was judged then; else Pass.
func (r *Result) Outcome() Outcome {
	if len(r.Gates) == 0 {
		return Undetermined
	}
	out := Pass
	for _, g := range r.Gates {
		switch g.Outcome {
		case Regression:
			return Regression
		case Undetermined:
			out = Undetermined
		}
	}
	return out
}
