package explore

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"
)

// Failure is the failure of a program.
type Failure struct {
	Program  string
	Schedule Schedule
	Err      error
	How      string // which search found it
	// Schedules and Took are the search's schedules and time up to the failure.
	Schedules int
	Took      time.Duration
}

func (f *Failure) Error() string {
	return fmt.Sprintf(
		"program  %s\nfound    by %s, after %d schedules, %s\nschedule %s\n%s%v\nreplay   "+
			"-explore.program='%s' -explore.schedule='%s'",
		f.Program, f.How, f.Schedules, f.Took.Round(time.Millisecond), f.Schedule, f.Schedule.story(),
		f.Err, f.Program, f.Schedule)
}

// Search is the exploration of one program.
type Search struct {
	Program Program
	Failure *Failure // nil: none was found

	threads  int
	longest  int // steps
	runs     int
	levels   []int       // levels[i] counts the schedules with at most i preemptions
	finished int         // completed levels; the last of levels may be incomplete
	all      bool        // there are no more schedules
	random   map[int]int // runs by depth
	took     time.Duration
}

// NewSearch prepares the exploration of p.
func NewSearch(p Program) *Search {
	bodies, _, _ := p.make()
	return &Search{Program: p, threads: len(bodies), random: map[int]int{}}
}

// Done reports whether nothing is left to explore.
func (s *Search) Done() bool { return s.Failure != nil || s.all }

// Finished reports whether all schedules were explored and none failed.
func (s *Search) Finished() bool { return s.Failure == nil && s.all }

// Deepen explores all schedules with one preemption more than before. It returns false if
// the deadline stopped it, or if there is nothing more to explore.
func (s *Search) Deepen(deadline time.Time) bool { return s.deepen(deadline, 0) }

// deepen is Deepen for at most the given number of schedules; 0 is no limit.
func (s *Search) deepen(deadline time.Time, most int) bool {
	if s.Done() || len(s.levels) > s.finished {
		return false
	}
	defer single()()
	began := time.Now()
	sys := &systematic{p: &s.Program, bound: len(s.levels), most: most}
	failed, finished := sys.explore(deadline)
	s.took += time.Since(began)
	s.longest = max(s.longest, sys.longest)
	s.runs += sys.schedules
	s.levels = append(s.levels, sys.schedules)
	if failed != nil {
		s.fail(*failed, 0, fmt.Sprintf("all schedules with at most %d preemptions", sys.bound))
	}
	if finished {
		s.finished++
		s.all = !sys.cut
	}
	return finished && !s.Done()
}

// Random makes runs with random priorities, at depths 2 to 4.
func (s *Search) Random(r *rand.Rand, runs int) {
	if s.Done() {
		return
	}
	defer single()()
	began := time.Now()
	defer func() { s.took += time.Since(began) }()
	for range runs {
		depth, seed := 2+r.IntN(3), r.Uint64()>>40+1
		if s.longest == 0 {
			s.longest = s.Program.run(func([]*thread, bool) int { return 0 }, 0).steps
		}
		out := s.Program.run(newPriorities(r, s.threads, s.longest, depth).choose, seed)
		s.runs++
		s.random[depth]++
		s.longest = max(s.longest, out.steps)
		if out.err != nil {
			s.took += time.Since(began)
			began = time.Now()
			s.fail(out, seed, fmt.Sprintf("random priorities of depth %d", depth))
			return
		}
	}
}

// Replay makes one run by a schedule.
func (p Program) Replay(s Schedule) error {
	defer single()()
	return p.replay(s).err
}

func (s *Search) fail(out outcome, seed uint64, how string) {
	f := &Failure{Program: s.Program.Name, How: how, Schedules: s.runs, Took: s.took}
	out, f.Schedule = s.Program.reduce(out, seed)
	f.Err = out.err
	s.Failure = f
}

// single makes one goroutine run at a time, until the returned function is called.
// Switching coroutines is then faster, and code that starts a goroutine per processor
// starts none.
func single() (restore func()) {
	before := runtime.GOMAXPROCS(1)
	return func() { runtime.GOMAXPROCS(before) }
}

// String describes the explored schedules.
func (s *Search) String() string {
	var parts []string
	for bound, n := range s.levels {
		switch {
		case bound == s.finished:
			parts = append(parts, fmt.Sprintf("%d preemptions: %d schedules, not all", bound, n))
		case s.all && bound == s.finished-1:
			parts = append(parts, fmt.Sprintf("all schedules there are: %d", n))
		default:
			parts = append(parts, fmt.Sprintf("<=%d preemptions: all %d", bound, n))
		}
	}
	for depth := 2; depth <= 4; depth++ {
		if n := s.random[depth]; n > 0 {
			parts = append(parts, fmt.Sprintf("depth %d: %d random, p(missed) <= %.2g", depth, n,
				s.missed(depth)))
		}
	}
	return fmt.Sprintf("%s\n    %d threads, %d steps; %s; %s", s.Program.Name, s.threads, s.longest,
		strings.Join(parts, "; "), s.took.Round(time.Millisecond))
}

// missed bounds the probability that the random runs missed a fault of this depth.
func (s *Search) missed(depth int) float64 {
	p := 1 / (float64(s.threads) * math.Pow(float64(s.longest), float64(depth-1)))
	return math.Pow(1-p, float64(s.random[depth]))
}

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

// priorities draws schedules by the algorithm of Burckhardt et al. (ASPLOS 2010, algorithm
// 1). Each thread gets a random priority of its own, and the one with the highest runs. At
// d-1 steps, drawn from the k steps of the program, the priority of the running thread
// drops below all others. A run of n threads finds a fault of d ordering constraints with a
// probability of at least 1/(n*k^(d-1)).
type priorities struct {
	of      []int       // by thread; higher runs first
	changes map[int]int // by step: the priority that the running thread gets
	step    int
}

func newPriorities(r *rand.Rand, threads, steps, depth int) *priorities {
	p := &priorities{changes: map[int]int{}}
	for _, rank := range r.Perm(threads) {
		p.of = append(p.of, depth+rank)
	}
	for i := range depth - 1 {
		p.changes[r.IntN(max(1, steps))] = i
	}
	return p
}

func (p *priorities) choose(enabled []*thread, _ bool) int {
	best := p.best(enabled)
	if lower, changes := p.changes[p.step]; changes {
		p.of[enabled[best].id] = lower
		best = p.best(enabled)
	}
	p.step++
	return best
}

func (p *priorities) best(enabled []*thread) int {
	best := 0
	for i, t := range enabled {
		if p.of[t.id] > p.of[enabled[best].id] {
			best = i
		}
	}
	return best
}
