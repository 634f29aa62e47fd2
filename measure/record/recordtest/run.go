// Package recordtest makes runs with known true values, to test the code that reads and
// judges runs.
package recordtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// Spec describes a made-up run. It has one workload. The first implementation is the
// reference and has an A/A copy.
type Spec struct {
	Name  string // of the run; default "sample"
	Forks int
	Seed  uint64
	// Impls are the implementations with their true median ns/op of a get.
	Impls []Impl
	// Noise is the standard deviation of a fork's value, relative to the median; default 0.01.
	Noise float64
	// Duets makes every implementation take turns with the reference in
	// "get". A fork's ratio then has a tenth of Noise, however noisy the times are. That of
	// its CPU time, cpu-ns/op, has a hundredth.
	Duets bool
	// Base makes the run the head of a pair whose base took turns with it in "get": its true
	// ns/op of each implementation. A fork's ratio then has a tenth of Noise.
	Base map[string]float64
	// Machines are the speeds of the machines between which the forks are divided, in pieces that
	// follow each other: 2 takes twice the time. None means one machine, without a name.
	Machines []float64
	// Draw returns the factor by which a fork's value differs from the truth; nil means a
	// normal distribution with standard deviation Noise.
	Draw func(*rand.Rand) float64
}

// Impl is an implementation and its true ns/op.
type Impl struct {
	Name    string
	NsPerOp float64
}

// Run makes the run. Each fork has a series "get" with ns/op and allocs/op 0, a
// group "writer:update" with delays ten times as long, and heap-B/object 100.
func Run(s Spec) *record.Run {
	rng := rand.New(rand.NewPCG(s.Seed, uint64(s.Forks)))
	if s.Name == "" {
		s.Name = "sample"
	}
	if s.Noise == 0 {
		s.Noise = 0.01
	}
	if s.Draw == nil {
		s.Draw = func(rng *rand.Rand) float64 { return max(0.01, 1+s.Noise*rng.NormFloat64()) }
	}
	r := &record.Run{
		Schema: record.Schema, Name: s.Name, Preset: "quick", Command: []string{"benchrun", "run"},
		Complete: true,
		Started:  time.Unix(0, 0), Finished: time.Unix(60, 0),
		Settings: record.Settings{Forks: s.Forks, Seed: 1, Rule: stats.DefaultRule},
		Environment: sysinfo.Environment{OS: "linux", Arch: "amd64", CPU: "Test CPU", Cores: 2,
			GoVersion: "go1.26"},
	}
	r.Settings.Pair, r.Settings.Turns = s.Base != nil, s.Base != nil
	truth := map[string]float64{}
	for i, im := range s.Impls {
		r.Impls = append(r.Impls, record.Implementation{Component: "store", Name: im.Name, Module: "m",
			Reference: i == 0, Verified: record.VerifyPassed, CasesPassed: 9})
		r.Cells = append(r.Cells, cell(im.Name, ""))
		truth[im.Name] = im.NsPerOp
	}
	r.Cells = append(r.Cells, cell(s.Impls[0].Name, record.AARole))
	r.Workloads = []record.WorkloadText{
		{Key: r.Cells[0].WorkloadKey(), Name: "store-ops", Source: "a test", YAML: "name: store-ops\n"}}
	for i := range s.Forks {
		machine, slower := "", 1.0
		if n := len(s.Machines); n > 0 {
			machine, slower = fmt.Sprintf("node-%d", i*n/s.Forks), s.Machines[i*n/s.Forks]
		}
		for _, c := range r.Cells {
			ns := truth[c.Impl] * s.Draw(rng) * slower
			values := map[string]float64{metrics.NsPerOp: ns, metrics.AllocsPerOp: 0}
			var duet *record.Duet
			var base map[string]record.LogRatio
			if s.Base != nil {
				log := math.Log(truth[c.Impl]/s.Base[c.Impl]) + s.Noise/10*rng.NormFloat64()
				base = map[string]record.LogRatio{metrics.NsPerOp: {Log: log, Sittings: []float64{log}}}
			}
			if s.Duets {
				duet = &record.Duet{Against: s.Impls[0].Name, Ratios: map[string]record.LogRatio{},
					Reference: map[string]float64{}}
				noise := s.Noise
				for _, metric := range []string{metrics.NsPerOp, metrics.CPUNsPerOp} {
					noise /= 10
					log := math.Log(truth[c.Impl]/s.Impls[0].NsPerOp) + noise*rng.NormFloat64()
					duet.Ratios[metric] = record.LogRatio{Log: log, Sittings: []float64{log}}
					values[metric], duet.Reference[metric] = ns, ns/math.Exp(log)
				}
			}
			r.Forks = append(r.Forks, record.Fork{
				Cell: c, Index: i, Block: i, Machine: machine,
				Process: map[string]float64{metrics.HeapPerObject: 100, metrics.HarnessNs: 0.5},
				Series: []record.Series{
					{Op: "get", Goroutines: 1, Values: values, Duet: duet, Base: base},
					{Group: "writer", Op: "update", Goroutines: 1,
						Values: map[string]float64{metrics.Offered: 100, metrics.AchievedPct: min(100, 1e4/ns),
							metrics.Percentile("delay", 99): 10 * ns}},
				},
			})
		}
	}
	return r
}

func cell(impl, role string) record.Cell {
	return record.Cell{Component: contract.ComponentStore, Impl: impl, Role: role,
		Workload: "store-ops", Procs: 2, Params: []record.Param{{Key: "objects", Value: "10"}}}
}
