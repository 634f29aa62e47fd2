package explore

import "slices"

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
