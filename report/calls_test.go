package report

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// folded makes a tree from stacks written as "a;b;c", each with its number of samples.
func folded(t *testing.T, stacks map[string]int64) *calls {
	t.Helper()
	c := newCalls()
	for stack, n := range stacks {
		if err := c.add(strings.Split(stack, ";"), n, float64(n)); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// outline writes a tree with its values on one line.
func outline(t *flameTree, names []string) string {
	var out strings.Builder
	for i := 0; i < len(t.Tree); i += 3 {
		fmt.Fprintf(&out, "%s%s=%d ", strings.Repeat(".", int(t.Tree[i])), names[t.Tree[i+1]],
			t.Tree[i+2])
	}
	return strings.TrimSpace(out.String())
}

func TestCallsAreSummedUp(t *testing.T) {
	t.Parallel()
	c := folded(t, map[string]int64{"a;b;c": 3, "a;b": 2, "a;d": 1, "e;a;e": 4})
	// e calls itself
	for name, want := range map[string][2]int64{"a": {0, 10}, "b": {2, 5}, "c": {3, 3}, "d": {1, 1},
		"e": {4, 4}} {
		if s := c.totals[name]; s.self != want[0] || s.total != want[1] {
			t.Errorf("%s took %d by itself and %d with its callees, want %v", name, s.self, s.total, want)
		}
	}
	var top []string
	for _, s := range c.top(3) {
		top = append(top, s.name)
	}
	if got := strings.Join(top, " "); got != "e c b" {
		t.Errorf("most by themselves took %s", got)
	}
	if all := c.top(9); len(all) != 4 {
		t.Errorf("%d functions took something by themselves, want 4", len(all))
	}
	data, share, err := encodeFlames([]cellCalls{{"x", -1, cellProfiles{cpu: c}}}, flameBudget)
	if err != nil {
		t.Fatal(err)
	}
	if got := outline(data.Cells[0].CPU, data.Names); got != "a=6 .b=5 ..c=3 .d=1 e=4 .a=4 ..e=4" ||
		share != flameShares[0] {
		t.Errorf("encoded: %s, above %g", got, share)
	}
	if data.Cells[0].Allocs != nil {
		t.Error("a missing profile is there")
	}
}

// What is too small for the graph stays in it as (other), so it does not pass for its
// caller's own time.
func TestSmallCallsBecomeOne(t *testing.T) {
	t.Parallel()
	e := flameEncoder{places: map[string]int64{}, share: 0.1}
	tree := e.tree(folded(t, map[string]int64{"a;b": 80, "a;c": 5, "a;d;e": 6, "f": 9}))
	if got := outline(tree, e.data.Names); got != "a=91 .b=80 .(other)=11 (other)=9" {
		t.Errorf("encoded: %s", got)
	}
}

// The harness's loops are one box; what the implementation calls back stays where it is.
func TestHarnessIsOneBox(t *testing.T) {
	t.Parallel()
	const bench = ownModule + "bench."
	stack := []string{"runtime.main", "main.main", bench + "Run", bench + "loop",
		"k8s.io/client-go/tools/cache.Get", ownModule + "load.byNode", "runtime.mallocgc", "runtime.main"}
	got := withoutHarness(stack)
	for i, name := range got {
		got[i] = shortName(name)
	}
	if want := "bench.loop cache.Get load.byNode runtime.mallocgc runtime.main"; strings.Join(got,
		" ") != want {
		t.Errorf("kept %q, want %q", got, want)
	}
	if got := withoutHarness([]string{"runtime.main", "main.main"}); len(got) != 1 {
		t.Errorf("of a stack of the harness alone %q is kept", got)
	}
}

func TestStacksAreCutWhereNoneIsSoDeep(t *testing.T) {
	t.Parallel()
	c := newCalls()
	if err := c.add(strings.Split(strings.Repeat("f;", 10_000)+"f", ";"), 1, 1); err != nil {
		t.Fatal(err)
	}
	depth := 0
	for at := c.root; len(at.callees) > 0; depth++ {
		for _, next := range at.callees {
			at = next
		}
	}
	if depth != deepest || c.totals[otherName].self != 1 {
		t.Errorf("the tree is %d deep, want %d with the rest as %s", depth, deepest, otherName)
	}
}

// randomCalls is a profile of about n stacks as wide and deep as real ones.
func randomCalls(rng *rand.Rand, n int) *calls {
	c := newCalls()
	for range n {
		stack := make([]string, 5+rng.IntN(25))
		for i := range stack {
			stack[i] = fmt.Sprintf("k8s.io/client-go/tools/cache/folder%d.(*TypeWithALongName%d).Method", i,
				int(rng.ExpFloat64()*3))
		}
		v := 1 + int64(rng.ExpFloat64()*1000)
		if c.add(stack, v, float64(v)) != nil {
			panic("too large")
		}
	}
	return c
}

// The values of callees never exceed their caller's, whatever is rounded and left out.
func TestEncodedTreesAddUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		e := flameEncoder{places: map[string]int64{}, share: flameShares[rng.IntN(len(flameShares))]}
		c := randomCalls(rng, 1+rng.IntN(200))
		tree := e.tree(c)
		if tree.Total > finest || tree.Total*tree.Unit > c.root.value {
			t.Fatalf("seed %d: a total of %d units of %d for %d", seed, tree.Total, tree.Unit, c.root.value)
		}
		left := []int64{tree.Total} // of each caller on the path
		for i := 0; i < len(tree.Tree); i += 3 {
			depth, value := tree.Tree[i], tree.Tree[i+2]
			left = left[:depth+1]
			if left[depth] -= value; left[depth] < 0 || value <= 0 {
				t.Fatalf("seed %d: the callees at depth %d exceed their caller by %d", seed, depth,
					-left[depth])
			}
			left = append(left, value)
		}
	}
}

