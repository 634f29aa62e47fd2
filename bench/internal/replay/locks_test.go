package replay

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"runtime/trace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/bench/internal/profile"
	"github.com/informerbench/informerbench/bench/internal/subject"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/record"
)

// A whole profile fork: readers and a writer at client-go's lock.
func TestForkShowsLocks(t *testing.T) {
	e, err := catalog.Lookup(contract.ComponentStore, "clientgo")
	if err != nil {
		t.Fatal(err)
	}
	w := load.Workload{
		Name: "locks", Component: contract.ComponentStore, Objects: synthetic.ObjectSpec{Count: 5000},
		Duration: 200 * time.Millisecond,
		Groups: []load.Group{{Name: "writer", Op: load.OpUpdate, Goroutines: 2},
			{Name: "lister", Op: load.OpList, Goroutines: 2}},
	}.WithDefaults()
	dir := t.TempDir()
	p, err := profile.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	f := record.Fork{Process: map[string]float64{}}
	if err := subject.Perform(t.Context(), subject.Side{Entry: e}, nil, w, &f, p); err != nil {
		t.Fatal(err)
	}
	if err := p.End(&f); err != nil {
		t.Fatal(err)
	}
	l := f.Locks
	if l == nil || l.Waits == 0 || l.Wait.Ns <= 0 || l.Hold.Ns <= 0 ||
		l.Traced < float64(190*time.Millisecond) {
		t.Fatalf("%+v, want waits: writers and listers meet at one lock", l)
	}
	if !strings.Contains(l.Hold.In, "threadSafeMap") ||
		!strings.Contains(l.Wait.In, "threadSafeMap") || l.Hold.By == "" || l.Wait.By == "" {
		t.Errorf("%+v, want holds and waits in client-go's store by a group", l)
	}
	if _, err := os.Stat(filepath.Join(dir, "trace.out")); !os.IsNotExist(err) {
		t.Errorf("the trace is left behind: %v", err)
	}
	t.Logf("%+v", *l)
}

// meeting is a store whose first List and first Update are certain to contend for a lock
// while a trace is on.
type meeting struct {
	contract.Store
	mu    sync.Mutex
	held  atomic.Bool
	first sync.Once
}

func (s *meeting) List() []any {
	holding(&s.mu, func() {
		s.first.Do(func() {
			for !trace.IsEnabled() {
				time.Sleep(100 * time.Microsecond)
			}
			s.held.Store(true)
			awaitState("sync.Mutex.Lock")
		})
	})
	return nil
}

func (s *meeting) Update(string, any) {
	for !s.held.Load() {
		time.Sleep(100 * time.Microsecond)
	}
	holding(&s.mu, func() {})
}

// The replay of a trace of events is traced too.
func TestReplayShowsLocks(t *testing.T) {
	p, err := profile.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	trace := &load.Trace{Events: []load.TraceEvent{{Type: watch.Modified, Key: "a", Object: pod}}}
	target := &storeTarget{}
	target.add(&subject.Store{Store: &meeting{},
		Objects: synthetic.ObjectsOf(synthetic.ObjectSpec{}, []kruntime.Object{pod})})
	w := load.Workload{Component: contract.ComponentStore,
		Groups: []load.Group{{Name: "lister", Op: load.OpList, Goroutines: 1}}}
	if _, err := feed(t.Context(), target, trace, w, p, map[string]float64{}); err != nil {
		t.Fatal(err)
	}
	var f record.Fork
	if err := p.End(&f); err != nil {
		t.Fatal(err)
	}
	if f.Locks == nil || f.Locks.Waits == 0 || !strings.HasSuffix(f.Locks.Wait.In, "holding") ||
		f.Locks.Traced <= 0 {
		t.Errorf("%+v, want a wait in holding", f.Locks)
	}
}

//go:noinline
func holding(mu *sync.Mutex, do func()) {
	mu.Lock()
	defer mu.Unlock()
	do()
}

// awaitState returns when a goroutine waits in the given state, as named in a stack dump.
func awaitState(state string) {
	buf := make([]byte, 1<<20)
	for !bytes.Contains(buf[:runtime.Stack(buf, true)], []byte("["+state)) {
		time.Sleep(time.Millisecond)
	}
}
