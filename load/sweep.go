package load

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// What a sweep may vary, beside a number of a group.
const (
	VaryProcs   = "procs"   // GOMAXPROCS of the measuring process
	VaryObjects = "objects" // objects.count
	VaryWaiting = "waiting" // items that wait in a heap or queue before the load
)

// ParseSweep parses a flag such as "objects=1000,10000". The Validate of a workload decides
// whether that workload can be swept so.
func ParseSweep(text string) (Sweep, error) {
	vary, list, found := strings.Cut(text, "=")
	if !found || vary == "" || list == "" {
		return Sweep{}, fmt.Errorf("%q is no sweep: use WHAT=N,N,..., such as objects=1000,10000,100000",
			text)
	}
	s := Sweep{Vary: vary}
	for field := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(field)
		if err != nil {
			return Sweep{}, fmt.Errorf("%q: %q is no whole number: use %s=N,N,... with whole numbers", text,
				field, vary)
		}
		s.Values = append(s.Values, n)
	}
	return s, nil
}

func (w Workload) checkSweep(e *FieldErrors) {
	if w.Sweep.IsZero() {
		return
	}
	low, high := 1, maxObjects
	_, field, ofGroup := strings.Cut(w.Sweep.Vary, ".")
	switch {
	case !slices.Contains(w.Sweepable(), w.Sweep.Vary):
		e.add("sweep.vary", fmt.Sprintf("cannot vary %q", w.Sweep.Vary),
			"one of "+join(w.Sweepable(), asString))
	case w.Sweep.Vary == VaryWaiting, ofGroup && field != "batch":
		low = 0
	}
	switch {
	case field == "goroutines":
		high = maxGoroutines
	case field == "batch":
		high = maxBatch
	case w.Sweep.Vary == VaryProcs:
		high = maxProcs
	}
	if len(w.Sweep.Values) == 0 {
		e.add("sweep.values", "there are no values", "one number or more")
	}
	for i, v := range w.Sweep.Values {
		path := fmt.Sprintf("sweep.values[%d]", i)
		within(e, path, v, low, high)
		if slices.Index(w.Sweep.Values, v) < i {
			e.add(path, fmt.Sprintf("%d stands there twice", v), "each value once")
		}
	}
}

var sweepFields = []string{"goroutines", "rate", "batch"}

// Sweepable returns the numbers that a sweep of the workload may vary.
func (w Workload) Sweepable() []string {
	names := []string{VaryObjects, VaryProcs}
	if w.timed() {
		names = append(names, VaryWaiting)
	}
	for _, g := range w.Groups {
		op, err := LookupOperation(w.Component, g.Op)
		for _, f := range sweepFields {
			if f == "rate" && err == nil && op.Role == RoleConsume {
				continue // consumers have none
			}
			names = append(names, g.Name+"."+f)
		}
	}
	return names
}

// Variants resolves the sweep: one workload for each value, or the workload itself. The key
// of a swept group's goroutines is the group's name, so that benchmarks read listers=10.
// The keys of its rate and batch are listers-rate and listers-batch. A swept GOMAXPROCS is
// Procs and has no key, because names end in it anyway. The workload must be valid.
func (w Workload) Variants() []Variant {
	if w.Sweep.IsZero() {
		return []Variant{{Workload: w}}
	}
	variants := make([]Variant, len(w.Sweep.Values))
	for i, value := range w.Sweep.Values {
		v := w
		v.Sweep = Sweep{}
		v.Groups = slices.Clone(w.Groups)
		if w.Sweep.Vary == VaryProcs {
			variants[i] = Variant{Procs: value}
		} else {
			variants[i] = Variant{Key: v.set(w.Sweep.Vary, value), Value: value}
		}
		variants[i].Workload = v
	}
	return variants
}

// set changes one number of the workload and returns its key.
func (w *Workload) set(vary string, value int) (key string) {
	switch vary {
	case VaryObjects:
		w.Objects.Count = value
		w.Waiting = min(w.Waiting, value)
		for i := range w.Groups {
			w.Groups[i].Keys = min(w.Groups[i].Keys, value)
		}
		return vary
	case VaryWaiting:
		w.Waiting = value
		w.Objects.Count = max(w.Objects.Count, value)
		return vary
	}
	name, field, _ := strings.Cut(vary, ".")
	g := &w.Groups[slices.IndexFunc(w.Groups, func(g Group) bool { return g.Name == name })]
	switch field {
	case "rate":
		g.Rate = float64(value)
		return name + "-rate"
	case "batch":
		g.Batch = value
		return name + "-batch"
	default:
		g.Goroutines = value
		return name
	}
}
