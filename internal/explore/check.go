package explore

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	flagTime = flag.Duration("explore.time", 10*time.Second,
		"how long all explorations together may take")
	flagBound = flag.Int("explore.bound", 12, "the most preemptions of systematic runs")
	flagSeed  = flag.Uint64("explore.seed", 0,
		"the seed of random schedules and programs; 0 draws one")
	flagProgram  = flag.String("explore.program", "", "explore only the program with this name")
	flagSchedule = flag.String("explore.schedule", "", "make one run of that program by this schedule")
)

// Suite is the set of programs of one test.
type Suite struct {
	Programs []Program
	// Draw makes a random program; nil if the suite has no random programs.
	Draw func(r *rand.Rand) Program
	// Parse makes a program from a name that is not in Programs; nil if the suite cannot.
	Parse func(name string) (Program, error)
	// Share is the suite's share of the time of all explorations.
	Share float64
}

const (
	batch     = 100 // random runs of a program in a row
	perRandom = 400 // random runs of a random program
)

// Check explores the programs for the time that the flags give and reports each failing
// program. It prints the explored schedules, and now and then the remaining time.
func (s Suite) Check(t *testing.T) {
	t.Helper()
	if *flagProgram != "" {
		s.one(t)
		return
	}
	whole := time.Duration(float64(*flagTime) * s.Share)
	seed := *flagSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	r := rand.New(rand.NewPCG(seed, 0))
	fmt.Printf("%s: %s, seed %d\n", t.Name(), whole.Round(time.Second), seed)
	var (
		began    = time.Now()
		half     = began.Add(whole / 2)
		end      = began.Add(whole)
		searches []*Search
		failures []*Failure
		tell     = newTeller(t.Name(), end)
	)
	for _, p := range s.Programs {
		searches = append(searches, NewSearch(p))
	}
	open := slices.Clone(searches)
	for bound := 0; bound <= *flagBound && len(open) > 0; bound++ {
		var on []*Search
		for i, search := range open {
			// Programs that finish early leave their time to those after them.
			if left := time.Until(half); left > 0 &&
				search.Deepen(time.Now().Add(left/time.Duration(len(open)-i))) {
				on = append(on, search)
			}
			tell.now("systematic, %d preemptions", bound)
		}
		open = on
	}
	drawn, runs := 0, 0
	for time.Now().Before(end) && len(failures) == 0 {
		if s.Draw == nil && !slices.ContainsFunc(searches, func(s *Search) bool { return !s.Done() }) {
			break
		}
		for _, search := range searches {
			if time.Now().Before(end) {
				search.Random(r, batch)
			}
		}
		for n := 0; s.Draw != nil && n < len(searches) && time.Now().Before(end); n++ {
			search := NewSearch(s.Draw(r))
			search.Random(r, perRandom)
			drawn, runs = drawn+1, runs+search.runs
			if search.Failure != nil {
				failures = append(failures, search.Failure)
				break
			}
		}
		tell.now("random")
	}
	for _, search := range searches {
		fmt.Printf("  %s\n", search)
		runs += search.runs
		if search.Failure != nil {
			failures = append(failures, search.Failure)
		}
	}
	fmt.Printf("%s: %d schedules of %d programs and of %d random ones, %s\n", t.Name(), runs,
		len(searches), drawn, time.Since(began).Round(time.Millisecond))
	for _, f := range failures {
		t.Errorf("%v", f)
	}
}

// one explores or replays the program that the flags name.
func (s Suite) one(t *testing.T) {
	p, err := s.find(*flagProgram)
	if err != nil {
		t.Skip(err)
	}
	if *flagSchedule != "" {
		schedule, err := ParseSchedule(*flagSchedule)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Replay(schedule); err != nil {
			t.Fatalf("the schedule fails: %v", err)
		}
		return
	}
	s.Programs, s.Draw = []Program{p}, nil
	*flagProgram = ""
	s.Check(t)
}

func (s Suite) find(name string) (Program, error) {
	for _, p := range s.Programs {
		if p.Name == name {
			return p, nil
		}
	}
	if s.Parse != nil {
		return s.Parse(name)
	}
	return Program{}, fmt.Errorf("this test has no program %q", name)
}

// Find searches the programs until one fails. At each bound of preemptions it takes them
// one after the other, with some random runs of each in between; then it continues at
// random. It returns nil if none failed within most runs. It finds the same failure on
// every machine, because the seed is fixed and runs are counted instead of seconds.
func Find(programs []Program, most int) *Failure {
	const bound = 2
	began := time.Now()
	r := rand.New(rand.NewPCG(1, 0))
	var all []*Search
	for _, p := range programs {
		all = append(all, NewSearch(p))
	}
	found := func(s *Search) *Failure {
		if s.Failure != nil {
			s.Failure.Schedules, s.Failure.Took = runsOf(all), time.Since(began)
		}
		return s.Failure
	}
	for range bound + 1 {
		for i, s := range all {
			s.deepen(began.Add(time.Hour), max(1, (most/2-runsOf(all))/(len(all)-i)))
			if f := found(s); f != nil {
				return f
			}
		}
		for _, s := range all {
			s.Random(r, batch)
			if f := found(s); f != nil {
				return f
			}
		}
	}
	for runsOf(all) < most {
		open := false
		for _, s := range all {
			open = open || !s.Done()
			s.Random(r, batch)
			if f := found(s); f != nil {
				return f
			}
		}
		if !open {
			break
		}
	}
	return nil
}

func runsOf(all []*Search) (runs int) {
	for _, s := range all {
		runs += s.runs
	}
	return runs
}

// mostRuns is the number of runs after which a fault counts as missed.
const mostRuns = 4_000_000

// MustFind is Find for a fault that must be found. It prints the number of runs and the
// time.
func MustFind(t *testing.T, programs []Program) {
	t.Helper()
	f := Find(programs, mostRuns)
	if f == nil {
		t.Errorf("no program failed in %d runs", mostRuns)
		return
	}
	if err := programNamed(programs, f.Program).Replay(f.Schedule); err == nil {
		t.Errorf("its schedule does not fail again: %v", f)
	}
	first, _, _ := strings.Cut(f.Err.Error(), "\n")
	fmt.Printf("FOUND %s | %d | %s | %s | %s | %s\n", t.Name(), f.Schedules,
		f.Took.Round(time.Millisecond), f.Program, f.Schedule, first)
}

func programNamed(programs []Program, name string) Program {
	return programs[slices.IndexFunc(programs, func(p Program) bool { return p.Name == name })]
}

// teller prints the progress of a long search to standard error.
type teller struct {
	name      string
	end, next time.Time
}

const tellEvery = 15 * time.Second

func newTeller(name string, end time.Time) *teller {
	return &teller{name: name, end: end, next: time.Now().Add(tellEvery)}
}

func (p *teller) now(format string, args ...any) {
	if now := time.Now(); now.After(p.next) {
		p.next = now.Add(tellEvery)
		fmt.Fprintf(os.Stderr, "%s: %s, %s left\n", p.name, fmt.Sprintf(format, args...),
			time.Until(p.end).Round(time.Second))
	}
}
