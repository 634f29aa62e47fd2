package subject

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/bench/internal/staleness"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/informer/indexer"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
)

// sourced is a store or FIFO that a client-go Reflector fills from a list/watch source, for
// workloads with faults. Writers write to the source. The Reflector lists, watches, and
// lists again after a fault. Readers and consumers use the component as usual.
type sourced struct {
	engine.Subject
	source  *synthetic.Source
	objects *synthetic.Objects
	store   contract.Store        // nil for a FIFO
	visible *staleness.Visibility // nil for a FIFO
	cancel  context.CancelFunc
	running sync.WaitGroup
	// version returns the newest version that the Reflector has seen.
	version func() string
}

// reflectorBackoff retries soon, because a workload lasts only seconds; client-go's own
// back-off begins at 800 ms.
var reflectorBackoff = wait.Backoff{Duration: 5 * time.Millisecond, Cap: 100 * time.Millisecond,
	Steps: 10, Factor: 2, Jitter: 1}

func newSourced(s engine.Subject, objects *synthetic.Objects, w load.Workload) (*sourced, error) {
	out := &sourced{Subject: s, objects: objects,
		source: synthetic.NewSource(objects.All(), synthetic.SourceOptions{Faults: w.Faults})}
	var target cache.ReflectorStore
	switch s := s.(type) {
	case *Store:
		out.store = s.Store
		out.visible = &staleness.Visibility{}
		out.visible.At(time.Now())
		target = staleness.WatchedStore{ReflectorStore: indexer.New(nil, s.Store, indexer.Options{}),
			Visibility: out.visible}
	case *fifoSubject:
		target = s.fifo
	default:
		return nil, fmt.Errorf(
			"faults strike the list/watch source, and a %s is not filled from one: leave faults out",
			w.Component)
	}
	r := cache.NewReflectorWithOptions(out.source, objects.At(0), target,
		cache.ReflectorOptions{Name: w.Name, Backoff: &reflectorBackoff})
	out.version = r.LastSyncResourceVersion
	ctx, cancel := context.WithCancel(context.Background())
	out.cancel = cancel
	out.running.Go(func() { r.RunWithContext(ctx) })
	if !out.caughtUp() {
		out.close()
		return nil, fmt.Errorf(
			"the reflector has not listed the source within %s: the faults leave it no way", catchUp)
	}
	return out, nil
}

// catchUp bounds the wait until a Reflector has seen the source's newest version.
const catchUp = 10 * time.Second

// caughtUp waits until the Reflector has seen the source's newest version.
func (s *sourced) caughtUp() bool {
	for deadline := time.Now().Add(catchUp); time.Now().Before(deadline); time.Sleep(
		time.Millisecond) {
		if s.version() == s.source.ResourceVersion() {
			return true
		}
	}
	return false
}

// Actor makes writers write to the source. All other actors are those of the component.
func (s *sourced) Actor(op load.Op, g load.Group, who int) (engine.Actor, error) {
	switch op {
	case load.OpReplace, load.OpTransaction, load.OpResync, load.OpAddPop:
		return engine.Actor{}, fmt.Errorf(
			"%s over a list/watch source: %w: the reflector decides when to replace", op,
			engine.ErrUnsupported)
	case load.OpAdd, load.OpUpdate, load.OpUpdateIndex, load.OpAddDelete:
	default:
		return s.Subject.Actor(op, g, who)
	}
	w, err := engine.OwnWalk(s.objects.Len(), g.Keys, who, g.Goroutines)
	if err != nil {
		return engine.Actor{}, err
	}
	rng := rand.New(rand.NewPCG(1, uint64(who)))
	objects := engine.Along(w, func(i int) runtime.Object {
		if op == load.OpUpdateIndex {
			return s.objects.Mutate(s.objects.At(i), rng, true)
		}
		return s.objects.At(i)
	})
	keys := engine.Along(w, s.objects.Key)
	write := func(slot uint32) (runtime.Object, error) { return s.source.Update(objects[slot]) }
	if op == load.OpAddDelete {
		write = func(slot uint32) (runtime.Object, error) {
			if _, err := s.source.Delete(keys[slot]); err != nil {
				return nil, err
			}
			return s.source.Create(objects[slot])
		}
	}
	a := engine.Actor{}
	if s.visible != nil {
		a.Due, a.Seen = &staleness.Due{At: s.visible.At}, s.visible.Consumer(g.Name)
	}
	a.Loop = func(n int) int {
		for i := range n {
			written, err := write(w.Slot())
			// Another group may just have deleted the object or made it again: the write
			// counts as done.
			if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsAlreadyExists(err) {
				return i
			}
			if err == nil && a.Due != nil {
				s.visible.Wrote(synthetic.VersionOf(written), a.Due.Moment, a.Seen)
			}
		}
		return n
	}
	return a, nil
}

// Leave counts the writes that were not visible by end.
func (s *sourced) Leave(end time.Time) {
	if s.visible != nil {
		s.visible.Leave(end)
	}
}

// close ends the reflector and the source, and stops the component.
func (s *sourced) close() {
	s.cancel()
	s.running.Wait()
	s.source.Stop()
	s.Stop()
}

// settle records how often the faults struck. For a store it also checks that it equals the
// source once the reflector has caught up. It is called before close.
func (s *sourced) settle(f *record.Fork) {
	total := 0
	for _, n := range s.source.Struck() {
		total += n
	}
	f.Process[metrics.Faults] = float64(total)
	if s.store == nil {
		return
	}
	check := record.CheckResult{Name: "the store has what the source has, after faults"}
	defer func() { f.Checks = append(f.Checks, check) }()
	if !s.caughtUp() {
		check.Detail = fmt.Sprintf("the reflector is at version %s, the source at %s, after %s",
			s.version(), s.source.ResourceVersion(), catchUp)
		return
	}
	want := s.source.Snapshot()
	for key, obj := range want {
		if got, ok := s.store.Get(key); !ok || !reflect.DeepEqual(got, any(obj)) {
			check.Detail = key + " differs"
			return
		}
	}
	if n := len(s.store.ListKeys()); n != len(want) {
		check.Detail = fmt.Sprintf("the store has %d objects, the source %d", n, len(want))
		return
	}
	check.Passed, check.Detail = true, fmt.Sprintf("%d objects", len(want))
}
