package engine

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/bench/internal/profile"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// Worker is one goroutine of a group and its measurements.
type Worker struct {
	actor    Actor
	group    load.Group
	consumes bool
	// of a closed loop that may do several operations per clock reading; else nil
	stride                         *stride
	response, delay, service, late *stats.Histogram
	from                           time.Time // when the measured time begins
	done, unfinished               int64
	// of the measured time of a closed loop, for Actor.Prepare
	preparing time.Duration
}

// Contend runs the groups against each other, warm-up first, and returns a series per group
// that has goroutines. It adds the process's resource use from the end of the warm-up to
// the end of the run to process. p, which may be nil, begins when everything is made and
// nothing runs yet. Contend blocks until every goroutine has returned.
func Contend(ctx context.Context, s Subject, w load.Workload, p *profile.Profiler,
	process map[string]float64) ([]record.Series, error) {
	crews, err := crewsOf(s, w)
	if err != nil {
		return nil, err
	}
	runtime.GC()
	if err := p.Begin(); err != nil {
		return nil, err
	}

	start := time.Now()
	from := measuredFrom(s, start, w.Warmup)
	end := from.Add(w.Duration)
	running, working := begin(ctx, crews, paced(w), start, from, end)
	time.Sleep(time.Until(from))
	before := sysinfo.ReadCounters()
	time.Sleep(time.Until(end))
	sysinfo.ReadCounters().Since(before, process)
	if s, ok := s.(Quieter); ok {
		idle := make(chan struct{})
		go func() { working.Wait(); close(idle) }()
		s.Quiet(end, idle)
	}
	// A consumer may block because there is no item, and a producer because a channel is
	// full: Stop unblocks them.
	s.Stop()
	running.Wait()
	if stamped, ok := s.(Leaver); ok {
		stamped.Leave(end)
	}

	var series []record.Series
	for i, g := range w.Groups {
		if g.Goroutines > 0 {
			series = append(series, Summarise(g, crews[i], w.Duration))
		}
	}
	return series, ctx.Err()
}

// measuredFrom is when the measured time begins: after the warm-up, or at an Awaiter's earliest
// time if that is later. The wait for it is at most as long as the warm-up: items that lie
// minutes ahead are not waited for.
func measuredFrom(s Subject, start time.Time, warmup time.Duration) time.Time {
	from := start.Add(warmup)
	if s, ok := s.(Awaiter); ok {
		if wait := s.Earliest().Sub(from); wait > 0 && wait <= warmup {
			return s.Earliest()
		}
	}
	return from
}

// crewsOf makes the workers of each group.
func crewsOf(s Subject, w load.Workload) ([][]*Worker, error) {
	crews := make([][]*Worker, len(w.Groups))
	timing := timingCost()
	for i, g := range w.Groups {
		var decided atomic.Int64
		op, err := load.LookupOperation(w.Component, g.Op)
		if err != nil {
			return nil, err
		}
		for who := range g.Goroutines {
			a, err := s.Actor(g.Op, g, who)
			if err != nil {
				return nil, err
			}
			wk := NewWorker(a, g, w.Duration, op.Role == load.RoleConsume)
			if g.Rate == 0 && g.Think == 0 && a.Prepare == nil && !wk.consumes {
				wk.stride = &stride{timing: timing, group: &decided}
			}
			crews[i] = append(crews[i], wk)
		}
	}
	return crews, nil
}

// paced reports whether all that a workload writes is due at a time. A closed loop writes less
// while the component is slow, so those slices of a run would have few events, and the usual
// percentiles of staleness would leave them out.
func paced(w load.Workload) bool {
	return !slices.ContainsFunc(w.Groups, func(g load.Group) bool {
		op, err := load.LookupOperation(w.Component, g.Op)
		return err == nil && op.Role == load.RoleWrite && g.Goroutines > 0 && g.Rate == 0
	})
}

