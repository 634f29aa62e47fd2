// Package architecture tests the rules of the design against the real code: who
// may import whom. It holds nothing else.
package architecture

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

const module = "github.com/informerbench/informerbench"

// layer is a set of packages. A pattern ending in /... stands for the folder and
// everything below.
type layer struct {
	patterns []string
	siblings bool // packages of the layer may import each other
}

// layers go from the bottom up. A package may import packages of lower layers,
// and of its own layer only where the layer says so.
var layers = []layer{
	{[]string{
		"internal/callsite", "internal/explore", "internal/input",
		"internal/inturns", "internal/inuse", "internal/pieces", "internal/progress", "internal/segqueue",
		"internal/spin", "internal/testscript",
	}, false},
	{[]string{"contract"}, false},
	{[]string{"impl/indexing"}, false},
	{[]string{"impl/...", "queue/...", "informer/indexer", "load/synthetic"}, false},
	{[]string{"objects/..."}, false},
	{[]string{"peers/..."}, true},
	{[]string{"informer/..."}, true},
	{[]string{"dropin/..."}, true},
	{[]string{"load/...", "conformance/..."}, true},
	{[]string{"bench/catalog"}, false},
	{[]string{"measure/metrics"}, false},
	{[]string{"measure/stats"}, false},
	{[]string{"measure/sysinfo"}, false},
	{[]string{"measure/record/..."}, false},
	{[]string{"measure/compare", "measure/memory"}, false},
	{[]string{"report"}, false},
	{[]string{"bench/internal/staleness", "bench/internal/profile"}, false},
	{[]string{"bench/internal/engine"}, false},
	{[]string{"bench/internal/subject"}, false},
	{[]string{"bench/internal/replay"}, false},
	{[]string{"bench"}, false},
	{[]string{"bench/runner"}, false},
	{[]string{"cmd/benchrun/benchcmd"}, false},
	{[]string{"cmd/...", "examples/..."}, false},
	{[]string{"ci", "internal/architecture", "results", "upstream/..."}, false},
}

// importable are the rooms that programs import. They compile nothing beyond what client-go
// brings. ctrlqueue and priorityqueue bring controller-runtime too; the packages of metrics
// bring component-base.
var (
	importable = []string{"contract", "impl/...", "queue/...", "objects", "objects/interned",
		"informer/...", "dropin/cache", "dropin/workqueue"}
	withRuntime = []string{"dropin/ctrlqueue", "dropin/priorityqueue"}
	withBase    = []string{"dropin/cache/prometheus", "dropin/workqueue/prometheus"}
)

// clientGoRoots are what client-go consists of and brings with it.
var clientGoRoots = []string{"k8s.io/apimachinery/", "k8s.io/client-go/", "k8s.io/utils/",
	"k8s.io/klog/", "golang.org/x/time/"}

// implementations are what conformance suites must not know.
var implementations = []string{"impl/...", "peers/...", "queue/...", "objects/...", "informer/...",
	"dropin/..."}

func load(t *testing.T) map[string]*packages.Package {
	t.Helper()
	pkgs, err := packages.Load(
		&packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps, Dir: "../.."}, module+"/...")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*packages.Package{}
	for _, p := range pkgs {
		out[strings.TrimPrefix(strings.TrimPrefix(p.PkgPath, module), "/")] = p
	}
	if len(out) < 10 {
		t.Fatalf("only %d packages found: the test sees nothing", len(out))
	}
	return out
}

func TestImportsGoOneWay(t *testing.T) {
	for path, p := range load(t) {
		own, ok := layerOf(path)
		if !ok {
			t.Errorf("%s is in no layer of the design: add it to layers here", path)
			continue
		}
		for imported := range p.Imports {
			rel, inside := strings.CutPrefix(imported, module+"/")
			if !inside {
				continue
			}
			if err := allowed(path, own, rel); err != nil {
				t.Error(err)
			}
		}
	}
}

