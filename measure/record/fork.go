package record

import (
	"maps"
	"time"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// Fork is the result of one process that measured one cell. It is written to a file of its
// own as soon as the process ends.
type Fork struct {
	Cell    Cell      `json:"cell"`
	Index   int       `json:"index"` // number of the fork within its cell, from 0
	Block   int       `json:"block"`
	Seed    uint64    `json:"seed"`
	Started time.Time `json:"started"`
	// Machine names the machine that measured the fork: the host, or the node of a cluster.
	// Forks of one machine share it. It is "" in files before schema 9, whose forks are all of
	// one machine.
	Machine string `json:"machine,omitempty"`
	// Seconds is the process's duration, including its preparation; half of it for each of
	// two processes that took turns.
	Seconds float64  `json:"seconds"`
	Series  []Series `json:"series"`
	// Process holds the metrics of the process as a whole.
	Process map[string]float64 `json:"process"`
	// Warnings taint every number of the fork.
	Warnings []string `json:"warnings,omitempty"`
	// Unsupported names the operations that were left out because the implementation lacks
	// them.
	Unsupported []string `json:"unsupported,omitempty"`
	// Checks are the fork's checks of its own work.
	Checks []CheckResult `json:"checks,omitempty"`
	// StateDigest is the SHA-256 of a component's contents after a trace: equal for equal
	// contents.
	StateDigest string `json:"stateDigest,omitempty"`
	// Profiles lists the profile files that the fork wrote. A fork with profiles is an
	// extra one: its numbers are kept but not used.
	Profiles []string `json:"profiles,omitempty"`
}

// Series is one operation, or one group of actors, within a fork.
type Series struct {
	// Group is the actor group, or "" for an operation measured alone.
	Group string `json:"group,omitempty"`
	Op    string `json:"op"`
	// Goroutines is how many goroutines ran the operation at once.
	Goroutines int `json:"goroutines"`
	// Values maps a metric, named by its unit as benchfmt does, to its value.
	Values map[string]float64 `json:"values"`
	// Warnings taint the numbers of this series.
	Warnings []string `json:"warnings,omitempty"`
	// Passes are the times of the passes, in ns per operation; ns/op is a quantile of them.
	Passes []float64 `json:"passes,omitempty"`
	// Duet is the comparison with the reference, if that took turns with the implementation
	// in this process.
	Duet *Duet `json:"duet,omitempty"`
	// Base holds the ratios to the same series of the pair's base, by metric, if base and head
	// took turns; only head has it.
	Base map[string]LogRatio `json:"base,omitempty"`
	// Histograms holds the merged latency distributions by name ("delay", "service",
	// "stale"), compressed (HdrHistogram V2).
	Histograms map[string]string `json:"histograms,omitempty"`
}

// Duet is one operation of two implementations that took turns.
type Duet struct {
	Against string `json:"against"` // the reference
	// Reference holds its values, by metric as in Series.Values.
	Reference map[string]float64 `json:"reference"`
	// Ratios holds the metrics that were measured turn by turn.
	Ratios map[string]LogRatio `json:"ratios"`
}

// LogRatio is the natural logarithm of an implementation's value to the reference's, or of
// head's to base's.
type LogRatio struct {
	// Log is the mean of the middle half of Sittings.
	Log float64 `json:"log"`
	// Sittings are the logarithms that each sitting gave.
	Sittings []float64 `json:"sittings"`
}

// Name joins group and operation.
func (s Series) Name() string {
	if s.Group == "" {
		return s.Op
	}
	return s.Group + ":" + s.Op
}

// Params are the segments that the series adds to a benchmark's name.
func (s Series) Params() []Param {
	var p []Param
	if s.Group != "" {
		p = append(p, Param{"group", s.Group})
	}
	return append(p, Param{"op", s.Op})
}

// Add adds the conditions in which the fork was measured.
func (f *Fork) Add(c sysinfo.Conditions) {
	if f.Process == nil {
		f.Process = map[string]float64{}
	}
	maps.Copy(f.Process, c.Values)
	f.Warnings = append(f.Warnings, c.Warnings...)
}

// AddDistribution puts a distribution into the series: its percentiles, and the encoded
// histogram unless no report draws it.
func (s *Series) AddDistribution(name string, h *stats.Histogram) {
	h.Summarise(name, s.Values)
	if name == metrics.Late {
		return
	}
	if text, err := h.Encode(); err == nil && h.Count() > 0 {
		s.Histograms[name] = text
	}
}
