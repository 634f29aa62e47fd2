//go:build explore

package linear_test

import (
	"maps"
	"testing"
	"time"

	"github.com/informerbench/informerbench/conformance/linear"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/internal/explore"
)

// In the build of these tests the locks of the broken stores are the explorer's.
func init() { explore.Instrument(explore.Code{Tests: []string{"broken_stores_test.go"}}) }

// steppedGo is client-go's store, each call a step.
func steppedGo(ix contract.Indexers) contract.Store { return linear.Stepped(clientGo(ix).(base)) }

func onStepped(wrap func(base) contract.Store) linear.NewStore {
	return func(ix contract.Indexers) contract.Store { return wrap(steppedGo(maps.Clone(ix)).(base)) }
}

func program(t *testing.T, text string, newStore linear.NewStore) explore.Program {
	t.Helper()
	p, err := linear.Program(text, newStore)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestExploreFindsBrokenStores: the explorer finds the mistakes that histories of real
// threads find.
func TestExploreFindsBrokenStores(t *testing.T) {
	for _, b := range []struct {
		name     string
		newStore linear.NewStore
	}{
		{"a list under two locks", func(ix contract.Indexers) contract.Store {
			return halves{steppedGo(maps.Clone(ix)), steppedGo(maps.Clone(ix))}
		}},
		{"a list by keys", onStepped(func(s base) contract.Store { return listByKeys{s} })},
		{"old and new in one list", onStepped(func(s base) contract.Store { return &overlaid{base: s} })},
		{"an index behind its objects", onStepped(func(s base) contract.Store {
			return byIndexByKeys{s}
		})},
		{"index value by value", onStepped(func(s base) contract.Store {
			return indexByValue{s, maps.Clone(s.GetIndexers())}
		})},
		{"values brought up later", onStepped(func(s base) contract.Store {
			return &lateValues{base: s, first: maps.Clone(s.GetIndexers())}
		})},
		{"a lost update", onStepped(func(s base) contract.Store { return &busy{base: s} })},
		{"get of a stale cache", onStepped(func(s base) contract.Store { return &cached{base: s} })},
		{"an update in two", onStepped(func(s base) contract.Store { return updateInTwo{s} })},
		{"updates wait for a flush", onStepped(func(s base) contract.Store {
			return &writeBehind{base: s}
		})},
		{"a replace in two", onStepped(func(s base) contract.Store { return replaceInTwo{s} })},
		{"a transaction one by one", onStepped(func(s base) contract.Store { return oneByOne{s} })},
		{"a version before its write", onStepped(func(s base) contract.Store { return versionFirst{s} })},
		{"indexers one at a time", onStepped(func(s base) contract.Store { return oneIndexer{s} })},
		{"indexers of the beginning", onStepped(func(s base) contract.Store {
			return firstIndexers{s, maps.Clone(s.GetIndexers())}
		})},
		{"a list that a deletion kills", onStepped(func(s base) contract.Store { return fragile{s} })},
	} {
		t.Run(b.name, func(t *testing.T) {
			var programs []explore.Program
			for _, text := range linear.Probes {
				programs = append(programs, program(t, text, b.newStore))
			}
			explore.MustFind(t, programs)
		})
	}
}

// TestExploreAccusesNoHealthyStore goes through all schedules of the probes over
// client-go's store.
func TestExploreAccusesNoHealthyStore(t *testing.T) {
	for _, text := range linear.Probes {
		s := explore.NewSearch(program(t, text, steppedGo))
		for s.Deepen(time.Now().Add(time.Minute)) {
		}
		if s.Failure != nil {
			t.Error(s.Failure)
		} else if !s.Finished() {
			t.Errorf("not all schedules were explored: %v", s)
		}
	}
}

func TestExploreRefusesBadScripts(t *testing.T) {
	for _, text := range []string{
		"", "one: add a:x", "two: => list", "one: add e:x => list", "one: => jump", "one: => get",
		"one: => get e",
		"one: => byindex one w", "one: => byindex two x", "one: => tx", "one: => tx a",
		"one: => add a:x/y/z/x", "one: => add a",
	} {
		if _, err := linear.Program(text, steppedGo); err == nil {
			t.Errorf("%q was read as a script", text)
		}
	}
}
