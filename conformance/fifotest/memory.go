package fifotest

// What a FIFO keeps of what was popped.

import (
	"fmt"
	"runtime"
	"weak"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// keptAfterPop is the bound of FIFO-24: how many popped objects a FIFO may keep.
const keptAfterPop = 16

var memoryCases = fifoCases{
	byEachPopper("FIFO-24", "no-longer-reachable",
		"the memory of a cluster's worth of objects stays with an empty FIFO",
		func(t *suite.T, construct newFIFO, by popper) {
			const n = 200
			for _, in := range []struct {
				name  string
				keys  int
				queue func(b *fixture, objs ...any)
			}{
				{"Add", n, (*fixture).add},
				{"Update, two for each key", n / 2, (*fixture).update},
				{"Replace", n, (*fixture).replace},
			} {
				b := by.setUp(t, construct, nil)
				refs := queueTraced(b, n, in.keys, in.queue)
				b.add(obj("last", n)) // what still waits must not keep the others alive
				takeObjects(b, n)
				b.add(obj("later", n+1)) // nor must what comes next
				// One collection may miss what a dead slot of a stack still names.
				t.Eventually(func() bool { return alive(refs) <= keptAfterPop }, runtime.GC,
					fmt.Sprintf("all but %d of %d objects that came by %s and were popped are garbage",
						keptAfterPop, n, in.name))
			}
		}),
}

// queueTraced queues n objects of so many keys, and returns weak pointers that show when
// they are freed.
func queueTraced(b *fixture, n, keys int,
	queue func(b *fixture, objs ...any)) []weak.Pointer[object] {
	objs, refs := make([]any, n), make([]weak.Pointer[object], n)
	for i := range objs {
		o := obj(fmt.Sprintf("k%d", i%keys), i)
		objs[i], refs[i] = o, weak.Make(o)
	}
	queue(b, objs...)
	return refs
}

// takeObjects pops until n objects or more have come out.
func takeObjects(b *fixture, n int) {
	for n > 0 {
		p := b.take(nil)
		b.must(p.err)
		for _, d := range p.deltas {
			if list, ok := d.Object.(contract.ReplacedAllInfo); ok {
				n -= len(list.Objects)
			} else {
				n--
			}
		}
	}
}

func alive(refs []weak.Pointer[object]) (n int) {
	for _, r := range refs {
		if r.Value() != nil {
			n++
		}
	}
	return n
}
