package replay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/bench/internal/staleness"
	"github.com/informerbench/informerbench/bench/internal/subject"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// informerTarget is an informer for each resource of a trace, as in a program. Each lists
// the trace's initial objects, watches the events, and has the workload's handlers. The
// source hands the recorded objects over unchanged, so that they keep their versions. An
// event's staleness, for each handler, lasts from its due time until the handler is called.
type informerTarget struct {
	*staleness.Timeline
	subjects  []*subject.Informer // by resource
	followers [][]*follower       // by resource; each has the same groups in the same order
	marks     []kruntime.Object   // by resource
	groups    []load.Group        // of handlers
	readers   spread
}

// markName is the name of an object that is added and deleted behind all events. Once a
// handler has been told of it, the handler has been told of every earlier event. No object
// of a cluster has a name like it.
const markName = "/end/"

var errWatchEnded = errors.New("the informer has ended its watch, though nothing was wrong")

func newInformerTarget(ctx context.Context, newInformer contract.NewInformer, trace *load.Trace,
	w load.Workload) (*informerTarget, error) {
	t := &informerTarget{Timeline: staleness.NewTimeline(trace), groups: handlersOf(w),
		readers: spread{workload: w}}
	w.Groups = readersOf(w) // handlers are followers
	initial := trace.StateAfter(0)
	for i := range trace.Resources {
		s := subject.NewInformer(newInformer, synthetic.ObjectsOf(w.Objects, trace.Objects(i)), w)
		s.Example = trace.Example(i)
		version := uint64(1)
		var items []kruntime.Object
		for _, key := range slices.Sorted(maps.Keys(initial[i])) {
			items = append(items, initial[i][key])
			version = max(version, synthetic.VersionOf(initial[i][key]))
		}
		var followers []*follower
		for _, g := range t.groups {
			for range g.Goroutines {
				followers = append(followers, newFollower(g, t.Timeline, i))
			}
		}
		t.marks = append(t.marks, newMark(s.Example, version))
		t.subjects, t.followers = append(t.subjects, s), append(t.followers, followers)
		s.Main = s.Start(subject.NewEventSource(items, strconv.FormatUint(version, 10), false),
			handlers(followers)...)
		s.Current.Store(s.Main)
		t.readers.add(s, s.Objects)
	}
	for _, s := range t.subjects {
		s.Main.Watches(ctx.Done())
	}
	if err := t.settle(ctx); err != nil {
		t.close()
		return nil, err
	}
	for _, followers := range t.followers {
		for _, f := range followers {
			f.told = 0 // no handler is at work
		}
	}
	for _, seen := range t.Timeline.Groups {
		seen.Begin(time.Now(), stats.LongRun)
	}
	return t, nil
}

// handlersOf returns the workload's groups of handlers; one handler where it has none.
func handlersOf(w load.Workload) []load.Group {
	groups := slices.DeleteFunc(slices.Clone(w.Groups), func(g load.Group) bool {
		return g.Op != load.OpHandle || g.Goroutines == 0
	})
	if len(groups) == 0 {
		groups = []load.Group{{Name: "handler", Op: load.OpHandle, Goroutines: 1}}
	}
	return groups
}

// newMark makes a mark that passes for an object of the example's type and kind.
func newMark(example kruntime.Object, version uint64) kruntime.Object {
	mark := reflect.New(reflect.TypeOf(example).Elem()).Interface().(kruntime.Object)
	mark.GetObjectKind().SetGroupVersionKind(example.GetObjectKind().GroupVersionKind())
	m, err := meta.Accessor(mark)
	if err != nil {
		panic(fmt.Sprintf("bench: a trace of %T, which are no Kubernetes objects: %v", example, err))
	}
	m.SetName(markName)
	m.SetResourceVersion(strconv.FormatUint(version, 10))
	return mark
}

func (t *informerTarget) apply(ctx context.Context, e *load.TraceEvent, from time.Time,
	late time.Duration) error {
	if n := t.Of(e); !t.Same[n] { // an informer need not report events that keep the version
		t.Offer(n, from, late)
	}
	return t.send(ctx, e.Resource, watch.Event{Type: e.Type, Object: e.Object})
}

