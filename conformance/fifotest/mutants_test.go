package fifotest

// Broken FIFOs: each is named by the clause that it breaks.

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// simpleWaivers: the model takes only the suite's objects and finds all it knows.
var simpleWaivers = []Option{
	Waive("FIFO-11", "the model's keys are those of the suite's objects"),
	Waive("FIFO-31", "the model's look-ups do not fail"),
}

func TestSimpleIsHealthy(t *testing.T) {
	for _, class := range contract.FIFOClasses() {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			Run(t, func(cfg contract.FIFOConfig) contract.FIFO { return newSimple(cfg, class, "") },
				append(simpleWaivers, Class(class))...)
		})
	}
}

func TestMutantsOfSimple(t *testing.T) {
	for _, m := range []struct{ bug, clause string }{
		{"newest first", "FIFO-1"},
		{"replace does not wake", "FIFO-2"},
		{"close wakes one", "FIFO-3"},
		{"discards on close", "FIFO-4"},
		{"update as add", "FIFO-5"},
		{"copies objects", "FIFO-5"},
		{"swallows errors", "FIFO-6"},
		{"processes twice", "FIFO-6"},
		{"failed process returns", "FIFO-6"},
		{"lock left by a panic", "FIFO-7"},
		{"bare key error", "FIFO-8"},
		{"skips bad objects", "FIFO-9"},
		{"tombstone by key func", "FIFO-10"},
		{"synced from the start", "FIFO-12"},
		{"synced by replace only", "FIFO-13"},
		{"synced on replace", "FIFO-14"},
		{"implied deletions do not count", "FIFO-14"},
		{"empty list never syncs", "FIFO-15"},
		{"unsyncs", "FIFO-16"},
		{"unlocks and counts early", "FIFO-17"},
		{"flag never set", "FIFO-19"},
		{"loses one of many", "FIFO-20"},
		{"one signal for a list", "FIFO-21"},
		{"known deletions ignored", "FIFO-22"},
		{"unlocks", "FIFO-23"},
		{"keeps what was popped", "FIFO-24"},
		{"at most four", "FIFO-25"},
		{"newest only", "FIFO-26"},
		{"moves to the end", "FIFO-27"},
		{"newest deletion", "FIFO-28"},
		{"tombstone displaces", "FIFO-29"},
		{"unknown deletions", "FIFO-30"},
		{"known deletions ignored", "FIFO-31"},
		{"replace emits sync", "FIFO-32"},
		{"no implied deletions", "FIFO-33"},
		{"known not deleted", "FIFO-34"},
		{"resync of waiting", "FIFO-35"},
	} {
		wantCaughtSimple(t, contract.Coalescing, m.bug, m.clause)
	}
	for _, m := range []struct{ bug, clause string }{
		{"loses one of many", "FIFO-20"},
		{"drops repeated deletions", "FIFO-36"},
		{"deletions after the list", "FIFO-37"},
		{"no implied deletions", "FIFO-22"},
		{"resync of waiting", "FIFO-38"},
	} {
		wantCaughtSimple(t, contract.InOrder, m.bug, m.clause)
	}
	for _, m := range []struct{ bug, clause string }{
		{"no resource version", "FIFO-39"},
		{"no sync-all", "FIFO-40"},
		{"update as add", "FIFO-25"},
	} {
		wantCaughtSimple(t, contract.InOrderAtomic, m.bug, m.clause)
	}
}

func wantCaughtSimple(t *testing.T, class contract.FIFOClass, bug, clause string) {
	t.Run(string(class)+"/"+bug+"/"+clause, func(t *testing.T) {
		t.Parallel()
		timeout := 20 * time.Second // for rapid to shrink what it found, also under -race
		if bug == "lock left by a panic" {
			timeout = time.Second // the watchdog's case
		}
		var built struct {
			sync.Mutex
			all []*simple
		}
		wantCaught(t, clause, func(cfg contract.FIFOConfig) contract.FIFO {
			s := newSimple(cfg, class, bug)
			built.Lock()
			defer built.Unlock()
			built.all = append(built.all, s)
			return s
		}, Class(class), suite.WithCaseTimeout(timeout))
		built.Lock()
		defer built.Unlock()
		for _, s := range built.all {
			s.release()
		}
	})
}

