package storetest

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

const (
	restWriters = 4
	restRounds  = 12 // each on a store of its own, at effort 1
	restWrites  = 50 // writes of each writer in a round
	restKeys    = 12 // keys of each writer, and as many that all share
)

// restCases: the content after many writers have ended. A lost write shows only if no later
// write hides it, so rounds are short and many.
var restCases = []suite.Case[NewStore]{
	{Clause: "STORE-36", Name: "many-writers", Run: func(t *suite.T, newStore NewStore) {
		rounds(t, func(seeds *rand.Rand) {
			crowdOfWriters(t, newStore(indexersBefore(runtime.Gosched, allIndexes...)), seeds)
		})
	}, Why: "an update that is lost is not sent again until the next relist"},
	{Clause: "STORE-36", Name: "many-writers-and-readers", Run: func(t *suite.T, newStore NewStore) {
		rounds(t, func(seeds *rand.Rand) {
			s := newStore(indexers())
			crowdOfWriters(t, s, seeds, func() {
				s.List()
				s.ListKeys()
			}, func() {
				_, _ = s.ByIndex(one, "a")
				_, _ = s.IndexKeys(many, "x")
				_, _ = s.Index(many, probe)
				s.ListIndexFuncValues(maybe)
			})
		})
	}, Why: "the race detector sees here what a reader touches without leave"},
	{Clause: "STORE-23", Name: "while-writers-run", Run: func(t *suite.T, newStore NewStore) {
		rounds(t, func(seeds *rand.Rand) {
			s := newStore(indexers(one))
			added := false
			crowdOfWriters(t, s, seeds, func() {
				if added {
					return
				}
				added = true
				err := s.AddIndexers(indexersBefore(runtime.Gosched, many, maybe))
				t.ErrorIf(err != nil, "AddIndexers: %v", err)
			})
		})
	}, Why: "an object that comes while the index is filled must not be left out of it"},
}

func rounds(t *suite.T, round func(seeds *rand.Rand)) {
	seeds := t.Rand()
	for n := 0; n < t.Scale(restRounds) && !t.Failed(); n++ {
		round(seeds)
	}
}

// crowdOfWriters runs writers with keys of their own and shared keys, beside the given
// readers. Each reader is called at least once. Then it compares the content with the
// writers' last writes.
func crowdOfWriters(t *suite.T, s contract.Store, seeds *rand.Rand, readers ...func()) {
	var writing atomic.Int64
	writing.Store(restWriters)
	last := make([]map[string]*item, restWriters) // per writer; nil item for a deletion
	var actors []func()
	for w := range restWriters {
		last[w] = map[string]*item{}
		r := rand.New(rand.NewPCG(seeds.Uint64(), seeds.Uint64()))
		actors = append(actors, func() {
			defer writing.Add(-1)
			for n := range restWrites {
				k := fmt.Sprintf("own-%d-%d", w, r.IntN(restKeys))
				if r.IntN(3) == 0 {
					k = fmt.Sprintf("shared-%d", r.IntN(restKeys))
				}
				if r.IntN(4) == 0 {
					s.Delete(k)
					last[w][k] = nil
					continue
				}
				i := at(r.IntN(30), n*restWriters+w)
				i.key, i.name = k, k+"="+i.name
				s.Update(k, i)
				last[w][k] = i
			}
		})
	}
	for _, read := range readers {
		actors = append(actors, func() {
			for first := true; (first || writing.Load() > 0) && !t.HasStalled(); first = false {
				read()
				// On one core a reader that never yields would run for 10 ms each time that
				// a writer yields.
				runtime.Gosched()
			}
		})
	}
	t.Together(actors...)
	if t.Failed() {
		return
	}

	m := newModel()
	candidates := map[string][]*item{}
	for _, mine := range last {
		for k, i := range mine {
			candidates[k] = append(candidates[k], i)
		}
	}
	for k, may := range candidates {
		var got *item
		if o, ok := s.Get(k); ok {
			got = o.(*item)
			m.items[k] = got
		}
		t.FatalIf(!slices.Contains(may, got),
			"key %s holds %v; the last write of each writer to it was one of %v", k, got, may)
	}
	agree(t, m, s, "when the writers have ended")
}
