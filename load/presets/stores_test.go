package presets

import (
	"slices"
	"testing"

	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
)

// The presets for stores have the sizes that their descriptions state.
func TestStorePresetsAreWhatTheySay(t *testing.T) {
	t.Parallel()
	seen := map[load.Op]int{}
	for _, name := range []string{"lock-starvation", "stores"} {
		p, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range p.Workloads {
			o := w.Objects
			if o.Kind != synthetic.KindPod || o.Count != 100_000 || o.Count/o.NamespaceCount() != 2_000 {
				t.Errorf("%s: %+v, want 100,000 pods, 2,000 to a namespace", w.Name, o)
			}
			if name == "stores" && o.Count/o.NodeCount() != 20 {
				t.Errorf("%s: %d pods to a node, want 20", w.Name, o.Count/o.NodeCount())
			}
			if slices.Contains(w.Ops, load.OpUpdateIndex) && len(w.Ops) > 1 {
				t.Errorf("%s: %v find objects that update-index moved", w.Name, w.Ops)
			}
			for _, op := range w.Ops {
				seen[op] += len(w.Parallel)
			}
		}
	}
	want := map[load.Op]int{load.OpGet: 2, load.OpList: 1, load.OpByIndex: 2, load.OpUpdate: 1,
		load.OpUpdateIndex: 1,
		load.OpAddDelete:   1, load.OpTransaction: 1, load.OpReplace: 1}
	for op, n := range want {
		if seen[op] != n {
			t.Errorf("%s is measured alone %d times, want %d", op, seen[op], n)
		}
	}
}
