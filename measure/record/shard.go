package record

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/informerbench/informerbench/measure/sysinfo"
)

// Shard is one of the parts into which a run is divided, to be measured by a machine of its
// own.
type Shard struct {
	Index int `json:"index"` // from 1
	Of    int `json:"of"`
	// Parts are what it measures; the shards of a run have every fork once.
	Parts []ShardPart `json:"parts"`
}

// ShardPart is some forks of every cell of a workload.
type ShardPart struct {
	Workload string `json:"workload"` // key
	From     int    `json:"from"`     // index of the first fork
	To       int    `json:"to"`       // index behind the last fork
	Profile  bool   `json:"profile,omitempty"`
}

// ShardRun says where a shard of a joined run was measured.
type ShardRun struct {
	Index       int                 `json:"index"`
	Machines    []string            `json:"machines"` // several if it was resumed elsewhere
	Started     time.Time           `json:"started"`
	Finished    time.Time           `json:"finished"`
	Environment sysinfo.Environment `json:"environment"`
}

// MaxShards is the most shards of a run, as many as a Kubernetes Job measures.
const MaxShards = 10_000

// String is "3/16".
func (s *Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// Measures reports whether the shard has forks of a workload.
func (s *Shard) Measures(workload string) bool {
	return slices.ContainsFunc(s.Parts, func(p ShardPart) bool { return p.Workload == workload })
}

func (s *Shard) has(p Planned) bool {
	return slices.ContainsFunc(s.Parts, func(part ShardPart) bool {
		if part.Workload != p.Cell.WorkloadKey() {
			return false
		}
		return p.Profile && part.Profile || !p.Profile && part.From <= p.Index && p.Index < part.To
	})
}

func (s *Shard) validate(r *Run) error {
	if s == nil {
		return nil
	}
	if s.Of < 1 || s.Of > MaxShards || s.Index < 1 || s.Index > s.Of {
		return fmt.Errorf(
			"index: shard %d of %d, want an index from 1 to the number of shards, and %d shards at most",
			s.Index, s.Of, MaxShards)
	}
	for i, p := range s.Parts {
		switch {
		case !slices.ContainsFunc(r.Workloads, func(w WorkloadText) bool { return w.Key == p.Workload }):
			return fmt.Errorf("parts[%d].workload: %q is not among the run's workloads", i, p.Workload)
		case p.From < 0 || p.To < p.From || p.To > r.Settings.Forks:
			return fmt.Errorf("parts[%d]: forks %d to %d, want a part of 0 to %d", i, p.From, p.To,
				r.Settings.Forks)
		}
	}
	return nil
}

// Divide divides a plan into shards. The unit is one fork of every cell of a workload, so
// that all that is compared is measured on one machine. cost is the expected time of a fork
// of a cell.
//
// The units stand in a line: by workload in the order of cells, then by fork, a workload's
// profiles last. The line is cut where its longest piece is shortest. A workload's forks
// therefore lie on few machines, which keeps the ranks of a test within a machine, and a
// shard meets few components, each of which it verifies first. The division depends on the
// arguments alone. It costs O(units) some sixty times.
func Divide(cells []Cell, forks int, profile bool, cost func(Cell) time.Duration, of int) ([]Shard,
	error) {
	units := unitsOf(cells, forks, profile, cost)
	if of > MaxShards {
		return nil, fmt.Errorf("%d shards are too many: want 1 to %d", of, MaxShards)
	}
	if of > len(units) {
		return nil, fmt.Errorf(
			"%d shards are too many: the run has %d parts that can be measured apart (a process of every "+
				"implementation of a workload): want 1 to %d, or more --forks", of, len(units), len(units))
	}
	// Bisection for the smallest load with which all fit.
	least, most := time.Duration(0), time.Duration(0)
	for _, u := range units {
		least, most = max(least, u.cost), most+u.cost
	}
	for least < most {
		middle := least + (most-least)/2
		if len(cut(units, middle, of)) <= of {
			most = middle
		} else {
			least = middle + 1
		}
	}
	var shards []Shard
	for i, piece := range cut(units, most, of) {
		s := Shard{Index: i + 1, Of: of}
		for _, u := range piece {
			s.add(u)
		}
		shards = append(shards, s)
	}
	return shards, nil
}

// unit is a part of a plan that cannot be divided.
type unit struct {
	workload string
	fork     int // ProfileIndex for the profiles
	cost     time.Duration
}

func unitsOf(cells []Cell, forks int, profile bool, cost func(Cell) time.Duration) (units []unit) {
	var workloads []string
	measured, profiled := map[string]time.Duration{}, map[string]time.Duration{}
	for _, c := range cells {
		key := c.WorkloadKey()
		if _, known := measured[key]; !known {
			workloads = append(workloads, key)
		}
		measured[key] += cost(c)
		if c.Role == "" {
			profiled[key] += cost(c)
		}
	}
	for _, w := range workloads {
		for i := range forks {
			units = append(units, unit{w, i, measured[w]})
		}
		if profile {
			units = append(units, unit{w, ProfileIndex, profiled[w]})
		}
	}
	return units
}

// cut divides the line into pieces of at most load. While it makes fewer than of, it leaves a
// unit for each of the others.
func cut(units []unit, load time.Duration, of int) (pieces [][]unit) {
	begin, sum := 0, time.Duration(0)
	for i, u := range units {
		others := of - len(pieces) - 1 // pieces behind the present one
		if i > begin && (sum+u.cost > load || len(units)-i <= others) {
			pieces = append(pieces, units[begin:i])
			begin, sum = i, 0
		}
		sum += u.cost
	}
	return append(pieces, units[begin:])
}

// add adds the unit behind the last of the shard's.
func (s *Shard) add(u unit) {
	last := len(s.Parts) - 1
	if last < 0 || s.Parts[last].Workload != u.workload {
		s.Parts = append(s.Parts, ShardPart{Workload: u.workload, From: u.fork, To: u.fork})
		last++
	}
	p := &s.Parts[last]
	if u.fork != ProfileIndex {
		p.To = u.fork + 1
		return
	}
	p.Profile = true
	if p.From == ProfileIndex {
		p.From, p.To = 0, 0
	}
}

// Machines are the machines that measured the run's forks, by name. Files before schema 9
// name none.
func (r *Run) Machines() (names []string) {
	for _, f := range r.Forks {
		if f.Machine != "" {
			names = append(names, f.Machine)
		}
	}
	slices.SortFunc(names, cmp.Compare)
	return slices.Compact(names)
}
