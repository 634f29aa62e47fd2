package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/contract"
)

// AARole marks the second copy of a reference implementation. It is compared with the first
// copy, to measure the difference between two samples of the same code.
const AARole = "aa"

// Cell is the subject of one process's measurement: component x implementation x workload x
// GOMAXPROCS.
type Cell struct {
	Component contract.Component `json:"component"`
	Impl      string             `json:"impl"`
	Workload  string             `json:"workload"`
	Procs     int                `json:"procs"`
	// Params are the workload's parameters that appear in the name, in order.
	Params []Param `json:"params,omitempty"`
	// Role is "" or AARole.
	Role string `json:"role,omitempty"`
}

// Param is one key=value segment of a benchmark's name.
type Param struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Label names the implementation, with its role where it has one.
func (c Cell) Label() string {
	if c.Role == "" {
		return c.Impl
	}
	return c.Impl + "@" + c.Role
}

// ID identifies the cell within a run, for file names and joins.
func (c Cell) ID() string {
	return strings.Join(
		append([]string{string(c.Component), c.Workload},
			append(segments(c.Params), c.Label(), fmt.Sprintf("p%d", c.Procs))...), "/")
}

// FileName is the ID with the characters replaced that do not suit one file or folder name.
func (c Cell) FileName() string {
	return strings.NewReplacer("/", "_", "=", "-", "@", "-").Replace(c.ID())
}

// WorkloadKey identifies the cell's workload: the ID without implementation and role.
func (c Cell) WorkloadKey() string {
	c.Impl, c.Role = "", ""
	return c.ID()
}

// BenchmarkName is the name in go test -bench's format: key=value segments in a
// fixed order, so that every comparison is a projection of names.
//
//	BenchmarkStore/workload=lock-starvation/objects=100000/listers=10/group=writer/op=update/impl=clientgo-2
func (c Cell) BenchmarkName(series Series) string {
	title := strings.ToUpper(string(c.Component[:1])) + string(c.Component[1:])
	if c.Component == contract.ComponentFIFO {
		title = "FIFO"
	}
	parts := []string{"Benchmark" + title, "workload=" + c.Workload}
	parts = append(parts, segments(c.Params)...)
	parts = append(parts, segments(series.Params())...)
	parts = append(parts, "impl="+c.Label())
	return fmt.Sprintf("%s-%d", strings.Join(parts, "/"), c.Procs)
}

func segments(params []Param) []string {
	out := make([]string, len(params))
	for i, p := range params {
		out[i] = p.Key + "=" + p.Value
	}
	return out
}

const givenUp = " was given up: "

// GivenUp begins the warning of a cell that is not measured any further, because a process of it
// crashed or hung.
func GivenUp(c Cell) string { return c.ID() + givenUp }

// WhichGaveUp returns the ID of the cell of such a warning, "" for other warnings.
func WhichGaveUp(warning string) string {
	id, _, found := strings.Cut(warning, givenUp)
	if !found {
		return ""
	}
	return id
}

// Same reports whether two cells have one ID, without making it.
func (c Cell) Same(d Cell) bool {
	return c.Impl == d.Impl && c.Role == d.Role && c.SameExceptImpl(d)
}

// SameExceptImpl reports whether two cells differ in implementation and role only.
func (c Cell) SameExceptImpl(d Cell) bool {
	return c.Component == d.Component && c.Workload == d.Workload && c.Procs == d.Procs &&
		slices.Equal(c.Params, d.Params)
}