// begin starts a goroutine for each worker. sliced says that staleness may have slices. running
// ends when all have ended, working when those have that do not wait for the work of others.
func begin(ctx context.Context, crews [][]*Worker, sliced bool, start, from,
	end time.Time) (running, working *sync.WaitGroup) {
	measured := end.Sub(from)
	if !sliced {
		measured = stats.LongRun // of that length it has none
	}
	running, working = &sync.WaitGroup{}, &sync.WaitGroup{}
	for _, crew := range crews {
		for _, wk := range crew {
			wk.actor.Seen.Begin(from, measured)
		}
	}
	for _, crew := range crews {
		for who, wk := range crew {
			if !wk.consumes {
				working.Add(1)
			}
			running.Go(func() {
				wk.Run(ctx, who, len(crew), start, from, end)
				if !wk.consumes {
					working.Done()
				}
			})
		}
	}
	return running, working
}

// NewWorker makes the worker of an actor for a measured time; consumes says that it only
// waits for items.
func NewWorker(a Actor, g load.Group, measured time.Duration, consumes bool) *Worker {
	w := &Worker{actor: a, group: g, consumes: consumes}
	if consumes {
		return w // its time is the wait for an item, which says nothing about the subject
	}
	w.service = stats.NewHistogram()
	if g.Rate > 0 {
		w.response, w.delay = stats.NewHistogramOf(measured), stats.NewHistogramOf(measured)
		w.late = stats.NewHistogram()
	}
	return w
}

// Run does the actor's operations from begin to end, and counts those after from. who
// numbers the goroutines of the crew.
func (w *Worker) Run(ctx context.Context, who, crew int, begin, from, end time.Time) {
	w.from = from
	switch {
	case w.group.Rate > 0:
		t := NewTimetable()
		defer t.Close()
		w.warmUp(ctx, newPacer(t, begin, w.group.Rate, who, crew), from)
		w.openLoop(ctx, newPacer(t, from, w.group.Rate, who, crew), end)
	case w.consumes:
		w.consume(ctx, from, end)
	default:
		w.closedLoop(ctx, from, end)
	}
}

// warmUp does the same as openLoop until from, and records nothing. It drops operations
// that were due by then and not done, so that the measured time begins without a backlog.
func (w *Worker) warmUp(ctx context.Context, p *pacer, from time.Time) {
	for time.Now().Before(from) && ctx.Err() == nil {
		w.prepare()
		if _, _, ok := p.operation(from); !ok || w.actor.Loop(1) < 1 {
			return
		}
	}
}

func (w *Worker) prepare() {
	if w.actor.Prepare != nil {
		w.actor.Prepare(1)
	}
}

// openLoop does each operation when it is due.
func (w *Worker) openLoop(ctx context.Context, p *pacer, end time.Time) {
	for {
		w.prepare()
		countFrom, late, ok := p.operation(end)
		if !ok || ctx.Err() != nil {
			break
		}
		w.actor.Due.Set(countFrom, late)
		began := time.Now()
		if w.actor.Loop(1) < 1 {
			w.unfinished++
			w.owed(countFrom, late, end)
			break
		}
		now := time.Now()
		w.record(countFrom, late, now)
		if now.After(end) {
			// It was due in time and ended too late: its delay counts, and it is
			// unfinished.
			w.unfinished++
			break
		}
		w.done++
		w.service.Record(now.Sub(began))
		w.late.Record(late)
	}
	if now := time.Now(); ctx.Err() != nil && now.Before(end) {
		end = now // the replay of a trace ends so
	}
	w.unfinished += int64(p.owed(end, func(due, end time.Time) { w.owed(due, 0, end) }))
}

// record records an operation that was done, or given up, at the time until.
func (w *Worker) record(countFrom time.Time, late time.Duration, until time.Time) {
	at, delay := countFrom.Sub(w.from), max(0, until.Sub(countFrom))
	w.delay.RecordAt(at, delay)
	w.response.RecordAt(at-late, max(0, delay+late))
}

// owed records an operation that was due and not done by the end.
func (w *Worker) owed(countFrom time.Time, late time.Duration, end time.Time) {
	w.record(countFrom, late, end)
	if w.actor.Owed != nil {
		w.actor.Owed(countFrom, late, end)
	}
}

