package record

import (
	"fmt"
	"math/rand/v2"
)

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
	type sized struct {
		Cell
		forks int
	}
	var workloads []string
	of := map[string][]sized{}
	most := 0
	for _, c := range cells {
		key, n := c.WorkloadKey(), forks(c)
		if of[key] == nil {
			workloads = append(workloads, key)
		}
		most = max(most, n)
		of[key] = append(of[key], sized{c, n})
	}
	var plan []Planned
	for b := range most {
		// A block's order depends only on the seed and the block's number, so that added
		// blocks do not change the others.
		rng := rand.New(rand.NewPCG(seed, uint64(b)))
		for _, w := range rng.Perm(len(workloads)) {
			key := workloads[w]
			for _, i := range rng.Perm(len(of[key])) {
				if c := of[key][i]; b < c.forks {
					plan = append(plan, Planned{Cell: c.Cell, Index: b, Block: b})
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
	// MaxForks is the most forks that a cell may have.
	MaxForks = 10_000
	// MaxPlanned is the most forks that all cells of a run may have together.
	MaxPlanned = 1_000_000
	// MaxWorkloads is the most workloads that a run may have, each size of a sweep counted.
	MaxWorkloads = 10_000
	// MaxLooks is the most looks at verdicts that a run may have.
	MaxLooks = 10_000
	// ProfileIndex is the index of a cell's profile fork, above the index of any measured fork.
	ProfileIndex = 1 << 20
)

// CheckPlanned returns an error if cells with this many forks each are more than MaxPlanned forks
// in
// all.
func CheckPlanned(forks, cells int) error {
	if n := forks * cells; n > MaxPlanned {
		return fmt.Errorf("%d processes of each of %d cells are %d, want %d at most in all", forks, cells,
			n, MaxPlanned)
	}
	return nil
}