// wantCaught checks that clause is among those that construct's FIFO fails.
func wantCaught(t *testing.T, clause string, construct newFIFO, opts ...Option) {
	t.Helper()
	var caught []string
	opts = append(opts, suite.Only(clause), suite.WithObserver(func(r suite.Result) {
		if r.Outcome == suite.Fail {
			caught = append(caught, r.Clause.ID)
		}
	}))
	err := suite.UntilCaught(func(seed Option) error { return Check(construct, append(opts, seed)...) })
	var failure *suite.Failure
	if !errors.As(err, &failure) || !slices.Contains(caught, clause) {
		t.Fatalf("%s is not among the clauses that failed: %v (%v)", clause, caught, err)
	}
	if failure.Clause.Rule == "" || failure.Reason == "" {
		t.Errorf("the failure does not say what is wrong: %v", err)
	}
}

type reversedBatches struct{ *cache.RealFIFO }

func (f reversedBatches) PopBatch(batch contract.ProcessBatchFunc, single contract.PopProcessFunc) error {
	return f.RealFIFO.PopBatch(func(deltas []contract.Delta, isInitial bool) error {
		slices.Reverse(deltas)
		return batch(deltas, isInitial)
	}, single)
}

type batchesOfOne struct{ *cache.RealFIFO }

func (f batchesOfOne) PopBatch(batch contract.ProcessBatchFunc, _ contract.PopProcessFunc) error {
	return f.RealFIFO.PopBatch(batch, func(o any, isInitial bool) error {
		return batch(o.(contract.Deltas), isInitial)
	})
}

// doubleBatches glues two batches together.
type doubleBatches struct{ *cache.RealFIFO }

func (f doubleBatches) PopBatch(batch contract.ProcessBatchFunc, single contract.PopProcessFunc) error {
	var got contract.Deltas
	var initial bool
	gather := func(deltas []contract.Delta, isInitial bool) error {
		got, initial = append(got, deltas...), isInitial
		return nil
	}
	one := func(o any, isInitial bool) error { return gather(o.(contract.Deltas), isInitial) }
	if err := f.RealFIFO.PopBatch(gather, one); err != nil {
		return err
	}
	// The sentinel makes the second batch come at once.
	if err := f.Add(obj("sentinel", -1)); err != nil {
		return err
	}
	for !endsWithSentinel(got) {
		if err := f.RealFIFO.PopBatch(gather, one); err != nil {
			return err
		}
	}
	if got = got[:len(got)-1]; len(got) == 1 {
		return single(got, initial)
	}
	return batch(got, initial)
}

func endsWithSentinel(deltas contract.Deltas) bool {
	o, ok := deltas[len(deltas)-1].Object.(*object)
	return ok && o.key == "sentinel"
}

type closedBatchesSucceed struct{ *cache.RealFIFO }

func (f closedBatchesSucceed) PopBatch(batch contract.ProcessBatchFunc, single contract.PopProcessFunc) error {
	if err := f.RealFIFO.PopBatch(batch, single); !errors.Is(err, contract.ErrFIFOClosed) {
		return err
	}
	return nil
}

