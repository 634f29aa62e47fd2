package storetest

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

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
				if err != nil {
					t.Errorf("AddIndexers: %v", err)
				}
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
		if !slices.Contains(may, got) {
			t.Fatalf("key %s holds %v; the last write of each writer to it was one of %v", k, got, may)
		}
	}
	agree(t, m, s, "when the writers have ended")
}

// The scheduler may interrupt a goroutine within its List, and AddIndexers and many writes
// may run before it goes on. A store that frees memory must not free then what the List
// still needs. So in this case readers outnumber the processors, and a list takes long
// enough to be interrupted. AddIndexers is quick. The writes after it take all objects from
// values of the new index, so that the store frees the entries of these values.
const (
	addedObjects = 12000
	addedMoving  = 200                    // of the objects have values in the indexes
	addedShare   = 4                      // of the moving objects share a value
	addedTimes   = 6                      // calls of AddIndexers on one store
	addedReaders = 16                     // for each processor
	addedTime    = 600 * time.Millisecond // at effort 1
)

var addedCases = []suite.Case[NewStore]{{
	Clause: "STORE-44", Name: "lists-before-and-writes-after",
	Run: func(t *suite.T, newStore NewStore) {
		for deadline := time.Now().Add(t.ScaleTime(addedTime)); !t.Failed() &&
			time.Now().Before(deadline); {
			addUnderListers(t, newStore, deadline)
		}
	}, Why: "a second controller adds its index to a running informer while the first one lists: " +
		"later the writer panics, or objects are missing, for the life of the process",
}}

// addUnderListers plays one round on a store of its own. The objects that move have a value in
// the indexes, the others have none.
func addUnderListers(t *suite.T, newStore NewStore, deadline time.Time) {
	const first = "first" // like the indexes that are added it has the values of maybe
	x := newTrial(t, newStore, first)
	moving := func(n, seq, to int) *item {
		return newItem(key(n), seq, "").withMaybe(strconv.Itoa(to))
	}
	items := make([]*item, addedObjects)
	for n := range items {
		if items[n] = newItem(key(n), 0, ""); n < addedMoving {
			items[n] = moving(n, 0, n/addedShare)
		}
	}
	x.replace("1", items...)
	var ended atomic.Bool
	actors := []func(){func() {
		defer ended.Store(true)
		late := func() bool { return time.Now().After(deadline) }
		for k := 1; k <= addedTimes && !late(); k++ {
			runtime.Gosched() // readers begin to read, and read on during all that follows
			x.update(moving(0, 2*k-1, k))
			err := x.addIndexers(fmt.Sprint("added ", k))
			if err != nil {
				t.Errorf("AddIndexers of a free name: %v", err)
			}
			for n := 0; n < addedMoving && !late(); n++ {
				x.update(moving(n, 2*k, k*addedMoving+n/addedShare))
				t.Progress()
			}
		}
	}}
	for range addedReaders * runtime.GOMAXPROCS(0) {
		actors = append(actors, func() {
			for first := true; (first || !ended.Load()) && !t.HasStalled(); first = false {
				if list := x.s.List(); len(list) != addedObjects {
					t.Errorf("List returned %d objects beside AddIndexers and updates; want %d", len(list),
						addedObjects)
					return
				}
			}
		})
	}
	t.Together(actors...)
	if !t.Failed() {
		x.must(x.m.checkIndexes(x.s))
		t.Progress()
	}
}

// callCases: calls that must work during other calls. A violation shows as a call that does
// not return; the suite's watchdog then fails the case.
var callCases = []suite.Case[NewStore]{
	{Clause: "STORE-32", Name: "index-func-uses-another-store",
		Run: func(t *suite.T, newStore NewStore) {
			other := newTrial(t, newStore, allIndexes...)
			other.add(crowd(9)...)
			useOther := func() {
				other.ask()
				other.s.Update(key(2), other.m.items[key(2)])
				other.s.Delete("absent")
			}
			x := newTrial(t, newStore)
			x.s = newStore(indexersBefore(useOther, one, many))
			x.add(crowd(5)...)
			must(t, x.s.AddIndexers(indexersBefore(useOther, maybe)))
			x.m.indexes = allIndexes
			x.update(at(1, 1))
			x.delete(key(1))
			x.batched(update(at(2, 1)), remove(key(2)), add(at(2, 0)))
			x.agree("with an IndexFunc that uses another store")
			x.replace("2", at(0, 1), at(7, 1))
			x.agree("after Replace, with an IndexFunc that uses another store")
			other.agree("the other store")
		}, Why: "pods are indexed by what the store of nodes says"},
	on("STORE-32", "writes-while-a-result-is-held", "garbage collectors list and delete as they go",
		func(x *trial) {
			x.add(crowd(9)...)
			byIndex, err := x.s.ByIndex(one, "a")
			x.must(err)
			for _, o := range append(x.s.List(), byIndex...) {
				i := o.(*item)
				x.update(i)
				x.delete(i.key)
				x.add(i)
				x.must(x.m.checkObjects(x.s))
			}
			x.delete(x.s.ListKeys()...)
			x.agree("after deleting every listed key")
		}),
	on("STORE-32", "a-held-result-blocks-nobody", "a handler may hold a list for hours",
		func(x *trial) {
			x.add(crowd(9)...)
			held := x.s.List()
			x.Together(func() {
				for n := range 50 {
					x.update(at(n%9, 0))
				}
				x.replace("2", crowd(9)...)
			})
			x.must(differs("the held List", names(held), itemNames(crowd(9))))
		}),
}

// ask makes each call that reads, whatever it answers.
func (x *trial) ask() {
	x.s.Get(key(4))
	x.s.List()
	x.s.ListKeys()
	x.s.ListIndexFuncValues(one)
	x.s.GetIndexers()
	_, err := x.s.ByIndex(one, "a")
	x.must(err)
	_, err = x.s.IndexKeys(one, "a")
	x.must(err)
	_, err = x.s.Index(one, at(0, 0))
	x.must(err)
}
