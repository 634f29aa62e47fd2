package storetest_test

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/conformance/linear"
	"github.com/informerbench/informerbench/conformance/storetest"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// failedClauses runs the suite and returns the text of one failure per clause.
func failedClauses(t *testing.T, newStore storetest.NewStore, opts ...storetest.Option) map[string]string {
	t.Helper()
	failed := map[string]string{}
	opts = append(opts, linear.WithDrawings(t.TempDir()), suite.WithObserver(func(r suite.Result) {
		if r.Outcome == suite.Fail {
			failed[r.Clause.ID] = r.Case + ": " + r.Reason
		}
	}))
	err := suite.UntilCaught(func(seed suite.Option) error { return storetest.Check(newStore, append(opts, seed)...) })
	var failure *suite.Failure
	if (err != nil) != (len(failed) > 0) || err != nil && !errors.As(err, &failure) {
		t.Fatalf("Check returned %v where %d clauses failed", err, len(failed))
	}
	return failed
}

// Each broken store is client-go's with one small mistake, and the suite must
// name the clause that the mistake breaks.
func TestBrokenStoresAreNamed(t *testing.T) {
	for _, b := range []struct {
		name   string
		clause string
		wrap   func(base) contract.Store
	}{
		{"by-index misses one", "STORE-13", func(s base) contract.Store { return missesOne{s} }},
		{"values are never dropped", "STORE-16", func(s base) contract.Store { return &remembers{base: s, ever: map[string]map[string]bool{}} }},
		{"one value per index", "STORE-18", func(s base) contract.Store { return reindexed(s, firstValue) }},
		{"the first value for ever", "STORE-19", func(s base) contract.Store { return reindexed(s, frozenValue) }},
		{"values are never dropped", "STORE-22", func(s base) contract.Store { return &remembers{base: s, ever: map[string]map[string]bool{}} }},
		{"no back-fill", "STORE-23", func(s base) contract.Store { return noBackFill{s} }},
		{"get returns a copy", "STORE-1", func(s base) contract.Store { return copies{s} }},
		{"add keeps what is there", "STORE-2", func(s base) contract.Store { return addOnce{s} }},
		{"delete needs company", "STORE-3", func(s base) contract.Store { return keepsDeleted{s} }},
		{"list drops one of many", "STORE-4", func(s base) contract.Store { return shortList{s} }},
		{"keys are given twice", "STORE-5", func(s base) contract.Store { return keysTwice{s} }},
		{"list shares its slice", "STORE-6", func(s base) contract.Store { return &sharedSlice{base: s} }},
		{"list by keys", "STORE-7", func(s base) contract.Store { return listByKeys{s} }},
		{"list by keys", "STORE-35", func(s base) contract.Store { return listByKeys{s} }},
		{"replace as empty and fill", "STORE-8", func(s base) contract.Store { return replaceInTwo{s} }},
		{"by-index by keys", "STORE-9", func(s base) contract.Store { return byIndexByKeys{s} }},
		{"index value by value", "STORE-10", func(s base) contract.Store { return indexByValue{s} }},
		{"index value by value", "STORE-15", func(s base) contract.Store { return indexByValue{s} }},
		{"update as delete and add", "STORE-11", func(s base) contract.Store { return updateInTwo{s} }},
		{"update as delete and add", "STORE-12", func(s base) contract.Store { return updateInTwo{s} }},
		{"update as delete and add", "STORE-34", func(s base) contract.Store { return updateInTwo{s} }},
		{"unknown index is empty", "STORE-17", func(s base) contract.Store { return lenient{s} }},
		{"index-keys unsorted", "STORE-14", func(s base) contract.Store { return unsorted{s} }},
		{"replace merges", "STORE-20", func(s base) contract.Store { return merging{s} }},
		{"add-indexers overwrites", "STORE-24", func(s base) contract.Store { return overwriting{s} }},
		{"get-indexers forgets the later ones", "STORE-25", func(s base) contract.Store { return firstIndexers{s, maps.Clone(s.GetIndexers())} }},
		{"index error is swallowed", "STORE-31", func(s base) contract.Store { return lenient{s} }},
		{"resync fails", "STORE-33", func(s base) contract.Store { return noResync{s} }},
		{"updates wait for a flush", "STORE-34", func(s base) contract.Store { return &writeBehind{base: s} }},
		{"a busy store drops the update", "STORE-36", func(s base) contract.Store { return &busy{base: s} }},
		{"transaction backwards", "STORE-37", func(s base) contract.Store { return backwards{s} }},
		{"transaction one by one", "STORE-38", func(s base) contract.Store { return oneByOne{s} }},
		{"bookmark ignored", "STORE-40", func(s base) contract.Store { return noBookmark{s} }},
		{"delete keeps the version", "STORE-41", func(s base) contract.Store { return versionless{s} }},
		{"no metadata clears the version", "STORE-42", func(s base) contract.Store { return forgetful{s} }},
		{"transaction keeps the version", "STORE-43", func(s base) contract.Store { return oldBatch{s} }},
	} {
		t.Run(b.clause+" "+b.name, func(t *testing.T) {
			failed := failedClauses(t, func(ix contract.Indexers) contract.Store {
				return b.wrap(clientGo(ix).(base))
			}, suite.Only(b.clause))
			if failed[b.clause] == "" {
				t.Errorf("not caught by %s; caught: %v", b.clause, failed)
			}
			t.Log(failed[b.clause])
		})
	}
}

// Mistakes that hang are named by the suite's watchdog.
func TestHangingStoresAreNamed(t *testing.T) {
	for _, b := range []struct {
		name   string
		clause string
		wrap   func(s base, own, all lock) contract.Store
	}{
		{"panic leaves the lock", "STORE-27", func(s base, own, _ lock) contract.Store { return leaky{s, own} }},
		{"one lock for all stores", "STORE-32", func(s base, _, all lock) contract.Store { return oneLock{s, all} }},
	} {
		t.Run(b.clause+" "+b.name, func(t *testing.T) {
			broken := make(chan struct{})
			defer close(broken)
			all := newLock(broken)
			failed := failedClauses(t, func(ix contract.Indexers) contract.Store {
				return b.wrap(clientGo(ix).(base), newLock(broken), all)
			}, suite.Only(b.clause), suite.WithCaseTimeout(200*time.Millisecond))
			if !strings.Contains(failed[b.clause], "still running") {
				t.Errorf("not caught by %s as a call that hangs; caught: %v", b.clause, failed)
			}
		})
	}
}
