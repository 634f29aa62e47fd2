package storetest

import (
	"fmt"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
)

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
			t.ErrorIf(err != nil, "AddIndexers of a free name: %v", err)
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
