package record

// The properties that readers of run.json rely on, whoever wrote it: they bound what a schedule
// or a picture of it takes. Every error begins with the path of the wrong field.

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/measure/stats"
)

// The longest strings of a record, in bytes. A report breaks lines, pads columns and compares
// names, so a name of 128 KiB took it 15 seconds.
const (
	mostName = 256
	mostText = 64 << 10
)

// names are the fields that name something; the keys of maps do too.
var names = []string{"Op", "Group", "Impl", "Workload", "Key", "Value", "Name", "Against", "Metric"}

// bounded returns an error that names a string that is too long, without all of it. Histograms have
// a bound of their own.
func bounded(field string, v reflect.Value, most int) error {
	switch v.Kind() {
	case reflect.String:
		if n := v.Len(); n > most {
			return fmt.Errorf("%s: %d bytes, want %d at most: %.200q", field, n, most, v.String())
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return bounded(field, v.Elem(), most)
		}
	case reflect.Slice, reflect.Array:
		switch v.Type().Elem().Kind() {
		case reflect.String, reflect.Struct, reflect.Pointer, reflect.Slice, reflect.Map:
		default:
			return nil
		}
		for i := range v.Len() {
			if err := bounded(fmt.Sprintf("%s[%d]", field, i), v.Index(i), most); err != nil {
				return err
			}
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			if err := bounded("a key of "+field, key, mostName); err != nil {
				return err
			}
			if v.Type().Elem().Kind() == reflect.Float64 {
				continue
			}
			if err := bounded(fmt.Sprintf("%s[%q]", field, key.String()), value, most); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for f, value := range v.Fields() {
			if f.Name == "Histograms" || !f.IsExported() {
				continue
			}
			most := mostText
			if slices.Contains(names, f.Name) {
				most = mostName
			}
			if err := bounded(strings.TrimPrefix(field+"."+f.Name, "."), value, most); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Run) validate() error {
	if err := bounded("", reflect.ValueOf(r), mostText); err != nil {
		return err
	}
	rule, most := r.Settings.Rule, r.Settings.Forks
	switch {
	case r.Name == "" || r.Started.IsZero():
		return errors.New("name, started: missing")
	case len(r.Cells) == 0:
		return errors.New("cells: none")
	case r.Settings.Forks < 1 || r.Settings.Forks > MaxForks:
		return fmt.Errorf("settings.forks: %d, want 1 to %d", r.Settings.Forks, MaxForks)
	case !natural(rule.Threshold) || !natural(rule.Equivalence) ||
		!(rule.Alpha > 0 && rule.Alpha <= 1):
		return fmt.Errorf("settings.rule: %+v, want bounds of 0 or more and a probability", rule)
	case len(r.Looks) > MaxLooks:
		return fmt.Errorf("looks: %d, want %d at most", len(r.Looks), MaxLooks)
	case len(r.Workloads) > MaxWorkloads:
		return fmt.Errorf("workloads: %d, want %d at most", len(r.Workloads), MaxWorkloads)
	}
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
	if err := r.Settings.Shard.validate(r); err != nil {
		return fmt.Errorf("settings.shard.%w", err)
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
	first := map[forkKey]int{} // a fork that is there twice would be counted twice
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

var components = []contract.Component{contract.ComponentStore, contract.ComponentFIFO,
	contract.ComponentDelay, contract.ComponentQueue, contract.ComponentLimiter,
	contract.ComponentInformer, contract.ComponentObjects}

func (c Cell) validate() error {
	switch {
	case !slices.Contains(components, c.Component):
		return fmt.Errorf("component: %q, want one of %v", c.Component, components)
	case c.Impl == "" || c.Workload == "":
		return errors.New("impl, workload: missing")
	case c.Procs < 1 || c.Procs > maxProcs:
		return fmt.Errorf("procs: %d, want 1 to %d", c.Procs, maxProcs)
	case c.Role != "" && c.Role != AARole:
		return fmt.Errorf("role: %q, want none or %q", c.Role, AARole)
	}
	for i, p := range c.Params {
		n, _ := strconv.ParseFloat(p.Value, 64) // 0 if it is no number
		if p.Key == "" || p.Value == "" || !(n >= 0 && n <= maxParam) {
			return fmt.Errorf("params[%d]: %q of %q, want a number of 0 to %g, or a word", i, p.Value,
				p.Key, maxParam)
		}
	}
	return nil
}

// Validate returns an error that names the field whose value no fork can have.
func (f *Fork) Validate() error {
	if f.Index < 0 || f.Index >= MaxForks && f.Index != ProfileIndex {
		return fmt.Errorf("index: %d, want 0 to %d, or %d of a fork with profiles", f.Index, MaxForks-1,
			ProfileIndex)
	}
	if !natural(f.Seconds) {
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
	if s.Op == "" {
		return errors.New("op: missing")
	}
	err := errors.Join(validateValues("values", s.Values), validateRatios("base", s.Base))
	if d := s.Duet; d != nil {
		if d.Against == "" || len(d.Ratios) == 0 {
			return errors.New("duet: against or ratios are missing")
		}
		err = errors.Join(err, validateRatios("duet.ratios", d.Ratios),
			validateValues("duet.reference", d.Reference))
	}
	for name, text := range s.Histograms {
		if _, e := stats.DecodeHistogram(text); e != nil {
			err = errors.Join(err, fmt.Errorf("histograms[%q]: %w", name, e))
		}
	}
	return err
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
// memory of its reader: ratios of values are finite, and pictures of them have axes.
const (
	maxValue     = 1e100
	maxParam     = 1e15
	maxProcs     = 1 << 16
	mostLogRatio = 50 // a factor of e to the 50
)

func natural(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }
