// Package replay feeds a recorded trace to a component, each event when it is due, while the
// workload's groups read, and compares the end with the trace's final state.
//
// [Run] reads the trace and makes a target of the component (store.go, fifo.go,
// informer.go), which holds an instance for each of the trace's resources. follower.go
// checks what an informer's handlers are told; readers.go makes the actors of the groups.
package replay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"time"

	kruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/bench/internal/profile"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// traceTarget is a component that a trace is replayed through, with an instance for each of
// the trace's resources. A new target holds the trace's initial objects.
type traceTarget interface {
	// apply hands over an event; from and late are what Timetable.Await returned. It is called by
	// one goroutine. Where
	// it must wait for the component, the end of ctx ends the wait.
	apply(ctx context.Context, e *load.TraceEvent, from time.Time,
		late time.Duration) error
	// settle blocks until every applied event has passed the whole component, or ctx ends.
	settle(ctx context.Context) error
	// state returns the current contents by resource and key, each object as it was handed
	// over. It is called after settle.
	state() ([]map[string]any, error)
	// checks returns the checks beside that of the state. It is called after settle, too.
	checks(trace *load.Trace) []record.CheckResult
	// reader makes the actor of a reading group's goroutine.
	reader(g load.Group, who int) (engine.Actor, error)
	// consumed returns the series of the events' consumers, over the time took of the
	// replay; nil where the caller of apply sees everything.
	consumed(took time.Duration) []record.Series
	close()
}

func newTraceTarget(ctx context.Context, entry catalog.Entry, trace *load.Trace,
	w load.Workload) (traceTarget, error) {
	switch entry.Component {
	case contract.ComponentStore:
		return newStoreTarget(entry.NewStore, trace, w), nil
	case contract.ComponentFIFO:
		return newFIFOTarget(ctx, entry.NewFIFO, trace, w)
	case contract.ComponentInformer:
		return newInformerTarget(ctx, entry.NewInformer, trace, w)
	}
	return nil, fmt.Errorf("a trace is replayed through %v, and %s is a %s", TraceComponents(),
		entry.Name, entry.Component)
}

// TraceComponents returns the components that a trace can be replayed through.
func TraceComponents() []contract.Component {
	return []contract.Component{contract.ComponentStore, contract.ComponentFIFO,
		contract.ComponentInformer}
}