// closedLoop begins each operation when the last one is done. One clock reading is the end
// of one operation and the beginning of the next. An operation that is cheap beside its
// timing is timed once in stride; all operations count as done.
func (w *Worker) closedLoop(ctx context.Context, from, end time.Time) {
	began := time.Now()
	for began.Before(end) && ctx.Err() == nil {
		k, start := w.stride.next(), began
		if k > 1 || w.actor.Prepare != nil {
			w.prepare()
			if w.actor.Loop(k-1) < k-1 {
				return
			}
			began = time.Now()
			if w.actor.Prepare != nil { // k is 1: there is nothing else between the two
				w.preparing += overlap(start, began, from, end)
			}
		}
		if began.After(from) {
			w.actor.Due.Set(began, 0)
		}
		if w.actor.Loop(1) < 1 {
			return
		}
		now := time.Now()
		w.actor.Due.Clear()
		w.stride.learn(k, now.Sub(start), now.After(from))
		if now.After(from) {
			// Record it even if it ends too late to count as done: leaving out the longest
			// would flatter.
			w.service.Record(now.Sub(began))
			if now.Before(end) {
				w.done += int64(k)
			}
		}
		if w.group.Think > 0 {
			time.Sleep(w.group.Think)
			now = time.Now()
		}
		began = now
	}
}

// overlap is how much of the time from a to b lies between from and end.
func overlap(a, b, from, end time.Time) time.Duration {
	if a.Before(from) {
		a = from
	}
	if b.After(end) {
		b = end
	}
	return max(0, b.Sub(a))
}

// consume takes items out until the time is up or the subject stops. Items that still wait
// then stay where they are.
func (w *Worker) consume(ctx context.Context, from, end time.Time) {
	if w.actor.Polls {
		w.poll(ctx, from, end)
		return
	}
	for ctx.Err() == nil {
		got := w.actor.Loop(1)
		now := time.Now()
		if got < 1 || now.After(end) {
			return
		}
		if now.After(from) {
			w.done += int64(got)
		}
	}
}

// poll is consume of an actor that polls.
func (w *Worker) poll(ctx context.Context, from, end time.Time) {
	came := 0.0
	for last := time.Now(); ctx.Err() == nil && last.Before(end); {
		got, now := w.actor.Loop(1), time.Now()
		if got < 1 {
			break
		}
		came += float64(got) * overlap(last, now, from, end).Seconds() / max(now.Sub(last), 1).Seconds()
		last = now
	}
	w.done += int64(math.Round(came))
}

// Summarise merges the measurements of a group's workers, which have ended, into a series.
// It changes their histograms.
func Summarise(g load.Group, crew []*Worker, duration time.Duration) record.Series {
	s := record.Series{
		Group: g.Name, Op: string(g.Op), Goroutines: g.Goroutines,
		Values: map[string]float64{}, Histograms: map[string]string{},
	}
	var done, unfinished int64
	merged := map[string]*stats.Histogram{}
	add := func(name string, h *stats.Histogram) {
		switch {
		case h == nil:
		case merged[name] == nil:
			merged[name] = h
		default:
			merged[name].Merge(h)
		}
	}
	var preparing time.Duration
	for _, w := range crew {
		done += w.done
		preparing += w.preparing
		unfinished += w.unfinished
		add(metrics.Response, w.response)
		add(metrics.Delay, w.delay)
		add(metrics.Service, w.service)
		add(metrics.Late, w.late)
	}
	if !crew[0].actor.Idles {
		// A closed loop's rate is that of its operations: the harness's preparations are no
		// time in which the goroutines could have done more.
		working := duration - preparing/time.Duration(len(crew))
		s.Values[metrics.Achieved] = float64(done) / max(working, time.Nanosecond).Seconds()
	}
	if g.Rate > 0 {
		s.Values[metrics.Offered] = g.Rate
		s.Values[metrics.AchievedPct] = min(100, 100*float64(done)/duration.Seconds()/g.Rate)
		s.Values[metrics.Unfinished] = float64(unfinished)
	} else if !crew[0].consumes {
		s.Values[metrics.TimedOneIn] = float64(crew[0].stride.decided())
	}
	for name, h := range merged {
		s.AddDistribution(name, h)
	}
	crew[0].actor.Seen.Summarise(&s)
	return s
}
