package fifotest

// The two ways to take something out: Pop, and PopBatch where a FIFO has it.

import (
	"fmt"
	"slices"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// popped is the result of one Pop.
type popped struct {
	deltas    contract.Deltas // the argument of process
	item      any             // the result of Pop
	isInitial bool
	calls     int // calls of process
	err       error
}

// popper is Pop, or PopBatch in its place.
type popper struct {
	name string
	// atOnce is how many events a case queues so that one call takes several if it can: one
	// for Pop, two of different keys for PopBatch.
	atOnce int
	pop    func(f contract.FIFO, process contract.PopProcessFunc) (item any, err error)
}

var (
	byPop      = popper{"Pop", 1, contract.FIFO.Pop}
	byPopBatch = popper{"PopBatch", 2, popBatch}
)

// popBatch is PopBatch with one process function for several events and for one. The item
// is the argument of process.
func popBatch(f contract.FIFO, process contract.PopProcessFunc) (item any, err error) {
	err = f.(contract.BatchPopper).PopBatch(func(deltas []contract.Delta, isInInitialList bool) error {
		item = contract.Deltas(deltas)
		return process(item, isInInitialList)
	}, func(o any, isInInitialList bool) error {
		item = o
		return process(item, isInInitialList)
	})
	return item, err
}

// once pops on the calling goroutine; process may be nil.
func (by popper) once(f contract.FIFO, process contract.PopProcessFunc) (p popped) {
	p.item, p.err = by.pop(f, func(o any, isInInitialList bool) error {
		p.calls++
		p.isInitial = isInInitialList
		deltas, ok := o.(contract.Deltas)
		if !ok {
			return fmt.Errorf("process was given %T, not Deltas", o)
		}
		// A copy: it keeps the deltas if the FIFO changes its own slice afterwards.
		p.deltas = slices.Clone(deltas)
		if process != nil {
			return process(o, isInInitialList)
		}
		return nil
	})
	return p
}

// popOnce is byPop.once.
func popOnce(f contract.FIFO, process contract.PopProcessFunc) popped {
	return byPop.once(f, process)
}

// objects returns as many objects as one call of the popper takes, of different keys.
func (by popper) objects() (objs []*object) {
	for i := range by.atOnce {
		objs = append(objs, obj(fmt.Sprintf("o%d", i), i))
	}
	return objs
}

// listOf returns objs as arguments of Add and Replace.
func listOf(objs []*object) (list []any) {
	for _, o := range objs {
		list = append(list, o)
	}
	return list
}

// setUp is the function setUp. take of its fixture pops by this popper.
func (by popper) setUp(t *suite.T, construct newFIFO, known contract.KeyListerGetter) *fixture {
	b := setUp(t, construct, known)
	b.by = by
	return b
}

// byEachPopper makes a case that runs with Pop and, where the FIFO has it, with PopBatch.
func byEachPopper(clause, name, why string,
	run func(t *suite.T, construct newFIFO, by popper)) fifoCase {
	return check(clause, name, why, func(t *suite.T, construct newFIFO) {
		poppers := []popper{byPop}
		if hasBatches(t, construct) {
			poppers = append(poppers, byPopBatch)
		}
		for _, by := range poppers {
			t.Logf("with %s:", by.name)
			run(t, construct, by)
		}
	})
}

// hasBatches reports whether the FIFO has PopBatch.
func hasBatches(t *suite.T, construct newFIFO) bool {
	_, ok := setUp(t, construct, nil).f.(contract.BatchPopper)
	return ok
}

const companion = "companion"

// accompany queues the addition of one more object if a call of the fixture's popper takes
// two. The case's process leaves it out (alone), so it leaves no trace.
func (b *fixture) accompany() {
	if b.by.atOnce > 1 {
		b.add(obj(companion, 0))
	}
}

// alone returns deltas without that of the companion.
func alone(deltas contract.Deltas) contract.Deltas {
	return slices.DeleteFunc(slices.Clone(deltas), func(d contract.Delta) bool {
		o, ok := d.Object.(*object)
		return ok && o.key == companion
	})
}
