package record

// The properties that readers of run.json rely on. Every error begins with the path of the
// wrong field, such as forks[3].series[0].values["ns/op"].

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/measure/stats"
)

func (r *Run) validate() error {
	switch {
	case r.Name == "":
		return errors.New("name: missing")
	case r.Started.IsZero():
		return errors.New("started: missing")
	case !r.Finished.IsZero() && r.Finished.Before(r.Started):
		return fmt.Errorf("finished: %s is before started", r.Finished)
	case len(r.Cells) == 0:
		return errors.New("cells: none")
	case r.Settings.Forks < 1 || r.Settings.Forks > MaxForks:
		return fmt.Errorf("settings.forks: %d, want 1 to %d", r.Settings.Forks, MaxForks)
	}
	if err := validateRule(r.Settings.Rule); err != nil {
		return fmt.Errorf("settings.rule.%w", err)
	}
	if r.Settings.Budget < 0 {
		return fmt.Errorf("settings.budget: %d is negative", r.Settings.Budget)
	}
	if p := r.Settings.Plant; p != nil && (p.Impl == "" || !natural(p.Share)) {
		return fmt.Errorf("settings.plant: %+v, want the name of a store and a share of 0 or more", *p)
	}
	if n := len(r.Looks); n > MaxLooks {
		return fmt.Errorf("looks: %d, want %d at most", n, MaxLooks)
	}
	most := r.Settings.Forks
	for i, l := range r.Looks {
		most = max(most, l.Forks)
		if l.Forks < r.Settings.Forks || l.Forks > MaxForks {
			return fmt.Errorf("looks[%d].forks: %d, want %d (settings.forks) to %d", i, l.Forks,
				r.Settings.Forks, MaxForks)
		}
	}
	if err := CheckPlanned(most, len(r.Cells)); err != nil {
		return fmt.Errorf("settings.forks, looks: %w", err)
	}
	if n := len(r.Workloads); n > MaxWorkloads {
		return fmt.Errorf("workloads: %d, want %d at most", n, MaxWorkloads)
	}
	keys := map[string]bool{}
	for i, w := range r.Workloads {
		if w.Key == "" || w.Name == "" {
			return fmt.Errorf("workloads[%d]: key and name must be set", i)
		}
		if keys[w.Key] {
			return fmt.Errorf("workloads[%d].key: %q is there twice", i, w.Key)
		}
		keys[w.Key] = true
	}
	if err := r.Settings.Shard.validate(r); err != nil {
		return fmt.Errorf("settings.shard.%w", err)
	}
	for i, im := range r.Impls {
		if err := im.validate(); err != nil {
			return fmt.Errorf("implementations[%d].%w", i, err)
		}
	}
	cells := map[string]bool{}
	for i, c := range r.Cells {
		if err := c.validate(); err != nil {
			return fmt.Errorf("cells[%d].%w", i, err)
		}
		if cells[c.ID()] {
			return fmt.Errorf("cells[%d]: %s is there twice", i, c.ID())
		}
		cells[c.ID()] = true
		if _, err := r.Workload(c); err != nil {
			return err
		}
	}
	return r.validateForks(cells)
}

// validateForks also finds forks that would be counted twice.
func (r *Run) validateForks(cells map[string]bool) error {
	first := map[forkKey]int{}
	for i := range r.Forks {
		f := &r.Forks[i]
		if err := f.Validate(); err != nil {
			return fmt.Errorf("forks[%d].%w", i, err)
		}
		key := forkKey{f.Cell.ID(), f.Index}
		if !cells[key.cell] {
			return fmt.Errorf("forks[%d].cell: %s is not among the run's cells", i, key.cell)
		}
		if j, ok := first[key]; ok {
			return fmt.Errorf("forks[%d].index: fork %d of %s is there twice, as forks[%d] too", i, f.Index,
				key.cell, j)
		}
		first[key] = i
	}
	return nil
}

func validateRule(r stats.Rule) error {
	switch {
	case !natural(r.Threshold):
		return fmt.Errorf("threshold: %v, want a number of 0 or more", r.Threshold)
	case !natural(r.Equivalence):
		return fmt.Errorf("equivalence: %v, want a number of 0 or more", r.Equivalence)
	case !natural(r.Alpha) || r.Alpha == 0 || r.Alpha > 1:
		return fmt.Errorf("alpha: %v, want a probability above 0", r.Alpha)
	}
	return nil
}

func (im *Implementation) validate() error {
	switch {
	case im.Component == "":
		return errors.New("component: missing")
	case im.Name == "":
		return errors.New("name: missing")
	case im.CasesPassed < 0:
		return fmt.Errorf("casesPassed: %d is negative", im.CasesPassed)
	case !slices.Contains([]string{VerifyPassed, VerifyFailed, VerifySkipped}, im.Verified):
		return fmt.Errorf("verified: %q, want %s, %s or %s", im.Verified, VerifyPassed, VerifyFailed,
			VerifySkipped)
	}
	return nil
}

