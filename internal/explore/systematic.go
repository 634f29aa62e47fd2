package explore

import (
	"fmt"
	"time"
)

// choice is a step at which several threads could continue.
type choice struct {
	step   int
	taken  int  // index of the thread that continued
	among  int  // how many could continue
	again  bool // index 0 is the thread that ran before: any other one preempts it
	before int  // preemptions before this step
}

// systematic explores all schedules of a program with at most bound preemptions, depth
// first. Each run repeats the choices of the previous run up to the last one where another
// thread can still be tried. A switch from a thread that cannot continue is free.
type systematic struct {
	p         *Program
	bound     int
	path      []choice
	schedules int
	most      int  // schedules; 0 is no limit
	longest   int  // most steps of a run
	cut       bool // a schedule was left out because of the bound
}

// explore runs schedules until one fails, all have run, or the deadline has passed.
func (s *systematic) explore(deadline time.Time) (failed *outcome, finished bool) {
	for {
		out := s.once()
		s.schedules++
		s.longest = max(s.longest, out.steps)
		if out.err != nil {
			return &out, false
		}
		if !s.advance() {
			return nil, true
		}
		if s.schedules == s.most || s.schedules%64 == 0 && time.Now().After(deadline) {
			return nil, false
		}
	}
}

// once repeats the path and then takes the first choice everywhere.
func (s *systematic) once() outcome {
	step, at, preemptions := -1, 0, 0
	return s.p.run(func(enabled []*thread, again bool) int {
		step++
		if len(enabled) == 1 {
			return 0
		}
		if at == len(s.path) {
			s.path = append(s.path, choice{step: step, among: len(enabled), again: again,
				before: preemptions})
		}
		c := s.path[at]
		if c.step != step || c.among != len(enabled) || c.again != again {
			panic(fmt.Sprintf(
				"explore: program %q does not give the same run again by the same schedule: something in it "+
					"is random", s.p.Name))
		}
		at++
		if c.again && c.taken > 0 {
			preemptions++
		}
		return c.taken
	}, 0)
}

// advance changes the path to that of the next schedule; false if there is none.
func (s *systematic) advance() bool {
	for last := len(s.path) - 1; last >= 0; last-- {
		c := &s.path[last]
		if c.taken+1 < c.among {
			if !c.again || c.before < s.bound {
				c.taken++
				return true
			}
			s.cut = true
		}
		s.path = s.path[:last]
	}
	return false
}
