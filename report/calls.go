package report

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Names of boxes that are no function.
const (
	otherName   = "(other)" // callees too small to be drawn, or too deep
	unknownName = "(unknown)"
)

// deepest bounds a stack's depth; Go's own profiles end at 128 calls.
const deepest = 256

// longestFunction bounds a function's name, in runes. Instances of generic functions can have
// longer ones; those that differ only beyond it are counted as one.
const longestFunction = 240

// calls is a profile as a tree of calls.
type calls struct {
	root   *call
	frames int                 // read so far
	totals map[string]*selfSum // by function
	// weights is the sum over the samples of each one's squared value.
	weights float64
}

// call is a function as called along one path. Its value includes its callees.
type call struct {
	name    string
	value   int64
	callees map[string]*call
}

// selfSum is what a function took by itself, and with its callees, each sample counted once.
type selfSum struct {
	name        string
	self, total int64
}

func newCalls() *calls {
	return &calls{root: &call{}, totals: map[string]*selfSum{}}
}

// add adds samples of one stack, outermost function first.
func (c *calls) add(stack []string, value int64, samples float64) error {
	if value <= 0 {
		return nil
	}
	if value > math.MaxInt64-c.root.value {
		return errors.New("the sum of its values is too large")
	}
	c.weights += float64(value) * float64(value) / samples
	if stack = withoutHarness(stack); len(stack) > deepest {
		stack = append(stack[:deepest-1], otherName)
	}
	at := c.root
	at.value += value
	seen := map[string]bool{}
	for _, name := range stack {
		next := at.callees[name]
		if next == nil {
			next = &call{name: name}
			if at.callees == nil {
				at.callees = map[string]*call{}
			}
			at.callees[name] = next
		}
		at = next
		at.value += value
		if !seen[name] { // a recursion counts once
			seen[name] = true
			c.sum(name).total += value
		}
	}
	c.sum(cmp.Or(at.name, unknownName)).self += value
	return nil
}

// withoutHarness keeps only the innermost of nested calls within the harness, and makes the
// names that it keeps fit to show. The loops around an operation say nothing about it, and
// warm-up and measurement would stand as separate branches over the same functions.
func withoutHarness(stack []string) (kept []string) {
	for i, name := range stack {
		if i == 0 && name == "runtime.main" || i+1 < len(stack) && kindOf(name) == harness &&
			kindOf(stack[i+1]) == harness {
			continue
		}
		kept = append(kept, nameOf(name))
	}
	return kept
}

func (c *calls) sum(name string) *selfSum {
	s := c.totals[name]
	if s == nil {
		s = &selfSum{name: name}
		c.totals[name] = s
	}
	return s
}

// samples is the effective number of samples: how many of equal value would make the
// profile's shares as uncertain as they are (Kish's n).
func (c *calls) samples() float64 {
	return float64(c.root.value) * float64(c.root.value) / c.weights
}

// top lists the functions that took most by themselves, at most n.
func (c *calls) top(n int) []*selfSum {
	all := slices.SortedFunc(maps.Values(c.totals), func(a, b *selfSum) int {
		return cmp.Or(cmp.Compare(b.self, a.self), cmp.Compare(a.name, b.name))
	})
	for i, s := range all {
		if s.self == 0 || i == n {
			return all[:i]
		}
	}
	return all
}

// drawn is how many samples the runtime took for one line of a profile. Of allocations the
// profile holds estimates: the runtime samples an allocation of a bytes with probability
// 1-exp(-a/rate) and divides by it (runtime/pprof, scaleHeapSample), which is undone here.
func drawn(count, value, period int64, from profileSource) float64 {
	if count <= 0 || value <= 0 {
		return 1
	}
	n := float64(count)
	if from == allocsSource && period > 1 {
		n *= -math.Expm1(-float64(value) / n / float64(period))
	}
	return max(1, math.Round(n))
}

// nameOf makes a function's name harmless and short enough to show.
func nameOf(name string) string {
	if len(name) > longestFunction*utf8.UTFMax {
		name = name[:longestFunction*utf8.UTFMax]
	}
	name = VisibleLine(name)
	if utf8.RuneCountInString(name) > longestFunction {
		name = string([]rune(name)[:longestFunction-1]) + "…"
	}
	return name
}

// shortName is a function's name without the path of its package's folder: of
// "k8s.io/client-go/tools/cache.(*threadSafeMap).List" "cache.(*threadSafeMap).List". The
// page's script shortens names in the same way.
func shortName(name string) string {
	head := name
	if i := strings.IndexAny(name, "[("); i >= 0 {
		head = name[:i] // type arguments have paths too
	}
	return name[strings.LastIndex(head, "/")+1:]
}

// kind says what a function is part of.
type kind byte

const (
	implementation kind = 'i' // what is measured, and the libraries it calls
	harness        kind = 'h' // what measures, with the objects it makes
	goRuntime      kind = 'r' // with the garbage collector, maps and hashes
	standard       kind = 's' // Go's standard library
	noFunction     kind = 'o'
)

const ownModule = "github.com/informerbench/informerbench/"

// ownImplementations are the folders of this repository that are measured (core/ in profiles of
// older runs), and ownHarness are those within them that measure.
var (
	ownImplementations = []string{"core/", "impl/", "queue/", "informer", "dropin/"}
	ownHarness         = []string{"load/synthetic."}
)

// harnessLibraries are modules that only the harness and the reports call.
var harnessLibraries = []string{
	"github.com/spf13/", "github.com/google/pprof/", "github.com/yuin/goldmark",
	"github.com/HdrHistogram/", "github.com/montanaflynn/",
	"pgregory.net/rapid", "gonum.org/", "golang.org/x/perf/",
}

func hasAnyPrefix(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

func kindOf(name string) kind {
	path, _, generic := strings.Cut(name, "[")
	folder, _, _ := strings.Cut(path, "/")
	has := func(prefixes ...string) bool {
		return hasAnyPrefix(path, prefixes)
	}
	switch own, ours := strings.CutPrefix(path, ownModule); {
	case name == otherName || name == unknownName:
		return noFunction
	case ours && hasAnyPrefix(own, ownImplementations) && !hasAnyPrefix(own, ownHarness):
		return implementation
	case ours || has("main.") || has(harnessLibraries...):
		return harness
	case has("runtime.", "internal/runtime/") || !strings.Contains(path, ".") && !generic ||
		has("type:"):
		return goRuntime // assembly functions such as memeqbody have no package
	case strings.Contains(folder, ".") && strings.Contains(path, "/"):
		return implementation // only a module's path begins with a domain
	}
	return standard
}