var components = []contract.Component{contract.ComponentStore, contract.ComponentFIFO,
	contract.ComponentDelay, contract.ComponentQueue, contract.ComponentLimiter,
	contract.ComponentInformer}

func (c Cell) validate() error {
	switch {
	case !slices.Contains(components, c.Component):
		return fmt.Errorf("component: %q, want one of %v", c.Component, components)
	case c.Impl == "":
		return errors.New("impl: missing")
	case c.Workload == "":
		return errors.New("workload: missing")
	case c.Procs < 1 || c.Procs > maxProcs:
		return fmt.Errorf("procs: %d, want 1 to %d", c.Procs, maxProcs)
	case c.Role != "" && c.Role != AARole:
		return fmt.Errorf("role: %q, want none or %q", c.Role, AARole)
	}
	for i, p := range c.Params {
		if p.Key == "" || p.Value == "" {
			return fmt.Errorf("params[%d]: key and value must be set", i)
		}
		if n, _ := strconv.ParseFloat(p.Value, 64); !(n >= 0 && n <= maxParam) { // 0 if it is no number
			return fmt.Errorf("params[%d].value: %q, want a number of 0 to %g, or a word", i, p.Value,
				maxParam)
		}
	}
	return nil
}

// Validate returns an error that names the field whose value no fork can have.
func (f *Fork) Validate() error {
	switch {
	case f.Index < 0 || f.Index >= MaxForks && f.Index != ProfileIndex:
		return fmt.Errorf("index: %d, want 0 to %d, or %d of a fork with profiles", f.Index, MaxForks-1,
			ProfileIndex)
	case f.Block < 0:
		return fmt.Errorf("block: %d is negative", f.Block)
	case !natural(f.Seconds):
		return fmt.Errorf("seconds: %v, want a number of 0 or more", f.Seconds)
	}
	if err := f.Cell.validate(); err != nil {
		return fmt.Errorf("cell.%w", err)
	}
	if err := validateValues("process", f.Process); err != nil {
		return err
	}
	for i := range f.Series {
		if err := f.Series[i].validate(); err != nil {
			return fmt.Errorf("series[%d].%w", i, err)
		}
	}
	return nil
}

func (s *Series) validate() error {
	switch {
	case s.Op == "":
		return errors.New("op: missing")
	case s.Goroutines < 0:
		return fmt.Errorf("goroutines: %d is negative", s.Goroutines)
	}
	if err := validateValues("values", s.Values); err != nil {
		return err
	}
	if err := s.Duet.validate(); err != nil {
		return fmt.Errorf("duet.%w", err)
	}
	if err := validateRatios("base", s.Base); err != nil {
		return err
	}
	for i, v := range s.Passes {
		if !natural(v) {
			return fmt.Errorf("passes[%d]: %v, want a number of 0 or more", i, v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Histograms)) {
		if _, err := stats.DecodeHistogram(s.Histograms[name]); err != nil {
			return fmt.Errorf("histograms[%q]: %w", name, err)
		}
	}
	return nil
}

func (d *Duet) validate() error {
	switch {
	case d == nil:
		return nil
	case d.Against == "":
		return errors.New("against: missing")
	case len(d.Ratios) == 0:
		return errors.New("ratios: missing")
	}
	if err := validateRatios("ratios", d.Ratios); err != nil {
		return err
	}
	return validateValues("reference", d.Reference)
}

func validateRatios(field string, ratios map[string]LogRatio) error {
	for _, metric := range slices.Sorted(maps.Keys(ratios)) {
		r := ratios[metric]
		if len(r.Sittings) == 0 {
			return fmt.Errorf("%s[%q].sittings: missing", field, metric)
		}
		for _, v := range append([]float64{r.Log}, r.Sittings...) {
			if math.IsNaN(v) || math.Abs(v) > mostLogRatio {
				return fmt.Errorf("%s[%q]: %v, want a logarithm between -%d and %d", field, metric, v,
					mostLogRatio, mostLogRatio)
			}
		}
	}
	return nil
}

// mostLogRatio is more than any two implementations differ: a factor of e to the 50.
const mostLogRatio = 50

// validateValues also checks that benchfmt can write each name as a unit.
func validateValues(field string, values map[string]float64) error {
	for _, metric := range slices.Sorted(maps.Keys(values)) {
		if metric == "" || strings.ContainsFunc(metric, unicode.IsSpace) {
			return fmt.Errorf("%s[%q]: no name of a metric", field, metric)
		}
		if v := values[metric]; !(v == 0 || v >= 1/maxValue && v <= maxValue) {
			return fmt.Errorf("%s[%q]: %v, want 0, or a number from %g to %g", field, metric, v, 1/maxValue,
				maxValue)
		}
	}
	return nil
}

// The bounds are far beyond what is measured. They keep a record that was edited from filling the
// memory of who reads it: ratios of values are finite, and pictures of them have axes.
const (
	maxValue = 1e100
	maxParam = 1e15
	maxProcs = 1 << 16
)

func natural(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }
