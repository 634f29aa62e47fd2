package measure

import "math/rand/v2"

// Planned is one fork to be done.
type Planned struct {
	Cell    Cell
	Index   int // within the cell
	Block   int
	Profile bool // an extra fork for profiles; its numbers are not used
}

// Schedule lays out forks in blocks: each block has one fork of every cell, in
// an order shuffled by the seed, so that whatever drifts in the machine hits all
// cells alike. Profile forks, if asked for, come after the last block.
func Schedule(cells []Cell, forks int, profile bool, seed uint64) []Planned {
	rng := rand.New(rand.NewPCG(seed, uint64(forks)))
	var plan []Planned
	for b := range forks {
		for _, i := range rng.Perm(len(cells)) {
			plan = append(plan, Planned{Cell: cells[i], Index: b, Block: b})
		}
	}
	if profile {
		for _, c := range cells {
			if c.Role == "" {
				plan = append(plan, Planned{Cell: c, Index: forks, Block: forks, Profile: true})
			}
		}
	}
	return plan
}
