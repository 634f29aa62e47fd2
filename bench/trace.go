package bench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure"
)

// replay feeds a recorded trace to a store, each event when it is due, while the
// workload's one group of readers lists everything. At the end the store is compared object by object
// with the state that the trace leads to.
func replay(ctx context.Context, entry catalog.Entry, w load.Workload, path string, f *measure.Fork, p *profiler) error {
	if entry.Component != contract.ComponentStore {
		return fmt.Errorf("a trace is replayed through stores, and %s is a %s", entry.Name, entry.Component)
	}
	trace, err := load.ReadTraceFile(path)
	if err != nil {
		return err
	}
	events := slices.Collect(trace.Replay())
	store := entry.NewStore(load.Indexers())
	if err := p.start(); err != nil {
		return err
	}
	before := measure.ReadCounters()
	writer, reader, err := feed(ctx, store, events, w.Groups[0], p)
	measure.ReadCounters().Since(before, f.Process)
	f.Series = append(f.Series, writer, reader)
	if err := errors.Join(ctx.Err(), err); err != nil {
		return err
	}
	f.Checks = append(f.Checks, compare(store, trace))
	f.StateDigest, err = digest(store)
	return err
}

// feed replays the events and returns what the writer and the readers saw. The
// error is the profiler's, which may be nil.
func feed(ctx context.Context, store contract.Store, events []load.ReplayEvent, readers load.Group, p *profiler) (writer, reader measure.Series, err error) {
	delay, service, late := measure.NewHistogram(), measure.NewHistogram(), measure.NewHistogram()
	reads := make([]*measure.Histogram, readers.Goroutines)
	var stop atomic.Bool
	var stopped sync.WaitGroup
	for i := range reads {
		reads[i] = measure.NewHistogram()
		stopped.Go(func() {
			for !stop.Load() {
				p.mark(seriesName(readers))
				began := time.Now()
				store.List()
				reads[i].Record(time.Since(began))
			}
		})
	}
	start := time.Now()
	if p != nil {
		stopped.Go(func() { err = p.traceUntil(start.Add(traceTime)) })
	}
	var due timetable
	for _, e := range events {
		if ctx.Err() != nil {
			break
		}
		from, lateness := due.await(start.Add(e.At))
		p.mark("replay:apply")
		began := time.Now()
		load.ApplyEvent(store, e)
		now := time.Now()
		delay.Record(now.Sub(from))
		service.Record(now.Sub(began))
		late.Record(lateness)
	}
	took := time.Since(start)
	stop.Store(true)
	p.endTrace()
	stopped.Wait()
	allReads := measure.NewHistogram()
	for _, h := range reads {
		allReads.Merge(h)
	}
	span := time.Duration(1)
	if n := len(events); n > 0 {
		span = max(span, events[n-1].At)
	}
	writer = measure.Series{Group: "replay", Op: "apply", Goroutines: 1, Values: map[string]float64{
		measure.Offered:     float64(len(events)) / span.Seconds(),
		measure.Achieved:    float64(delay.Count()) / took.Seconds(),
		measure.AchievedPct: min(100, 100*span.Seconds()/took.Seconds()),
	}, Histograms: map[string]string{}}
	reader = measure.Series{Group: readers.Name, Op: string(readers.Op), Goroutines: readers.Goroutines, Values: map[string]float64{
		measure.Achieved: float64(allReads.Count()) / took.Seconds(),
	}, Histograms: map[string]string{}}
	record(&writer, Delay, delay)
	record(&writer, Service, service)
	record(&writer, Late, late)
	record(&reader, Service, allReads)
	return writer, reader, err
}

// compare holds the store against the state that the trace leads to, object by object.
func compare(store contract.Store, trace *load.Trace) measure.CheckResult {
	want := trace.FinalState()
	check := measure.CheckResult{Name: "final state, object by object", Passed: true, Detail: fmt.Sprintf("%d objects after %d events", len(want), len(trace.Events))}
	fail := func(format string, args ...any) {
		if check.Passed {
			check.Passed, check.Detail = false, fmt.Sprintf(format, args...)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		got, ok := store.Get(key)
		switch {
		case !ok:
			fail("%s is missing", key)
		case !reflect.DeepEqual(got, any(want[key])):
			fail("%s differs from what the trace leads to", key)
		}
	}
	keys := store.ListKeys()
	for _, key := range keys {
		if _, ok := want[key]; !ok {
			fail("%s should have been deleted", key)
		}
	}
	if len(keys) != len(want) || len(store.List()) != len(want) {
		fail("ListKeys has %d keys and List %d objects, want %d", len(keys), len(store.List()), len(want))
	}
	return check
}

// digest is a fingerprint of everything in the store, equal for equal contents.
func digest(store contract.Store) (string, error) {
	h := sha256.New()
	keys := store.ListKeys()
	slices.Sort(keys)
	for _, key := range keys {
		obj, _ := store.Get(key)
		text, err := json.Marshal(obj)
		if err != nil {
			return "", fmt.Errorf("%s cannot be told apart from others: %w", key, err)
		}
		fmt.Fprintf(h, "%s\x00%s\x00", key, text)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