func (t *informerTarget) send(ctx context.Context, resource int, e watch.Event) error {
	w := t.subjects[resource].Main.Feed.Open.Load()
	switch {
	case w != nil && w.Send(e, ctx.Done()):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return errWatchEnded
}

// settle adds and deletes each mark. It waits in between, because an informer may merge the
// waiting changes of an object, and an addition and its deletion merge into nothing.
func (t *informerTarget) settle(ctx context.Context) error {
	for i, followers := range t.followers {
		for _, change := range []watch.EventType{watch.Added, watch.Deleted} {
			if err := t.send(ctx, i, watch.Event{Type: change, Object: t.marks[i]}); err != nil {
				return err
			}
			for _, f := range followers {
				select {
				case <-f.marked:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
	}
	return nil
}

func (t *informerTarget) state() ([]map[string]any, error) {
	state := make([]map[string]any, len(t.subjects))
	for i, s := range t.subjects {
		state[i] = map[string]any{}
		indexer := s.Main.Informer.GetIndexer()
		keys := indexer.ListKeys()
		for _, key := range keys {
			obj, ok, err := indexer.GetByKey(key)
			if err != nil {
				return nil, fmt.Errorf("GetByKey of %s: %w", key, err)
			}
			if ok {
				state[i][key] = obj
			}
		}
		if n := len(indexer.List()); len(state[i]) != len(keys) || n != len(keys) {
			return nil, fmt.Errorf("ListKeys has %d keys, List %d objects, and GetByKey finds %d", len(keys),
				n, len(state[i]))
		}
	}
	return state, nil
}

const toldLastState = "what handlers were told last, object by object"

// checks compares what each handler was told with the trace's final state. It compares
// versions, because an informer may leave out a change that keeps the version. An informer
// may merge changes, so their number is reported and has no bound.
func (t *informerTarget) checks(trace *load.Trace) []record.CheckResult {
	sameVersion := func(got any, want kruntime.Object) bool {
		return staleness.VersionOf(got) == staleness.VersionOf(want)
	}
	var check record.CheckResult
	fewest := len(trace.Events)
	for n, first := range t.followers[0] {
		told := make([]map[string]any, len(t.followers))
		broken, events := "", 0
		for i := range t.followers {
			f := t.followers[i][n]
			told[i] = f.objects
			events += f.told
			if broken == "" {
				broken = f.broken
			}
		}
		check = compare(toldLastState, told, trace, sameVersion)
		if check.Passed && broken != "" {
			check.Passed, check.Detail = false, broken
		}
		if !check.Passed {
			check.Detail = "group " + first.group.Name + ": " + check.Detail
			return []record.CheckResult{check}
		}
		fewest = min(fewest, events)
	}
	check.Detail += fmt.Sprintf("; at least %d told to each handler", fewest)
	return []record.CheckResult{check}
}

func (t *informerTarget) reader(g load.Group, who int) (engine.Actor, error) {
	return t.readers.reader(g, who)
}

// consumed stops the informers first, so that the handlers have ended when it reads their
// counts.
func (t *informerTarget) consumed(took time.Duration) []record.Series {
	t.close()
	t.Leave(time.Now())
	told := map[string]int{}
	for _, followers := range t.followers {
		for _, f := range followers {
			told[f.group.Name] += f.told
		}
	}
	var series []record.Series
	for _, g := range t.groups {
		s := record.Series{Group: g.Name, Op: string(g.Op), Goroutines: g.Goroutines * len(t.subjects),
			Values:     map[string]float64{metrics.Achieved: float64(told[g.Name]) / took.Seconds()},
			Histograms: map[string]string{}}
		t.Consumer(g.Name).Summarise(&s)
		series = append(series, s)
	}
	return series
}

func (t *informerTarget) close() {
	for _, s := range t.subjects {
		s.Stop()
	}
}