func TestMutantsOfBatches(t *testing.T) {
	newReal := func(cfg contract.FIFOConfig) *cache.RealFIFO {
		return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KeyFunction: cfg.KeyFunc, AtomicEvents: true})
	}
	for _, m := range []struct {
		clause    string
		construct newFIFO
	}{
		{"FIFO-41", func(cfg contract.FIFOConfig) contract.FIFO { return reversedBatches{newReal(cfg)} }},
		{"FIFO-42", func(cfg contract.FIFOConfig) contract.FIFO { return batchesOfOne{newReal(cfg)} }},
		{"FIFO-43", func(cfg contract.FIFOConfig) contract.FIFO { return doubleBatches{newReal(cfg)} }},
		{"FIFO-44", func(cfg contract.FIFOConfig) contract.FIFO { return doubleBatches{newReal(cfg)} }},
		{"FIFO-45", func(cfg contract.FIFOConfig) contract.FIFO { return closedBatchesSucceed{newReal(cfg)} }},
	} {
		t.Run(m.clause, func(t *testing.T) {
			t.Parallel()
			wantCaught(t, m.clause, m.construct, Class(contract.InOrderAtomic))
		})
	}
}

type transformsTombstones struct {
	*cache.DeltaFIFO
	transform contract.TransformFunc
}

func (f transformsTombstones) Delete(o any) error {
	if tombstone, ok := o.(contract.DeletedFinalStateUnknown); ok {
		tombstone.Obj, _ = f.transform(tombstone.Obj)
		o = tombstone
	}
	return f.DeltaFIFO.Delete(o)
}

type hidesTransformer struct{ *cache.DeltaFIFO }

func (hidesTransformer) Transformer() contract.TransformFunc { return nil }

func TestMutantsOfTransform(t *testing.T) {
	newDelta := func(cfg contract.FIFOConfig, transform contract.TransformFunc) *cache.DeltaFIFO {
		return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
			KeyFunction: cfg.KeyFunc, KnownObjects: cfg.KnownObjects, EmitDeltaTypeReplaced: true, Transformer: transform,
		})
	}
	for _, m := range []struct {
		clause    string
		construct func(contract.FIFOConfig, contract.TransformFunc) contract.FIFO
	}{
		{"FIFO-53", func(cfg contract.FIFOConfig, transform contract.TransformFunc) contract.FIFO {
			return newDelta(cfg, func(o any) (any, error) {
				if _, err := transform(o); err != nil {
					return nil, err
				}
				return transform(o)
			})
		}},
		{"FIFO-54", func(cfg contract.FIFOConfig, transform contract.TransformFunc) contract.FIFO {
			return transformsTombstones{newDelta(cfg, transform), transform}
		}},
		{"FIFO-55", func(cfg contract.FIFOConfig, transform contract.TransformFunc) contract.FIFO {
			return newDelta(cfg, func(o any) (any, error) {
				if out, err := transform(o); err == nil {
					return out, nil
				}
				return o, nil
			})
		}},
		{"FIFO-56", func(cfg contract.FIFOConfig, transform contract.TransformFunc) contract.FIFO {
			return hidesTransformer{newDelta(cfg, transform)}
		}},
	} {
		t.Run(m.clause, func(t *testing.T) {
			t.Parallel()
			plain := func(cfg contract.FIFOConfig) contract.FIFO { return newDelta(cfg, nil) }
			wantCaught(t, m.clause, plain, NewTransforming(m.construct))
		})
	}
}

// TestUpstreamChecker: what client-go's DeltaFIFO is waived for is true of it.
func TestUpstreamChecker(t *testing.T) {
	wantCaught(t, "FIFO-18", func(cfg contract.FIFOConfig) contract.FIFO {
		return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KeyFunction: cfg.KeyFunc, EmitDeltaTypeReplaced: true})
	})
}

// TestEveryClauseHasACase: a clause that nothing tests is no promise.
func TestEveryClauseHasACase(t *testing.T) {
	t.Parallel()
	tested, names := map[string]bool{}, map[string]bool{}
	for _, c := range cases() {
		tested[c.Clause] = true
		if name := c.Clause + "/" + c.Name; names[name] {
			t.Errorf("two cases are called %s", name)
		} else {
			names[name] = true
		}
	}
	for _, c := range contract.ClausesOf(contract.ComponentFIFO) {
		if !tested[c.ID] {
			t.Errorf("no case tests %s", c)
		}
	}
}
