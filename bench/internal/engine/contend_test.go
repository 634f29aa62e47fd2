package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/metrics"
)

// refusing is a subject whose operations block until it is stopped and then fail.
type refusing struct {
	stub
	stopped chan struct{}
}

func (s *refusing) Stop() { close(s.stopped) }
func (s *refusing) Actor(load.Op, load.Group, int) (Actor, error) {
	return Actor{Loop: func(int) int { <-s.stopped; return 0 }}, nil
}

// The operation that the end interrupts counts as due, like those after it.
func TestWhatTheEndInterruptsCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := load.Workload{Component: contract.ComponentStore,
			Groups:   []load.Group{{Name: "writer", Op: load.OpUpdate, Goroutines: 1, Rate: 10}},
			Duration: time.Second}
		series, err := Contend(t.Context(), &refusing{stopped: make(chan struct{})}, w, nil,
			map[string]float64{})
		if err != nil {
			t.Fatal(err)
		}
		v := series[0].Values
		if v[metrics.Unfinished] != 10 || v[metrics.Number(metrics.Delay)] != 10 ||
			time.Duration(v[metrics.Max(metrics.Delay)]).Round(time.Millisecond) != time.Second {
			t.Errorf("%g unfinished, %g delays up to %s, want 10 up to 1s", v[metrics.Unfinished],
				v[metrics.Number(metrics.Delay)], time.Duration(v[metrics.Max(metrics.Delay)]))
		}
	})
}

// What an actor finds that polls came evenly since its last look: only the part of it within the
// measured time counts.
func TestPolledEventsCountWithinTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, looks := time.Now(), 0
		w := NewWorker(Actor{Polls: true, Loop: func(int) int {
			time.Sleep(10 * time.Millisecond)
			if looks++; looks == 1 {
				return 1000
			}
			return 100
		}}, load.Group{}, time.Second, true)
		w.Run(t.Context(), 0, 1, start, start.Add(5*time.Millisecond), start.Add(45*time.Millisecond))
		if want := int64(500 + 3*100 + 50); w.done != want || looks != 5 {
			t.Errorf("%d of the events count, after %d looks; want %d, after 5", w.done, looks, want)
		}
	})
}

// A response counts from when an operation was due, also where the generator woke up later; a
// delay does not.
func TestResponseIsFromEndToEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ms = time.Millisecond
		group := load.Group{Op: load.OpUpdate, Goroutines: 1, Rate: 100}
		w := NewWorker(Actor{Loop: func(int) int { time.Sleep(ms); return 1 }}, group, time.Second, false)
		w.from = time.Now()
		p := newPacer(&Timetable{}, w.from, group.Rate, 0, 1)
		time.Sleep(50 * ms)
		p.woke = time.Now() // it overslept: operations were due at 0, 10, ..., 40 ms
		w.openLoop(t.Context(), p, w.from.Add(55*ms))
		v := Summarise(group, []*Worker{w}, time.Second).Values
		for metric, want := range map[string]time.Duration{
			metrics.Max(metrics.Response): 51 * ms, metrics.Max(metrics.Delay): 6 * ms,
			metrics.Max(metrics.Late): 50 * ms,
		} {
			if got := time.Duration(v[metric]).Round(ms); got != want {
				t.Errorf("%s is %s, want %s", metric, got, want)
			}
		}
		if v[metrics.Number(metrics.Response)] != v[metrics.Number(metrics.Delay)] {
			t.Errorf("%g responses, %g delays", v[metrics.Number(metrics.Response)],
				v[metrics.Number(metrics.Delay)])
		}
	})
}