// The graphs fit their budget, whatever the run: smaller calls are left out, and at last
// every graph.
func TestGraphsFitTheirBudget(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	var cells []cellCalls
	for range 40 {
		cells = append(cells, cellCalls{"impl", 0,
			cellProfiles{randomCalls(rng, 120), randomCalls(rng, 120)}})
	}
	data, share, err := encodeFlames(cells, flameBudget)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > flameBudget || len(data.Cells) != 40 || share <= flameShares[0] {
		t.Errorf("%d bytes for %d cells above %g, want some share above the smallest", len(text),
			len(data.Cells), share)
	}
	t.Logf("40 cells take %d bytes, calls below %g of a profile left out", len(text), share)
	if data, _, err = encodeFlames(cells, 1000); data != nil || err != nil {
		t.Errorf("in 1,000 bytes: %v, %v; want no graph", data, err)
	}
}

// drawn undoes what runtime/pprof does to the number of sampled allocations.
func TestDrawnIsTheNumberOfSamples(t *testing.T) {
	t.Parallel()
	const rate = 512 << 10
	for _, size := range []int64{8, 1 << 10, rate, 1 << 24} {
		for _, sampled := range []int64{1, 7, 1000} {
			scale := 1 / (1 - math.Exp(-float64(size)/rate)) // as runtime/pprof.scaleHeapSample
			count, value := int64(float64(sampled)*scale), int64(float64(sampled*size)*scale)
			if got := drawn(count, value, rate, allocsSource); got != float64(sampled) {
				t.Errorf("%d samples of %d bytes count as %g", sampled, size, got)
			}
		}
	}
	if got := drawn(36, 36*10_000_000, 10_000_000, cpuSource); got != 36 {
		t.Errorf("36 CPU samples count as %g", got)
	}
	// Equal samples count fully, one that outweighs all others counts alone.
	if n := folded(t, map[string]int64{"a": 30, "b": 70}).samples(); n != 100 {
		t.Errorf("100 equal samples count as %g", n)
	}
	c := newCalls()
	for name, v := range map[string]int64{"a": 1_000_000, "b": 1} {
		if err := c.add([]string{name}, v, 1); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.samples(); n < 1 || n > 1.001 {
		t.Errorf("one sample beside a tiny one counts as %g", n)
	}
}

func TestNamesAreShownShort(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"k8s.io/client-go/tools/cache.(*threadSafeMap).List": "cache.(*threadSafeMap).List",
		"runtime.mallocgc": "runtime.mallocgc",
		"memeqbody":        "memeqbody",
		"k8s.io/apimachinery/pkg/util/sets.Set[k8s.io/api/core/v1.Pod].Insert":                     "sets.Set[k8s.io/api/core/v1.Pod].Insert",
		"sync/atomic.(*Pointer[github.com/informerbench/informerbench/impl/lockfree.record]).Load": "atomic.(*Pointer[github.com/informerbench/informerbench/impl/lockfree.record]).Load",
	} {
		if got := shortName(name); got != want {
			t.Errorf("%s became %s, want %s", name, got, want)
		}
	}
	if got := nameOf("a\x1b[31m\n" + strings.Repeat("é", 100_000)); utf8.RuneCountInString(
		got) != longestFunction || strings.ContainsAny(got, "\x1b\n") || !utf8.ValidString(got) {
		t.Errorf("a hostile name became %q", got)
	}
}

func TestKindOfAFunction(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]kind{
		"k8s.io/client-go/tools/cache.(*threadSafeMap).List": implementation,
		ownModule + "impl/lockfree.(*Store).Get":             implementation,
		ownModule + "queue/deltafifo.(*FIFO).Pop":            implementation,
		ownModule + "informer.(*Informer).Run":               implementation,
		ownModule + "informer/indexer.New":                   implementation,
		"example.com/mystore.New":                            implementation,
		ownModule + "bench/internal/engine.together":         harness,
		ownModule + "load/synthetic.byNode":                  harness,
		ownModule + "load.ReadTrace":                         harness,
		"main.main":                                          harness,
		"github.com/spf13/cobra.(*Command).Execute":          harness,
		"runtime.mallocgc":                                   goRuntime,
		"internal/runtime/maps.(*Iter).Next":                 goRuntime,
		"memeqbody":                                          goRuntime,
		"type:.eq.string":                                    goRuntime,
		"sync.(*RWMutex).Lock":                               standard,
		"runtime/pprof.StartCPUProfile":                      standard,
		"slices.Sort[go.shape.[]float64,go.shape.float64]":   standard,
		"sync/atomic.(*Pointer[github.com/informerbench/informerbench/impl/lockfree.record]).Load": standard,
		"encoding/json.Marshal": standard,
		otherName:               noFunction,
		unknownName:             noFunction,
	} {
		if got := kindOf(name); got != want {
			t.Errorf("%s is of kind %c, want %c", name, got, want)
		}
	}
}
