package load

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load/synthetic"
)

func (w Workload) checkGroups(e *FieldErrors, knownComponent bool) {
	names := map[string]bool{}
	total := 0
	for i, g := range w.Groups {
		prefix := fmt.Sprintf("groups[%d].", i)
		checkName(e, prefix+"name", g.Name)
		if names[g.Name] && g.Name != "" {
			e.add(prefix+"name", fmt.Sprintf("there are two groups %q", g.Name),
				"a name of its own for each group")
		}
		names[g.Name] = true
		within(e, prefix+"goroutines", g.Goroutines, 0, maxGoroutines)
		total += max(0, g.Goroutines)
		if g.Rate != 0 && !(g.Rate >= minRate && g.Rate <= maxRate) {
			e.add(prefix+"rate", fmt.Sprintf("%v is out of range", g.Rate),
				fmt.Sprintf("%v to %d operations a second, or 0 for a closed loop", minRate, maxRate))
		}
		within(e, prefix+"batch", g.Batch, 1, maxBatch)
		within(e, prefix+"keys", g.Keys, 0, max(0, w.Objects.Count))
		within(e, prefix+"work", g.Work, 0, maxDuration)
		within(e, prefix+"think", g.Think, 0, maxDuration)
		within(e, prefix+"ahead", g.Ahead, 0, maxDuration)
		if g.Think > 0 && g.Rate > 0 {
			e.add(prefix+"think", "an open loop does not think", "rate or think, not both")
		}
		if knownComponent {
			w.checkGroupOp(e, prefix, g)
		}
	}
	if len(w.Groups) > 0 && total == 0 && !strings.HasSuffix(w.Sweep.Vary, ".goroutines") {
		e.add("groups", "all groups have 0 goroutines", "1 or more in one of them")
	}
	switch w.Component {
	case contract.ComponentFIFO:
		w.checkFIFOGroups(e)
	case contract.ComponentInformer:
		w.checkInformerGroups(e)
	}
}

// optional names the fields that only some operations read. A value that no operation would
// read is a mistake and not silently dropped.
func (w Workload) checkGroupOp(e *FieldErrors, prefix string, g Group) {
	op, err := LookupOperation(w.Component, g.Op)
	if err != nil {
		e.add(prefix+"op", fmt.Sprintf("unknown operation %q of a %s", g.Op, w.Component),
			"one of "+join(Operations(w.Component), func(o Operation) string { return string(o.Op) }))
		return
	}
	needs := func(field string, set bool, does string, ops ...Op) {
		if set && !slices.Contains(ops, g.Op) {
			e.add(prefix+field, fmt.Sprintf("%s does not %s", g.Op, does), "it with op "+join(ops, asString))
		}
	}
	needs("batch", g.Batch > 1, "take a batch", OpTransaction, OpPop)
	needs("work", g.Work > 0, "handle items", OpPop, OpGetDone, OpHandle)
	needs("requeue", g.Requeue, "put items back", OpGetDone)
	needs("ahead", g.Ahead > 0, "give a ready time", aheadOps(w.Component)...)
	if op.Role == RoleConsume && g.Rate > 0 {
		e.add(prefix+"rate", fmt.Sprintf(
			"the consumers of group %q take what is there, at no rate of their own", g.Name),
			"it with the group that adds or writes, or work for how long an item takes")
	}
	if w.Objects.Kind == synthetic.KindNode &&
		(op.Indexed || g.Op == OpUpdateIndex || g.Op == OpListNamespace) {
		e.add(prefix+"op", fmt.Sprintf("%s needs pods: nodes are in no index", g.Op),
			"objects of kind pod or small")
	}
	switch {
	case op.Indexed && !validIndex(g.Index):
		e.add(prefix+"index", fmt.Sprintf("unknown index %q", g.Index),
			"one of "+join(indexNames, asString))
	case !op.Indexed && g.Index != "":
		e.add(prefix+"index", fmt.Sprintf("%s reads no index", g.Op),
			"it with op by-index, index, index-keys")
	}
}

func aheadOps(c contract.Component) []Op {
	if c == contract.ComponentDelay {
		return []Op{OpAdd, OpMixed}
	}
	return []Op{OpAddAfter}
}

// isLeftOut reports whether a group has no goroutines, and gets none from a sweep.
func (w Workload) isLeftOut(g Group) bool {
	return g.Goroutines == 0 && w.Sweep.Vary != g.Name+".goroutines"
}

// checkFIFOGroups refuses workloads that would never end: a producer without a consumer
// fills the memory, a consumer without a producer waits forever. Pop is meant for one
// consumer.
func (w Workload) checkFIFOGroups(e *FieldErrors) {
	var producers, consumers int
	for i, g := range w.Groups {
		if w.isLeftOut(g) {
			continue
		}
		switch g.Op {
		case OpAdd:
			producers++
		case OpPop:
			consumers++
			if g.Goroutines > 1 || consumers > 1 {
				e.add(fmt.Sprintf("groups[%d].goroutines", i), "a FIFO has one consumer",
					"1 goroutine in one group with op pop")
			}
		}
	}
	switch {
	case producers > 0 && consumers == 0:
		e.add("groups", "nothing pops what is added", "a group with op pop beside it")
	case consumers > 0 && producers == 0:
		e.add("groups", "nothing adds what is popped", "a group with op add beside it")
	}
}

// checkInformerGroups refuses workloads that would measure nothing. Writes in a closed loop
// need a handler, or their rate would be that of the watch's channel. Handlers need writes.
// A relist starts informers of its own, so only readers may run beside it.
func (w Workload) checkInformerGroups(e *FieldErrors) {
	var closed, writers, handlers, relisters int
	for i, g := range w.Groups {
		if w.isLeftOut(g) {
			continue
		}
		switch g.Op {
		case OpUpdate:
			writers++
			if g.Rate == 0 {
				closed++
			}
		case OpHandle:
			handlers++
		case OpRelist:
			relisters++
			if relisters > 1 || g.Goroutines > 1 {
				e.add(fmt.Sprintf("groups[%d].goroutines", i),
					"an informer lists again one time after the other", "1 goroutine in one group with op relist")
			}
		}
	}
	switch {
	case closed > 0 && handlers == 0:
		e.add("groups", "a closed loop's updates go at the pace of the first handler, and there is none",
			"a group with op handle beside it, or a rate")
	case handlers > 0 && writers == 0:
		e.add("groups", "nothing sends what is handled", "a group with op update beside it")
	}
	if relisters > 0 && writers+handlers > 0 {
		e.add("groups", "a relist has an informer and a handler of its own",
			"readers only beside op relist")
	}
}