// Run feeds a trace to a component, each event when it is due, while the workload's
// groups read. It replays that many copies of the trace, see load.Trace.Times. The
// workload's duration is the replay's time span, and so sets the compression of the trace.
// At the end replay compares the component's contents object by object with the trace's
// final state.
func Run(ctx context.Context, entry catalog.Entry, w load.Workload, path string, times int,
	f *record.Fork, p *profile.Profiler) error {
	trace, err := load.ReadTraceTimes(path, times)
	if err != nil {
		return err
	}
	target, err := newTraceTarget(ctx, entry, trace, w)
	if errors.Is(err, engine.ErrUnsupported) {
		f.Unsupported = append(f.Unsupported, err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	defer target.close()
	series, err := feed(ctx, target, trace, w, p, f.Process)
	f.Series = append(f.Series, series...)
	if err := errors.Join(ctx.Err(), err); err != nil {
		return err
	}
	state, err := target.state()
	if err != nil {
		f.Checks = append(f.Checks, record.CheckResult{Name: sameFinalState, Detail: err.Error()})
		return nil
	}
	f.Checks = append(f.Checks, compare(sameFinalState, state, trace, sameObject))
	f.Checks = append(f.Checks, target.checks(trace)...)
	f.StateDigest, err = digest(state)
	return err
}

// feed replays the events and returns the series of the feeder, the readers and the
// consumers. It adds the process's resource use meanwhile to process: that of the events, not
// of what comes before them.
func feed(ctx context.Context, target traceTarget, trace *load.Trace, w load.Workload,
	p *profile.Profiler, process map[string]float64) ([]record.Series, error) {
	crews, err := traceReaders(target, w)
	if err != nil {
		return nil, err
	}
	runtime.GC() // or the garbage from reading the trace would be collected during the first events
	if err := p.Begin(); err != nil {
		return nil, err
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	var running sync.WaitGroup
	before := sysinfo.ReadCounters()
	start := time.Now()
	for _, crew := range crews {
		for who, wk := range crew {
			running.Go(func() { wk.Run(reading, who, len(crew), start, start, start.Add(untilStopped)) })
		}
	}
	f := feeder{stats.NewHistogram(), stats.NewHistogram(), stats.NewHistogram(), stats.NewHistogram()}
	if err = f.apply(ctx, target, trace, start, traceSpeed(trace, w)); err == nil {
		err = target.settle(ctx)
	}
	took := time.Since(start)
	sysinfo.ReadCounters().Since(before, process)
	stop()
	running.Wait()

	series := []record.Series{f.series(trace, traceSpeed(trace, w), took)}
	for i, g := range readersOf(w) {
		if g.Goroutines > 0 {
			series = append(series, engine.Summarise(g, crews[i], took))
		}
	}
	return append(series, target.consumed(took)...), err
}

// feeder hands over the events of a trace.
type feeder struct{ response, delay, service, late *stats.Histogram }

// apply hands over each event when it is due, until ctx ends.
func (f feeder) apply(ctx context.Context, target traceTarget, trace *load.Trace, start time.Time,
	speed float64) error {
	due := engine.NewTimetable()
	defer due.Close()
	for i := range trace.Events {
		if ctx.Err() != nil {
			return nil // the caller looks at ctx
		}
		e := &trace.Events[i]
		from, lateness := due.Await(start.Add(time.Duration(float64(e.At) * speed)))
		began := time.Now()
		if err := target.apply(ctx, e, from, lateness); err != nil {
			return fmt.Errorf("event %d, %s of %s: %w", i, e.Type, e.Key, err)
		}
		now := time.Now()
		f.response.Record(now.Sub(from) + lateness)
		f.delay.Record(now.Sub(from))
		f.service.Record(now.Sub(began))
		f.late.Record(lateness)
	}
	return nil
}

// series summarises the feeding, which took so long until the last event had passed the
// whole component.
func (f feeder) series(trace *load.Trace, speed float64, took time.Duration) record.Series {
	s := record.Series{Group: "replay", Op: "apply", Goroutines: 1, Values: map[string]float64{
		metrics.Achieved: float64(f.delay.Count()) / took.Seconds(),
	}, Histograms: map[string]string{}}
	// else all events come at once, at no rate
	if span := time.Duration(float64(trace.Span()) * speed); span > 0 {
		s.Values[metrics.Offered] = float64(len(trace.Events)) / span.Seconds()
		s.Values[metrics.AchievedPct] = min(100, 100*span.Seconds()/took.Seconds())
	}
	s.AddDistribution(metrics.Response, f.response)
	s.AddDistribution(metrics.Delay, f.delay)
	s.AddDistribution(metrics.Service, f.service)
	s.AddDistribution(metrics.Late, f.late)
	return s
}

// untilStopped is longer than any replay: the end of their context ends the readers, after
// the last event has passed the whole component.
const untilStopped = 1000 * time.Hour

// traceSpeed is the factor for the trace's times.
func traceSpeed(trace *load.Trace, w load.Workload) float64 {
	if span := trace.Span(); span > 0 {
		return float64(w.Duration) / float64(span)
	}
	return 1
}

// readersOf returns the groups that read while a trace is replayed. The trace defines the
// writes, and consumers belong to the target.
func readersOf(w load.Workload) []load.Group {
	return slices.DeleteFunc(slices.Clone(w.Groups), func(g load.Group) bool {
		op, err := load.LookupOperation(w.Component, g.Op)
		return err != nil || op.Role != load.RoleRead
	})
}

// traceReaders makes the readers, in the order of readersOf.
func traceReaders(target traceTarget, w load.Workload) ([][]*engine.Worker, error) {
	var crews [][]*engine.Worker
	for _, g := range readersOf(w) {
		var crew []*engine.Worker
		for who := range g.Goroutines {
			a, err := target.reader(g, who)
			if err != nil {
				return nil, err
			}
			crew = append(crew, engine.NewWorker(a, g, stats.LongRun, false))
		}
		crews = append(crews, crew)
	}
	return crews, nil
}

const sameFinalState = "final state, object by object"

func sameObject(got any, want kruntime.Object) bool { return reflect.DeepEqual(got, any(want)) }

// compare compares the contents of a component, or those that a handler was told of, with
// the trace's final state, object by object.
func compare(name string, got []map[string]any, trace *load.Trace,
	same func(got any, want kruntime.Object) bool) record.CheckResult {
	check := record.CheckResult{Name: name, Passed: true}
	fail := func(format string, args ...any) {
		if check.Passed {
			check.Passed, check.Detail = false, fmt.Sprintf(format, args...)
		}
	}
	total := 0
	for i, want := range trace.FinalState() {
		total += len(want)
		for _, key := range slices.Sorted(maps.Keys(want)) {
			obj, ok := got[i][key]
			switch {
			case !ok:
				fail("%s %s is missing", trace.Resources[i], key)
			case !same(obj, want[key]):
				fail("%s %s differs from what the trace leads to", trace.Resources[i], key)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(got[i])) {
			if _, ok := want[key]; !ok {
				fail("%s %s should have been deleted", trace.Resources[i], key)
			}
		}
	}
	if check.Passed {
		check.Detail = fmt.Sprintf("%d objects after %d events", total, len(trace.Events))
	}
	return check
}

// digest is a fingerprint of a component's contents, equal for equal contents.
func digest(state []map[string]any) (string, error) {
	h := sha256.New()
	for _, objects := range state {
		for _, key := range slices.Sorted(maps.Keys(objects)) {
			text, err := json.Marshal(objects[key])
			if err != nil {
				return "", fmt.Errorf("%s cannot be told apart from others: %w", key, err)
			}
			fmt.Fprintf(h, "%s\x00%s\x00", key, text)
		}
		fmt.Fprint(h, "\x01")
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
