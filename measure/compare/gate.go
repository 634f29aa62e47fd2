package compare

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

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
	g.pattern, err = Pattern(g.glob)
	if err != nil {
		return Gate{}, wrong(err.Error())
	}
	return g, nil
}

// ReadGates reads a file of gates, one per line; # begins a comment. The error names the
// file and the line.
func ReadGates(path string) ([]Gate, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseGates(f, path)
}

func parseGates(r io.Reader, path string) ([]Gate, error) {
	var out []Gate
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if n == 1 {
			line = strings.TrimPrefix(line, "\uFEFF") // the byte order mark of some editors
		}
		text, _, _ := strings.Cut(line, "#")
		if strings.TrimSpace(text) == "" {
			continue
		}
		g, err := ParseGate(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		out = append(out, g)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no gate in it", path)
	}
	return out, nil
}

// matches reports whether the gate applies to this comparison, under any spelling of its
// metric.
func (g Gate) matches(c *Comparison) bool {
	return AnySpelling(c.Name, c.short, g.pattern.MatchString)
}

// AnySpelling reports whether a name is wanted under any spelling of its metric that gates may use.
// judged says that the metric is judged in its series.
func AnySpelling(n Name, judged bool, wanted func(string) bool) bool {
	return slices.ContainsFunc(spellings(n.Metric, judged), func(metric string) bool {
		n.Metric = metric
		return wanted(n.String())
	})
}

// spellings of a metric: in full, without its unit, and for a judged metric without its
// distribution, and then without "usual-".
func spellings(full string, judged bool) []string {
	out := []string{full}
	short, ok := strings.CutSuffix(full, "-ns")
	if !ok {
		return out
	}
	out = append(out, short)
	if _, p, ok := strings.Cut(short, "-"); ok && judged {
		out = append(out, p, strings.TrimPrefix(p, "usual-"))
	}
	return out
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
		for _, c := range slices.Concat(r.Comparisons, r.added, r.missing) {
			if g.matches(c) {
				if err := g.wrongUnit(c.Name.Metric); err != nil {
					return err
				}
			}
		}
		for _, c := range r.added {
			if !g.relative && g.matches(c) {
				result := g.apply(c, r.Rule)
				result.of = nil
				absent = append(absent, result)
			}
		}
		for _, c := range r.missing {
			if g.matches(c) && !(c.replaced && slices.ContainsFunc(r.Comparisons, func(o *Comparison) bool {
				return o.Name == c.Name && g.matches(o)
			})) {
				absent = append(absent, unknown(c, g.Text))
			}
		}
		bound, err := g.bounds(r.Comparisons)
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
		result := p.gate.apply(p.c, r.Rule)
		if result.Outcome == Undetermined && p.gate.relative {
			result.Detail += r.steadier(p.gate, p.c)
		}
		r.Gates = append(r.Gates, result)
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

// bounds returns what the gate applies to. A gate on changes leaves out what else its pattern
// matches: conditions of the run, metrics that it bounds on the side on which they are better,
// and the control, unless that is all that remains. The first gate on a metric of unknown
// direction decides the direction of its verdict; a second may bound the other side. The error
// says what was on the wrong side.
func (g Gate) bounds(all []*Comparison) (out []*Comparison, wrong error) {
	for _, c := range all {
		if !g.matches(c) {
			continue
		}
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

// steadier offers a gate on a metric that the machine disturbs less, where g could not tell
// and that one could; "" if there is none. It is not taken by itself: whoever may choose among
// several tests finds a difference more often than alpha says.
func (r *Result) steadier(g Gate, of *Comparison) string {
	for _, metric := range metrics.Of(of.Name.Metric).Steadier {
		name := of.Name
		name.Metric = metric
		for _, c := range r.Comparisons {
			if c.Name != name {
				continue
			}
			if said := g.apply(r.asJudged(c), r.Rule); said.Outcome != Undetermined {
				return fmt.Sprintf("; %s says %s: %.3gx [%.3g, %.3g]; to rely on it: '%s %s'",
					metric, said.Outcome, c.Ratio.Estimate, c.Ratio.Lo, c.Ratio.Hi, name, g.boundText())
			}
		}
	}
	return ""
}

// asJudged is a comparison as it would be if it had belonged to the family.
func (r *Result) asJudged(c *Comparison) *Comparison {
	if c.judged || c.Ratio == nil {
		return c
	}
	own := *c.Ratio
	family := []*stats.Ratio{&own}
	for _, o := range r.Judged() {
		if o.Ratio != nil && o.direction != metrics.Neither {
			other := *o.Ratio
			family = append(family, &other)
		}
	}
	stats.Adjust(family)
	out := *c
	out.Ratio = &own
	return &out
}

// boundText is the gate's text from <= or >= on.
func (g Gate) boundText() string { return g.Text[strings.LastIndexAny(g.Text, "<>"):] }

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
