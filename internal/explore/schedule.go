package explore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// segment is a stretch of a schedule in which one thread runs.
type segment struct {
	thread int
	steps  int
	from   string // the point at which it begins
}

// Schedule is the decisions of a run. Its text, such as "0:12 1:3 0:40", has for each
// stretch the thread and its number of steps. "seed=7" before it is the seed of the random
// numbers. After the end of the text, the threads run in turn, each to its end.
type Schedule struct {
	seed     uint64
	segments []segment
}

func (s Schedule) String() string {
	var parts []string
	if s.seed != 0 {
		parts = append(parts, fmt.Sprintf("seed=%d", s.seed))
	}
	for _, g := range s.segments {
		parts = append(parts, fmt.Sprintf("%d:%d", g.thread, g.steps))
	}
	return strings.Join(parts, " ")
}

// ParseSchedule parses the output of String.
func ParseSchedule(text string) (s Schedule, err error) {
	for _, part := range strings.Fields(text) {
		if seed, ok := strings.CutPrefix(part, "seed="); ok {
			if s.seed, err = strconv.ParseUint(seed, 10, 64); err != nil {
				return s, fmt.Errorf("the seed of a schedule: %w", err)
			}
			continue
		}
		var g segment
		if _, err := fmt.Sscanf(part, "%d:%d", &g.thread, &g.steps); err != nil || g.thread < 0 ||
			g.steps < 1 {
			return s, fmt.Errorf("part %q of a schedule is not thread:steps", part)
		}
		s.segments = append(s.segments, g)
	}
	return s, nil
}

// story describes the schedule stretch by stretch, with the names of the points.
func (s Schedule) story() string {
	var b strings.Builder
	for i, g := range s.segments {
		if i == 40 {
			fmt.Fprintf(&b, "  and %d stretches more\n", len(s.segments)-i)
			break
		}
		fmt.Fprintf(&b, "  thread %d goes on at %q for %d steps\n", g.thread, g.from, g.steps)
	}
	return b.String()
}

// replay runs p by a schedule. If the schedule's thread cannot continue, the rest of its
// stretch is left out.
func (p *Program) replay(s Schedule) outcome {
	left := slices.Clone(s.segments)
	return p.run(func(enabled []*thread, _ bool) int {
		for ; len(left) > 0; left = left[1:] {
			i := slices.IndexFunc(enabled, func(t *thread) bool { return t.id == left[0].thread })
			if i >= 0 && left[0].steps > 0 {
				left[0].steps--
				return i
			}
		}
		return 0
	}, s.seed)
}

// reduceRuns bounds the runs for reducing a schedule.
const reduceRuns = 2000

// reduce looks for a failing schedule with fewer stretches. It leaves out one stretch after
// the other, or merges it with the next stretch of the same thread, as long as that helps.
// The failure may change.
func (p *Program) reduce(failed outcome, seed uint64) (outcome, Schedule) {
	best := failed
	for again, runs := true, 0; again && runs < reduceRuns; {
		again = false
		for i := 0; i < len(best.schedule) && runs < reduceRuns; i++ {
			for _, shorter := range shorterBy(best.schedule, i) {
				runs++
				out := p.replay(Schedule{seed, shorter})
				if out.err != nil && len(out.schedule) < len(best.schedule) {
					best, again = out, true
					break
				}
			}
		}
	}
	return best, Schedule{seed, best.schedule}
}

// shorterBy returns the schedule without its i-th stretch, and with that stretch merged
// with the thread's next one: at the place of the later and at the place of the earlier.
func shorterBy(all []segment, i int) [][]segment {
	out := [][]segment{slices.Delete(slices.Clone(all), i, i+1)}
	for j := i + 1; j < len(all); j++ {
		if all[j].thread == all[i].thread {
			later := slices.Clone(all)
			later[j].steps += all[i].steps
			earlier := slices.Clone(all)
			earlier[i].steps += all[j].steps
			return append(out, slices.Delete(later, i, i+1), slices.Delete(earlier, j, j+1))
		}
	}
	return out
}
