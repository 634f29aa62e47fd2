package runner

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Comments, line breaks and the commas that go with them do not count; all else does.
func TestTokensAreCodeAlone(t *testing.T) {
	t.Parallel()
	const plain = "package p\n\nfunc f(a, b int) int { return g(a, b) }\n"
	for text, same := range map[string]bool{
		"package p\n\n// f calls g.\nfunc f(\n\ta, b int,\n) int {\n\treturn " +
			"g(\n\t\ta,\n\t\tb,\n\t)\n}\n": true,
		"package p\nfunc f(a, b int) int { return g(b, a) }\n":                  false,
		"package p\n\n//go:noinline\nfunc f(a, b int) int { return g(a, b) }\n": false,
	} {
		if got := string(tokens([]byte(text))) == string(tokens([]byte(plain))); got != same {
			t.Errorf("%q is the same code: %v, want %v", text, got, same)
		}
	}
}

// A change of one package changes the hashes of what is built from it, and of nothing else.
func TestSourcesTellWhatChanged(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := listPackages(root); err != nil {
		t.Skip(err)
	}
	p, err := NewPlan(Options{Components: []string{"store", "fifo", "queue", "informer"},
		Impls: []string{"*"}, WorkTree: root, Out: filepath.Join(t.TempDir(), "out")})
	if err != nil {
		t.Fatal(err)
	}
	before, err := p.Sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range p.entries {
		if before[e.ID()] == "" {
			t.Errorf("%s has no hash", e.ID())
		}
	}
	for pkg, want := range map[string]struct{ changed, same string }{
		"impl/lockfree": {"store/lockfree informer/informerbench",
			"store/clientgo queue/workqueue instrument"},
		"queue/delay": {"queue/workqueue queue/priority", "queue/clientgo fifo/coalescing"},
		"queue/deltafifo": {"fifo/coalescing informer/informerbench",
			"fifo/clientgo-deltafifo store/lockfree"},
		"load": {"instrument", "store/lockfree"},
	} {
		other, err := listPackages(root)
		if err != nil {
			t.Fatal(err)
		}
		other[modulePath+"/"+pkg].hashed = []byte("changed")
		after := map[string]string{}
		if after[InstrumentSource], err = other.hash(nil, notInstrument, instrumentPath); err != nil {
			t.Fatal(err)
		}
		for _, e := range p.entries {
			text, roots, err := other.constructor(e)
			if err != nil {
				t.Fatal(err)
			}
			if after[e.ID()], err = other.hash(text, nil, roots...); err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range strings.Fields(want.changed) {
			if after[id] == before[id] {
				t.Errorf("%s: the hash of %s stayed", pkg, id)
			}
		}
		for _, id := range strings.Fields(want.same) {
			if after[id] != before[id] {
				t.Errorf("%s: the hash of %s changed", pkg, id)
			}
		}
	}
	delete(listed.of, root) // so that it is listed again
	again, err := p.Sources()
	if err != nil || !maps.Equal(before, again) {
		t.Errorf("the same source has other hashes: %v", err)
	}
	if _, err := os.Stat(p.options.Out); err == nil {
		t.Error("hashing wrote something")
	}
}
