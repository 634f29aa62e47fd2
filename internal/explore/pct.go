package explore

import "math/rand/v2"

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
