package compare

import (
	"bufio"
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
	pattern  *regexp.Regexp
	above    bool // the number must not be below the bound
	relative bool
	bound    float64 // a ratio where relative
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
// each judged comparison must be "not worse", and Gate is empty.
type GateResult struct {
	Gate    string  `json:"gate,omitempty"`
	Name    string  `json:"name"`
	Outcome Outcome `json:"outcome"`
	Detail  string  `json:"detail"`
}

var gateSyntax = regexp.MustCompile(`^\s*(\S.*?)\s*(<=|>=)\s*([+-]?)([0-9.]+)\s*([^\s0-9.]*)\s*$`)

// ParseGate reads a gate. The error says what is wrong and shows the syntax.
func ParseGate(text string) (Gate, error) {
	wrong := func(why string) error {
		return fmt.Errorf("gate %q: %s; want PATTERN <= +5%% (or >= -5%%, <= 50ms, >= 95), such as 'store/*/p99 <= +5%%'", text, why)
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
		g.bound = float64(d)
	}
	g.pattern, err = Pattern(m[1])
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
		text, _, _ := strings.Cut(lines.Text(), "#")
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
	return slices.ContainsFunc(spellings(c), func(metric string) bool {
		n := c.Name
		n.Metric = metric
		return g.pattern.MatchString(n.String())
	})
}

// spellings of the metric: in full, without its unit, and for a judged metric without its
// distribution, and then without "usual-".
func spellings(c *Comparison) []string {
	full := c.Name.Metric
	out := []string{full}
	short, ok := strings.CutSuffix(full, "-ns")
	if !ok {
		return out
	}
	out = append(out, short)
	if _, p, ok := strings.Cut(short, "-"); ok && c.judged {
		out = append(out, p, strings.TrimPrefix(p, "usual-"))
	}
	return out
}

// Judge gives the verdicts and applies the gates. Comparisons that a gate matches are
// judged together with the key metrics. Without gates every judged comparison must be "not
// worse", and numbers that only head lacks are inconclusive. The error names a gate that
// matches nothing, or that bounds a metric on the side on which it is better.
func (r *Result) Judge(gates []Gate) error {
	type pair struct {
		gate Gate
		c    *Comparison
	}
	var pairs []pair
	var absent []GateResult
	for _, g := range gates {
		before := len(pairs) + len(absent)
		for _, c := range r.missing {
			if g.matches(c) {
				absent = append(absent, unknown(c, g.Text))
			}
		}
		for _, c := range r.Comparisons {
			if !g.matches(c) || c.direction == metrics.Neither && g.relative {
				continue
			}
			if worse := c.direction == metrics.HigherIsBetter; g.relative && worse != g.above {
				op := map[bool]string{false: "<= +5%", true: ">= -5%"}[worse]
				return fmt.Errorf("gate %q: for %s the regression lies on the other side; write %s", g.Text, c.Name, op)
			}
			pairs = append(pairs, pair{g, c})
		}
		if len(pairs)+len(absent) == before {
			return fmt.Errorf("gate %q matches nothing; there are %s", g.Text, someNames(r.Comparisons))
		}
	}
	for _, p := range pairs {
		p.c.judged = true
	}
	judge(r.Rule, r.Comparisons)
	r.Gates = absent
	for _, p := range pairs {
		result := p.gate.apply(p.c, r.Rule)
		if result.Outcome == Undetermined && p.gate.relative {
			result.Detail += r.steadier(p.gate, p.c)
		}
		r.Gates = append(r.Gates, result)
	}
	if len(gates) == 0 {
		for _, c := range r.missing {
			if c.judged {
				r.Gates = append(r.Gates, unknown(c, ""))
			}
		}
		for _, c := range r.Judged() {
			r.Gates = append(r.Gates, notWorse(c))
		}
	}
	return nil
}

// someNames lists names that a gate could have matched: one of each metric.
func someNames(all []*Comparison) string {
	const most = 12
	var out, metrics []string
	for _, c := range all {
		if m := c.Name.Metric; !slices.Contains(metrics, m) && (c.judged || len(all) <= most) {
			metrics = append(metrics, m)
			out = append(out, c.Name.String())
		}
	}
	if len(out) > most {
		out = append(out[:most], "...")
	}
	return strings.Join(out, ", ")
}

// unknown is the result for a number that head does not have.
func unknown(c *Comparison, gate string) GateResult {
	return GateResult{Gate: gate, Name: c.Name.String(), Outcome: Undetermined, Detail: "head has no value: see its warnings"}
}

func notWorse(c *Comparison) GateResult {
	out := GateResult{Name: c.Name.String(), Detail: string(c.Verdict)}
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

// apply applies the gate to one comparison. A regression needs as much as a verdict: the
// interval beyond the bound and beyond the noise, and a significant test. A pass needs the
// whole interval within the bound. Either needs as many values as a verdict.
func (g Gate) apply(c *Comparison, rule stats.Rule) GateResult {
	out := GateResult{Gate: g.Text, Name: c.Name.String(), Outcome: Undetermined}
	if !g.relative {
		switch lo, hi := c.Head.Lo, c.Head.Hi; {
		case c.Head.N < stats.FewestForks: // the interval is only the range
		case g.inside(lo) && g.inside(hi):
			out.Outcome = Pass
		case !g.inside(lo) && !g.inside(hi):
			out.Outcome = Regression
		}
		out.Detail = fmt.Sprintf("head is %.4g [%.4g, %.4g]", c.Head.Median, c.Head.Lo, c.Head.Hi)
		return out
	}
	if c.Ratio == nil {
		out.Detail = "there is no ratio"
		return out
	}
	ratio := *c.Ratio
	proven := ratio.Q <= rule.AtLook(c.look).Alpha && ratio.Enough()
	// A difference within the machine's noise is no regression. A gate that demands an
	// improvement is also missed by a number that did not change. There is no test for
	// that, so the interval decides.
	noise := 1 + max(0, c.Floor)
	limit, improvement := max(g.bound, noise), g.bound < 1
	if g.above {
		limit, improvement = min(g.bound, 1/noise), g.bound > 1
	}
	if improvement {
		limit, proven = g.bound, ratio.Enough()
	}
	equal := ratio.Lo == 1 && ratio.Hi == 1 && ratio.N > 1 // as for a verdict: equal counts
	switch {
	case g.inside(ratio.Lo) && g.inside(ratio.Hi) && (ratio.Enough() || equal):
		out.Outcome = Pass
	case proven && (g.above && ratio.Hi < limit || !g.above && ratio.Lo > limit):
		out.Outcome = Regression
	}
	out.Detail = fmt.Sprintf("%.3gx [%.3g, %.3g], q=%.2g", ratio.Estimate, ratio.Lo, ratio.Hi, ratio.Q)
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
			if said := g.apply(c, r.Rule); said.Outcome != Undetermined {
				return fmt.Sprintf("; %s says %s: %.3gx [%.3g, %.3g]; to rely on it: '%s %s'",
					metric, said.Outcome, c.Ratio.Estimate, c.Ratio.Lo, c.Ratio.Hi, name, g.boundText())
			}
		}
	}
	return ""
}

// boundText is the gate's text from <= or >= on.
func (g Gate) boundText() string { return g.Text[strings.LastIndexAny(g.Text, "<>"):] }

func (g Gate) inside(v float64) bool {
	if g.above {
		return v >= g.bound
	}
	return v <= g.bound
}

// Outcome combines the gates: Regression if any gate found one, else Undetermined if any
// was inconclusive, else Pass.
func (r *Result) Outcome() Outcome {
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
