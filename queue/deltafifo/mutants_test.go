package deltafifo_test

// Broken readable queues: fifotest's own tests have none to break, since
// client-go dropped its own.

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/informerbench/informerbench/conformance/fifotest"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/deltafifo"
)

type forgetsRequeue struct{ *deltafifo.DeltaFIFO }

func (f forgetsRequeue) Pop(process contract.PopProcessFunc) (any, error) {
	return f.DeltaFIFO.Pop(func(obj any, isInInitialList bool) error {
		err := process(obj, isInInitialList)
		if requeue, ok := errors.AsType[contract.ErrRequeue](err); ok {
			return requeue.Err
		}
		return err
	})
}

type takesAnything struct{ *deltafifo.DeltaFIFO }

func (f takesAnything) AddIfNotPresent(obj any) error {
	if deltas, ok := obj.(contract.Deltas); ok {
		return f.DeltaFIFO.AddIfNotPresent(deltas)
	}
	return f.Add(obj)
}

type putsBackOverNewer struct{ *deltafifo.DeltaFIFO }

func (f putsBackOverNewer) AddIfNotPresent(obj any) error {
	deltas, ok := obj.(contract.Deltas)
	if !ok || len(deltas) == 0 {
		return f.DeltaFIFO.AddIfNotPresent(obj)
	}
	for _, d := range deltas {
		if err := f.Update(d.Object); err != nil {
			return err
		}
	}
	return nil
}

type listsOldest struct{ *deltafifo.DeltaFIFO }

func (f listsOldest) List() (list []any) {
	for _, key := range f.ListKeys() {
		item, _, _ := f.GetByKey(key)
		list = append(list, item.(contract.Deltas).Oldest().Object)
	}
	return list
}

// sharesKeys hands out one slice again and again.
type sharesKeys struct {
	*deltafifo.DeltaFIFO
	keys []string
}

func (f *sharesKeys) ListKeys() []string {
	f.keys = append(f.keys[:0], f.DeltaFIFO.ListKeys()...)
	return f.keys
}

func (f *sharesKeys) Add(obj any) error {
	defer f.ListKeys()
	return f.DeltaFIFO.Add(obj)
}

type getsWithoutKey struct{ *deltafifo.DeltaFIFO }

func (f getsWithoutKey) Get(obj any) (any, bool, error) {
	item, exists, _ := f.DeltaFIFO.Get(obj)
	return item, exists, nil
}

type neverSynced struct{ *deltafifo.DeltaFIFO }

func (neverSynced) HasSynced() bool { return false }

type neverClosed struct{ *deltafifo.DeltaFIFO }

func (neverClosed) IsClosed() bool { return false }

func TestMutantsOfKeyedQueue(t *testing.T) {
	for _, m := range []struct {
		name, clause string
		breakIt      func(*deltafifo.DeltaFIFO) contract.FIFO
	}{
		{"forgets requeue", "FIFO-46", func(f *deltafifo.DeltaFIFO) contract.FIFO { return forgetsRequeue{f} }},
		{"takes anything", "FIFO-47", func(f *deltafifo.DeltaFIFO) contract.FIFO { return takesAnything{f} }},
		{"puts back over newer", "FIFO-47", func(f *deltafifo.DeltaFIFO) contract.FIFO { return putsBackOverNewer{f} }},
		{"lists oldest", "FIFO-48", func(f *deltafifo.DeltaFIFO) contract.FIFO { return listsOldest{f} }},
		{"shares keys", "FIFO-49", func(f *deltafifo.DeltaFIFO) contract.FIFO { return &sharesKeys{DeltaFIFO: f} }},
		{"gets without key", "FIFO-50", func(f *deltafifo.DeltaFIFO) contract.FIFO { return getsWithoutKey{f} }},
		{"never synced", "FIFO-51", func(f *deltafifo.DeltaFIFO) contract.FIFO { return neverSynced{f} }},
		{"never closed", "FIFO-52", func(f *deltafifo.DeltaFIFO) contract.FIFO { return neverClosed{f} }},
		{"forgets requeue, random", "FIFO-25", func(f *deltafifo.DeltaFIFO) contract.FIFO { return forgetsRequeue{f} }},
	} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			var caught []string
			err := suite.UntilCaught(func(seed suite.Option) error {
				return fifotest.Check(func(cfg contract.FIFOConfig) contract.FIFO {
					return m.breakIt(deltafifo.New(cfg, deltafifo.Options{}))
				}, seed, suite.Only(m.clause), suite.WithCaseTimeout(20*time.Second), suite.WithObserver(func(r suite.Result) {
					if r.Outcome == suite.Fail {
						caught = append(caught, r.Clause.ID)
					}
				}))
			})
			if err == nil || !slices.Contains(caught, m.clause) {
				t.Fatalf("%s is not among the clauses that failed: %v (%v)", m.clause, caught, err)
			}
		})
	}
}
