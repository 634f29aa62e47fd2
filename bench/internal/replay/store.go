package replay

import (
	"context"
	"fmt"
	"time"

	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/bench/internal/subject"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/record"
)

// storeTarget is a store for each resource of a trace. A write is visible when it returns,
// so the feeder's times say everything.
type storeTarget struct {
	stores  []*subject.Store // by resource
	readers spread
}

func newStoreTarget(newStore func(contract.Indexers) contract.Store, trace *load.Trace,
	w load.Workload) *storeTarget {
	t := &storeTarget{readers: spread{workload: w}}
	initial := trace.StateAfter(0)
	for i := range trace.Resources {
		s := subject.NewStore(newStore, synthetic.ObjectsOf(w.Objects, trace.Objects(i)), w)
		items := make(map[string]any, len(initial[i]))
		for key, obj := range initial[i] {
			items[key] = obj
		}
		s.Store.Replace(items, "1")
		t.add(s)
	}
	return t
}

func (t *storeTarget) add(s *subject.Store) {
	t.stores = append(t.stores, s)
	t.readers.add(s, s.Objects)
}

func (t *storeTarget) apply(_ context.Context, e *load.TraceEvent, _ time.Time,
	_ time.Duration) error {
	load.ApplyEvent(t.stores[e.Resource].Store, *e)
	return nil
}

func (t *storeTarget) settle(context.Context) error { return nil }

func (t *storeTarget) state() ([]map[string]any, error) {
	state := make([]map[string]any, len(t.stores))
	for i, s := range t.stores {
		state[i] = map[string]any{}
		keys := s.Store.ListKeys()
		for _, key := range keys {
			if obj, ok := s.Store.Get(key); ok {
				state[i][key] = obj
			}
		}
		if n := len(s.Store.List()); len(state[i]) != len(keys) || n != len(keys) {
			return nil, fmt.Errorf("ListKeys has %d keys, List %d objects, and Get finds %d", len(keys), n,
				len(state[i]))
		}
	}
	return state, nil
}

func (t *storeTarget) checks(*load.Trace) []record.CheckResult { return nil }

func (t *storeTarget) reader(g load.Group, who int) (engine.Actor, error) {
	return t.readers.reader(g, who)
}

func (t *storeTarget) consumed(time.Duration) []record.Series { return nil }

func (t *storeTarget) close() {}
