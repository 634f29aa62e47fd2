package replay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/bench/internal/staleness"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// fifoTarget is a FIFO for each resource of a trace. Each has a consumer that works like an
// informer's: it pops, and writes the popped objects into the FIFO's view of known objects.
// An event's staleness lasts from its due time until it is popped.
type fifoTarget struct {
	*staleness.Timeline
	group   load.Group // of consumers
	fifos   []contract.FIFO
	views   []*view
	popped  atomic.Int64 // events
	running sync.WaitGroup
	stop    sync.Once
	failed  chan error // the first error of each consumer
}

// view holds the objects known to a FIFO's consumer.
type view struct {
	sync.RWMutex
	objects map[string]any
}

func (v *view) ListKeys() []string {
	v.RLock()
	defer v.RUnlock()
	return slices.Collect(maps.Keys(v.objects))
}

func (v *view) GetByKey(key string) (any, bool, error) {
	v.RLock()
	defer v.RUnlock()
	obj, ok := v.objects[key]
	return obj, ok, nil
}

// endMarker is added behind all events: once it is popped, so are they. No object of a
// cluster has a name like its.
type endMarker struct {
	metav1.ObjectMeta
	reached chan struct{}
}

func newFIFOTarget(ctx context.Context, newFIFO func(contract.FIFOConfig) contract.FIFO,
	trace *load.Trace, w load.Workload) (*fifoTarget, error) {
	t := &fifoTarget{Timeline: staleness.NewTimeline(trace), group: consumerOf(w),
		failed: make(chan error, len(trace.Resources))}
	initial := trace.StateAfter(0)
	for i := range trace.Resources {
		v := &view{objects: map[string]any{}}
		fifo := newFIFO(contract.FIFOConfig{KnownObjects: v})
		sees := t.Observer(t.group.Name, i)
		pop, err := t.popper(fifo, v, sees)
		if err != nil {
			t.close()
			return nil, err
		}
		t.fifos, t.views = append(t.fifos, fifo), append(t.views, v)
		t.running.Go(func() { t.consume(pop) })
		items := make([]any, 0, len(initial[i]))
		for _, key := range slices.Sorted(maps.Keys(initial[i])) {
			items = append(items, initial[i][key])
		}
		if err := fifo.Replace(items, "1"); err != nil {
			t.close()
			return nil, fmt.Errorf("fifo: the start of the trace: %w", err)
		}
	}
	if err := t.settle(ctx); err != nil {
		t.close()
		return nil, err
	}
	t.popped.Store(0) // no consumer is at work
	t.Consumer(t.group.Name).Begin(time.Now(), stats.LongRun)
	return t, nil
}

// consumerOf is the workload's group that pops.
func consumerOf(w load.Workload) load.Group {
	for _, g := range w.Groups {
		if g.Op == load.OpPop {
			return g
		}
	}
	return load.Group{Name: "consumer", Op: load.OpPop, Goroutines: 1, Batch: 1}
}

// popper returns a function that pops once, in the way that the group asks for.
func (t *fifoTarget) popper(fifo contract.FIFO, v *view, sees *staleness.Observer) (func() error,
	error) {
	handle := func(deltas []contract.Delta) {
		for i := range deltas {
			t.take(v, sees, &deltas[i])
		}
		if t.group.Work > 0 {
			time.Sleep(t.group.Work)
		}
	}
	one := func(obj any, _ bool) error {
		deltas, ok := obj.(contract.Deltas)
		if !ok {
			return fmt.Errorf("popped a %T, want Deltas", obj)
		}
		handle(deltas)
		return nil
	}
	if t.group.Batch <= 1 {
		return func() error {
			_, err := fifo.Pop(one)
			return err
		}, nil
	}
	batcher, ok := fifo.(contract.BatchPopper)
	if !ok {
		return nil, fmt.Errorf("fifo: PopBatch: %w", engine.ErrUnsupported)
	}
	batch := func(deltas []contract.Delta, _ bool) error { //nolint:unparam // it is a ProcessBatchFunc
		handle(deltas)
		return nil
	}
	return func() error { return batcher.PopBatch(batch, one) }, nil
}

// take applies a delta to the view.
func (t *fifoTarget) take(v *view, sees *staleness.Observer, d *contract.Delta) {
	if m, ok := d.Object.(*endMarker); ok {
		close(m.reached)
		return
	}
	if all, ok := d.Object.(contract.ReplacedAllInfo); ok {
		objects := make(map[string]any, len(all.Objects))
		for _, obj := range all.Objects {
			objects[synthetic.Key(obj)] = obj
		}
		v.Lock()
		v.objects = objects
		v.Unlock()
		return
	}
	t.popped.Add(1)
	sees.Saw(d.Object, d.Type == contract.Deleted)
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(d.Object)
	if err != nil {
		panic(fmt.Sprintf("bench: the FIFO made a delta of a %T, which nobody put in", d.Object))
	}
	v.Lock()
	defer v.Unlock()
	if d.Type == contract.Deleted {
		delete(v.objects, key)
	} else {
		v.objects[key] = d.Object
	}
}

func (t *fifoTarget) consume(pop func() error) {
	for {
		if err := pop(); err != nil {
			if !errors.Is(err, contract.ErrFIFOClosed) {
				t.failed <- err
			}
			return
		}
	}
}

func (t *fifoTarget) apply(_ context.Context, e *load.TraceEvent, from time.Time,
	late time.Duration) error {
	t.Offer(t.Of(e), from, late)
	fifo := t.fifos[e.Resource]
	switch e.Type {
	case watch.Added:
		return fifo.Add(e.Object)
	case watch.Modified:
		return fifo.Update(e.Object)
	default:
		return fifo.Delete(e.Object)
	}
}

func (t *fifoTarget) settle(ctx context.Context) error {
	for _, fifo := range t.fifos {
		m := &endMarker{ObjectMeta: metav1.ObjectMeta{Name: "/end/"}, reached: make(chan struct{})}
		if err := fifo.Add(m); err != nil {
			return err
		}
		select {
		case <-m.reached:
		case err := <-t.failed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (t *fifoTarget) state() ([]map[string]any, error) {
	state := make([]map[string]any, len(t.views))
	for i, v := range t.views {
		v.RLock()
		state[i] = maps.Clone(v.objects)
		v.RUnlock()
	}
	return state, nil
}

func (t *fifoTarget) checks(*load.Trace) []record.CheckResult { return nil }

func (t *fifoTarget) reader(g load.Group, _ int) (engine.Actor, error) {
	return engine.Actor{}, fmt.Errorf("group %s: nobody reads a FIFO", g.Name)
}

// consumed closes the FIFOs first, so that the consumers have ended when it reads their
// counts.
func (t *fifoTarget) consumed(took time.Duration) []record.Series {
	t.close()
	s := record.Series{Group: t.group.Name, Op: string(t.group.Op), Goroutines: len(t.fifos),
		Values:     map[string]float64{metrics.Achieved: float64(t.popped.Load()) / took.Seconds()},
		Histograms: map[string]string{}}
	t.Leave(time.Now())
	t.Consumer(t.group.Name).Summarise(&s)
	return []record.Series{s}
}

func (t *fifoTarget) close() {
	t.stop.Do(func() {
		for _, fifo := range t.fifos {
			fifo.Close()
		}
		t.running.Wait()
	})
}
