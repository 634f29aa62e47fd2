package replay

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
)

// spread assigns readers to the instances, one for each resource of a trace, that ever hold
// anything. The largest comes first, in turn, so that a single reader reads the largest.
type spread struct {
	workload load.Workload
	busiest  []filled
}

type filled struct {
	engine.Subject
	objects *synthetic.Objects
}

func (t *spread) add(s engine.Subject, objects *synthetic.Objects) {
	if objects.Len() > 0 {
		t.busiest = append(t.busiest, filled{s, objects})
		slices.SortStableFunc(t.busiest, func(a, b filled) int {
			return cmp.Compare(b.objects.Len(), a.objects.Len())
		})
	}
}

// reader makes the actor of a reading group's goroutine.
func (t *spread) reader(g load.Group, who int) (engine.Actor, error) {
	able := t.busiest
	if op, err := load.LookupOperation(t.workload.Component, g.Op); err == nil && op.Indexed &&
		op.Op != load.OpIndex {
		index := cmp.Or(g.Index, t.workload.Index)
		able = slices.DeleteFunc(slices.Clone(able), func(f filled) bool {
			return len(f.objects.IndexedValues(index)) == 0
		})
	}
	if len(able) == 0 {
		return engine.Actor{}, fmt.Errorf(
			"group %s: there is nothing to %s in the trace: its objects are in no such index, or it has "+
				"none", g.Name, g.Op)
	}
	return able[who%len(able)].Actor(g.Op, g, who/len(able))
}
