package storetest

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
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

// moving is an object that the writer moves from value to value, if it has any.
type moving struct {
	key    int
	values []string
}

func movingAt(n, at int) *moving { return &moving{n, []string{strconv.Itoa(at)}} }

func movingKey(n int) string { return fmt.Sprint("k", n) }

func valuesOfMoving(obj any) ([]string, error) { return obj.(*moving).values, nil }

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

// addUnderListers plays one round on a store of its own.
func addUnderListers(t *suite.T, newStore NewStore, deadline time.Time) {
	s := newStore(contract.Indexers{"first": valuesOfMoving})
	now := make([]*moving, addedMoving) // by key; the writer's until the readers have ended
	items := make(map[string]any, addedObjects)
	for n := range addedObjects {
		obj := &moving{key: n}
		if n < addedMoving {
			obj = movingAt(n, n/addedShare)
			now[n] = obj
		}
		items[movingKey(n)] = obj
	}
	s.Replace(items, "1")
	names := []string{"first"}
	var ended atomic.Bool
	actors := []func(){func() {
		defer ended.Store(true)
		late := func() bool { return time.Now().After(deadline) }
		for k := 1; k <= addedTimes && !late(); k++ {
			move := func(n, to int) {
				now[n] = movingAt(n, to)
				s.Update(movingKey(n), now[n])
				t.Progress()
			}
			runtime.Gosched() // readers begin to read, and read on during all that follows
			move(0, k)
			names = append(names, fmt.Sprint("added ", k))
			if err := s.AddIndexers(contract.Indexers{names[k]: valuesOfMoving}); err != nil {
				t.Errorf("AddIndexers of a free name: %v", err)
			}
			for n := 0; n < addedMoving && !late(); n++ {
				move(n, k*addedMoving+n/addedShare)
			}
		}
	}}
	for range addedReaders * runtime.GOMAXPROCS(0) {
		actors = append(actors, func() {
			for first := true; (first || !ended.Load()) && !t.HasStalled(); first = false {
				if list := s.List(); len(list) != addedObjects {
					t.Errorf("List returned %d objects beside AddIndexers and updates; want %d", len(list),
						addedObjects)
					return
				}
			}
		})
	}
	t.Together(actors...)
	for _, name := range names {
		if !t.Failed() {
			agreeOnMoving(t, s, name, now)
			t.Progress()
		}
	}
}

// agreeOnMoving compares an index with the objects that have a value.
func agreeOnMoving(t *suite.T, s contract.Store, name string, now []*moving) {
	want := map[string][]any{}
	for _, obj := range now {
		want[obj.values[0]] = append(want[obj.values[0]], obj)
	}
	values := slices.Sorted(slices.Values(s.ListIndexFuncValues(name)))
	if wanted := slices.Sorted(maps.Keys(want)); !slices.Equal(values, wanted) {
		t.Errorf("after AddIndexers under lists the values in %q are %q; want %q", name, values, wanted)
		return
	}
	// not each: a store may look through all objects
	for n := 0; n < addedMoving; n += addedMoving / 10 {
		value := now[n].values[0]
		objects := want[value]
		got, err := s.ByIndex(name, value)
		same := err == nil && len(got) == len(objects)
		for _, obj := range objects {
			same = same && slices.Contains(got, obj)
		}
		if !same {
			t.Errorf("after AddIndexers under lists ByIndex(%s, %s) returned %d objects, %v; want %d", name,
				value, len(got), err, len(objects))
			return
		}
	}
}
