// Package architecture tests the rules of the design against the real code: who
// may import whom. It holds nothing else.
package architecture

import (
	"fmt"
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
	{[]string{"core/explore", "core/internal/...", "internal/clusterjob", "internal/loopback", "internal/suggest", "internal/testscript"}, false},
	{[]string{"core/contract"}, false},
	{[]string{"core/impl/indexing"}, false},
	{[]string{"core/impl/...", "core/queue/...", "core/indexer", "core/synthetic"}, false},
	{[]string{"core/informer/..."}, true},
	{[]string{"core/dropin/..."}, false},
	{[]string{"impl/...", "load/...", "conformance/...", "ctrlqueue"}, true},
	{[]string{"dropin/..."}, true},
	{[]string{"catalog"}, false},
	{[]string{"measure/metrics"}, false},
	{[]string{"measure/stats"}, false},
	{[]string{"measure/sysinfo"}, false},
	{[]string{"measure/record/..."}, false},
	{[]string{"compare"}, false},
	{[]string{"history"}, false},
	{[]string{"report"}, false},
	{[]string{"advise"}, false},
	{[]string{"web"}, false},
	{[]string{"bench/internal/staleness", "bench/internal/profile"}, false},
	{[]string{"bench/internal/engine"}, false},
	{[]string{"bench/internal/subject"}, false},
	{[]string{"bench/internal/replay"}, false},
	{[]string{"bench"}, false},
	{[]string{"bench/runner"}, false},
	{[]string{"internal/scale/..."}, true},
	{[]string{"internal/evidence/..."}, true},
	{[]string{"internal/pages/..."}, true},
	{[]string{"benchcmd"}, false},
	{[]string{"cmd/...", "examples/..."}, false},
	{[]string{"ci", "internal/architecture", "internal/coretest/..."}, false},
	{[]string{"internal/mechanical/..."}, true},
	{[]string{"upstream/..."}, true},
}

// coreRoots are the modules that the code of core may stand on; what they need themselves
// is allowed too. internal/coretest holds the modules of its tests against client-go's.
var coreRoots = []string{"k8s.io/apimachinery/", "k8s.io/client-go/", "k8s.io/utils/", "k8s.io/klog/", "golang.org/x/time/"}

// implementations are what conformance suites must not know.
var implementations = []string{"core/impl/...", "core/queue/...", "core/indexer", "core/informer/...", "core/dropin/...", "impl/...", "dropin/...", "ctrlqueue"}

func load(t *testing.T) map[string]*packages.Package {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps, Dir: "../.."}, module+"/...")
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
			t.Errorf("%s is in no layer of the design: add it to layers here and to docs/layout.md", path)
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
	case (path == "report" || path == "compare" || path == "history") && !strings.HasPrefix(imported, "measure/") && imported != "compare" && imported != "history":
		return fmt.Errorf("%s imports %s: it knows files only", path, imported)
	case strings.HasPrefix(path, "conformance/") && matchesAny(implementations, imported):
		return fmt.Errorf("%s imports %s: a suite takes constructors as arguments and knows no implementation", path, imported)
	}
	return nil
}

// within reports whether one of two packages lies below the other, such as
// load and load/apiserver.
func within(a, b string) bool {
	return strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

func TestCoreNeedsClientGoOnly(t *testing.T) {
	pkgs := load(t)
	brought := map[string]bool{}
	for _, p := range pkgs {
		for path, dep := range p.Imports {
			if slices.ContainsFunc(coreRoots, func(r string) bool { return strings.HasPrefix(path+"/", r) }) {
				collect(dep, brought)
			}
		}
	}
	for path, p := range pkgs {
		if !strings.HasPrefix(path, "core/") {
			continue
		}
		for imported := range p.Imports {
			if strings.Contains(strings.Split(imported, "/")[0], ".") && !strings.HasPrefix(imported, module) && !brought[imported] {
				t.Errorf("%s imports %s, which client-go does not bring", path, imported)
			}
		}
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
		{"core/contract", "core/impl/mutexmap", "above"},
		{"core/impl/mutexmap", "core/queue/delay", "sibling"},
		{"core/impl/mutexmap", "core/impl/upstream", "sibling"},
		{"core/impl/indexing", "core/impl/mutexmap", "above"},
		{"core/queue/workqueue", "core/queue/delay", "sibling"},
		{"conformance/storetest", "core/impl/mutexmap", "knows no implementation"},
		{"core/queue/workqueue", "ctrlqueue", "above"},
		{"report", "cmd/benchrun", "above"},
		{"report", "catalog", "files only"},
		{"history", "catalog", "files only"},
		{"compare", "history", "above"},
		{"catalog", "nowhere", "no layer"},
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
