package record

import "math/rand/v2"

// Planned is one planned fork.
type Planned struct {
	Cell    Cell
	Index   int // within the cell
	Block   int
	Profile bool // an extra fork for profiles; its numbers are not used
}

// Schedule arranges forks in blocks. Each block has one fork of every cell that has so many,
// so that a drift of the machine affects all cells alike. The seed shuffles the workloads of a
// block and the cells of a workload. Cells that are compared are therefore adjacent, in either
// order. forks returns the number of forks of a cell. Profile forks, if requested, come after
// the last block.
func Schedule(cells []Cell, forks func(Cell) int, profile bool, seed uint64) []Planned {
	var workloads []string
	of := map[string][]Cell{}
	most := 0
	for _, c := range cells {
		key := c.WorkloadKey()
		if of[key] == nil {
			workloads = append(workloads, key)
		}
		most = max(most, forks(c))
		of[key] = append(of[key], c)
	}
	var plan []Planned
	for b := range most {
		// A block's order depends only on the seed and the block's number, so that added
		// blocks do not change the others.
		rng := rand.New(rand.NewPCG(seed, uint64(b)))
		for _, w := range rng.Perm(len(workloads)) {
			key := workloads[w]
			for _, i := range rng.Perm(len(of[key])) {
				if c := of[key][i]; b < forks(c) {
					plan = append(plan, Planned{Cell: c, Index: b, Block: b})
				}
			}
		}
	}
	for _, c := range cells {
		if profile && c.Role == "" {
			plan = append(plan, Planned{Cell: c, Index: ProfileIndex, Block: forks(c), Profile: true})
		}
	}
	return plan
}

const (
	// MaxForks is the most forks that a cell may have. Who makes a schedule from a record that
	// was edited needs no more memory than that.
	MaxForks = 10_000
	// ProfileIndex is the index of a cell's profile fork, above the index of any measured fork.
	ProfileIndex = 1 << 20
)