func allowed(path string, own int, imported string) error {
	theirs, ok := layerOf(imported)
	switch {
	case !ok:
		return fmt.Errorf("%s imports %s, which is in no layer", path, imported)
	case theirs > own:
		return fmt.Errorf("%s imports %s, which lies above it", path, imported)
	case theirs == own && !layers[own].siblings && !within(path, imported):
		return fmt.Errorf("%s imports its sibling %s", path, imported)
	case path == "report" && !strings.HasPrefix(imported, "measure/"):
		return fmt.Errorf("%s imports %s: it knows files only", path, imported)
	case strings.HasPrefix(path, "conformance/") && matchesAny(implementations, imported):
		return fmt.Errorf(
			"%s imports %s: a suite takes constructors as arguments and knows no implementation", path,
			imported)
	}
	return nil
}

// within reports whether one of two packages lies below the other, such as
// load and load/apiserver.
func within(a, b string) bool {
	return strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

func TestProgramsCompileWhatClientGoBrings(t *testing.T) {
	pkgs := load(t)
	for _, c := range []struct{ packages, roots []string }{
		{importable, clientGoRoots},
		{withRuntime, append([]string{"sigs.k8s.io/controller-runtime/"}, clientGoRoots...)},
		{withBase, append([]string{"k8s.io/component-base/"}, clientGoRoots...)},
	} {
		brought := map[string]bool{}
		for _, p := range pkgs {
			for path, dep := range p.Imports {
				if slices.ContainsFunc(c.roots, func(r string) bool { return strings.HasPrefix(path+"/", r) }) {
					collect(dep, brought)
				}
			}
		}
		compiled := map[string]bool{}
		found := 0
		for path, p := range pkgs {
			if matchesAny(c.packages, path) {
				found++
				collect(p, compiled)
			}
		}
		if found < len(c.packages) {
			t.Errorf("%d packages match %v: the test sees too few", found, c.packages)
		}
		for path := range compiled {
			own := path == module || strings.HasPrefix(path, module+"/")
			standard := !strings.Contains(strings.Split(path, "/")[0], ".")
			if !own && !standard && !brought[path] {
				t.Errorf("a program that imports %v compiles %s, which client-go does not bring", c.packages,
					path)
			}
		}
	}
}

// A method that is looked up by a name unknown to the linker, or by its number, makes it keep every
// exported method of the program.
var byName = regexp.MustCompile(`\.(MethodByName\([^"]|Method\()`)

func TestProgramsLinkOnlyWhatTheyUse(t *testing.T) {
	for path, p := range load(t) {
		if !matchesAny(slices.Concat(importable, withRuntime, withBase), path) {
			continue
		}
		for _, file := range p.GoFiles {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if found := byName.Find(text); found != nil {
				t.Errorf("%s has %q: the linker then keeps all methods", file, found)
			}
		}
	}
	if !byName.MatchString("v.MethodByName(name)") || byName.MatchString(`v.MethodByName("Get")`) {
		t.Error("the rule does not tell a constant name from another")
	}
}

func collect(p *packages.Package, into map[string]bool) {
	if into[p.PkgPath] {
		return
	}
	into[p.PkgPath] = true
	for _, dep := range p.Imports {
		collect(dep, into)
	}
}

// TestRulesBite shows that the rules can fail.
func TestRulesBite(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"contract", "impl/mutexmap", "above"},
		{"impl/mutexmap", "queue/delay", "sibling"},
		{"impl/mutexmap", "peers/clientgo", "above"},
		{"impl/indexing", "impl/mutexmap", "above"},
		{"queue/workqueue", "queue/delay", "sibling"},
		{"conformance/storetest", "impl/mutexmap", "knows no implementation"},
		{"queue/workqueue", "dropin/ctrlqueue", "above"},
		{"measure/compare", "cmd/benchrun", "above"},
		{"report", "bench/catalog", "files only"},
		{"bench/catalog", "nowhere", "no layer"},
	} {
		own, ok := layerOf(c.from)
		if !ok {
			t.Fatalf("%s is in no layer", c.from)
		}
		if err := allowed(c.from, own, c.to); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s importing %s: got %v, want an error about %q", c.from, c.to, err, c.want)
		}
	}
}

func layerOf(path string) (int, bool) {
	i := slices.IndexFunc(layers, func(l layer) bool { return matchesAny(l.patterns, path) })
	return i, i >= 0
}

func matchesAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if base, below := strings.CutSuffix(p, "/..."); below {
			return path == base || strings.HasPrefix(path, base+"/")
		}
		return path == p
	})
}
