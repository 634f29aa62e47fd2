package measure

import "math/rand/v2"

// Planned is one fork to be done.
type Planned struct {
	Cell    Cell
	Index   int // within the cell
	Block   int
	Profile bool // an extra fork for profiles; its numbers are not used
}

// Schedule lays out forks in blocks: each block has one fork of every cell, so
// that whatever drifts in the machine hits all cells alike. The workloads of a block
// come in an order shuffled by the seed, and so do the cells of a workload: those
// that are compared lie next to each other, in either order. forks says how many
// forks the cells of a workload have, by its key. Profile forks, if asked for, come
// after the last block.
func Schedule(cells []Cell, forks func(workload string) int, profile bool, seed uint64) []Planned {
	var workloads []string
	of := map[string][]Cell{}
	most := 0
	for _, c := range cells {
		key := c.WorkloadKey()
		if of[key] == nil {
			workloads = append(workloads, key)
			most = max(most, forks(key))
		}
		of[key] = append(of[key], c)
	}
	var plan []Planned
	for b := range most {
		// A block's order depends on nothing but the seed and its number, so that
		// blocks can be added without moving the others.
		rng := rand.New(rand.NewPCG(seed, uint64(b)))
		for _, w := range rng.Perm(len(workloads)) {
			key := workloads[w]
			for _, i := range rng.Perm(len(of[key])) {
				if b < forks(key) {
					plan = append(plan, Planned{Cell: of[key][i], Index: b, Block: b})
				}
			}
		}
	}
	for _, c := range cells {
		if n := forks(c.WorkloadKey()); profile && c.Role == "" {
			plan = append(plan, Planned{Cell: c, Index: ProfileIndex, Block: n, Profile: true})
		}
	}
	return plan
}

// ProfileIndex numbers the fork of a cell that is made for profiles, apart from
// those that are measured, however many there will be.
const ProfileIndex = 1 << 20
