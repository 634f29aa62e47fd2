package load

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/contract"
)

func (w Workload) checkGroups(e *FieldErrors, knownComponent bool) {
	names := map[string]bool{}
	total := 0
	for i, g := range w.Groups {
		prefix := fmt.Sprintf("groups[%d].", i)
		checkName(e, prefix+"name", g.Name)
		if names[g.Name] && g.Name != "" {
			e.add(prefix+"name", fmt.Sprintf("there are two groups %q", g.Name), "a name of its own for each group")
		}
		names[g.Name] = true
		within(e, prefix+"goroutines", g.Goroutines, 0, maxGoroutines)
		total += max(0, g.Goroutines)
		if !(g.Rate >= 0) || math.IsInf(g.Rate, 0) {
			e.add(prefix+"rate", fmt.Sprintf("%v is out of range", g.Rate), "operations per second above 0, or 0 for a closed loop")
		}
		within(e, prefix+"batch", g.Batch, 1, maxObjects)
		within(e, prefix+"keys", g.Keys, 0, max(0, w.Objects.Count))
		within(e, prefix+"work", g.Work, 0, maxDuration)
		within(e, prefix+"think", g.Think, 0, maxDuration)
		within(e, prefix+"ahead", g.Ahead, 0, maxDuration)
		if g.Think > 0 && g.Rate > 0 {
			e.add(prefix+"think", "an open loop does not think", "rate or think, not both")
		}
		if knownComponent {
			w.checkGroupOp(e, prefix, g)
		}
	}
	if len(w.Groups) > 0 && total == 0 && !strings.HasSuffix(w.Sweep.Vary, ".goroutines") {
		e.add("groups", "all groups have 0 goroutines", "1 or more in one of them")
	}
	if w.Component == contract.ComponentFIFO {
		w.checkFIFOGroups(e)
	}
}

// optional names the fields that only some operations read, so that a value
// which nothing would read is a mistake and not silently dropped.
func (w Workload) checkGroupOp(e *FieldErrors, prefix string, g Group) {
	op, err := LookupOperation(w.Component, g.Op)
	if err != nil {
		e.add(prefix+"op", fmt.Sprintf("unknown operation %q of a %s", g.Op, w.Component),
			"one of "+join(Operations(w.Component), func(o Operation) string { return string(o.Op) }))
		return
	}
	needs := func(field string, set bool, does string, ops ...Op) {
		if set && !slices.Contains(ops, g.Op) {
			e.add(prefix+field, fmt.Sprintf("%s does not %s", g.Op, does), "it with op "+join(ops, asString))
		}
	}
	needs("batch", g.Batch > 1, "take a batch", OpTransaction, OpPop)
	needs("work", g.Work > 0, "handle items", OpPop, OpGetDone)
	needs("requeue", g.Requeue, "put items back", OpGetDone)
	needs("ahead", g.Ahead > 0, "give a ready time", aheadOps(w.Component)...)
	if w.Objects.Kind == KindNode && (op.Indexed || g.Op == OpUpdateIndex) {
		e.add(prefix+"op", fmt.Sprintf("%s needs pods: nodes are in no index", g.Op), "objects of kind pod or small")
	}
	switch {
	case op.Indexed && !validIndex(g.Index):
		e.add(prefix+"index", fmt.Sprintf("unknown index %q", g.Index), "one of "+join(indexNames, asString))
	case !op.Indexed && g.Index != "":
		e.add(prefix+"index", fmt.Sprintf("%s reads no index", g.Op), "it with op by-index, index, index-keys")
	}
}

func aheadOps(c contract.Component) []Op {
	if c == contract.ComponentDelay {
		return []Op{OpAdd, OpMixed}
	}
	return []Op{OpAddAfter}
}

// checkFIFOGroups refuses what would never end: a producer without a consumer
// fills the memory, a consumer without a producer waits for ever. Pop is meant
// for one consumer.
func (w Workload) checkFIFOGroups(e *FieldErrors) {
	var producers, consumers int
	for i, g := range w.Groups {
		switch g.Op {
		case OpAdd:
			producers++
		case OpPop:
			consumers++
			if g.Goroutines > 1 || consumers > 1 {
				e.add(fmt.Sprintf("groups[%d].goroutines", i), "a FIFO has one consumer", "1 goroutine in one group with op pop")
			}
		}
	}
	switch {
	case producers > 0 && consumers == 0:
		e.add("groups", "nothing pops what is added", "a group with op pop beside it")
	case consumers > 0 && producers == 0:
		e.add("groups", "nothing adds what is popped", "a group with op add beside it")
	}
}

func (w Workload) checkSweep(e *FieldErrors) {
	if w.Sweep.IsZero() {
		return
	}
	low := 1
	group, field, ofGroup := strings.Cut(w.Sweep.Vary, ".")
	switch {
	case w.Sweep.Vary == "objects":
	case w.Sweep.Vary == "waiting" && w.timed():
		low = 0
	case ofGroup && slices.ContainsFunc(w.Groups, func(g Group) bool { return g.Name == group }) && slices.Contains(sweepFields, field):
		if field != "batch" {
			low = 0
		}
	default:
		e.add("sweep.vary", fmt.Sprintf("cannot vary %q", w.Sweep.Vary), "one of "+join(w.sweepable(), asString))
	}
	if len(w.Sweep.Values) == 0 {
		e.add("sweep.values", "there are no values", "one number or more")
	}
	for i, v := range w.Sweep.Values {
		path := fmt.Sprintf("sweep.values[%d]", i)
		high := maxObjects
		if field == "goroutines" {
			high = maxGoroutines
		}
		within(e, path, v, low, high)
		if slices.Index(w.Sweep.Values, v) < i {
			e.add(path, fmt.Sprintf("%d stands there twice", v), "each value once")
		}
	}
}

var sweepFields = []string{"goroutines", "rate", "batch"}

func (w Workload) sweepable() []string {
	names := []string{"objects"}
	if w.timed() {
		names = append(names, "waiting")
	}
	for _, g := range w.Groups {
		for _, f := range sweepFields {
			names = append(names, g.Name+"."+f)
		}
	}
	return names
}

// Variants resolves the sweep: one workload for each value, or the workload
// itself. The key of a swept group's goroutines is the group's name, so that
// benchmarks read listers=10; of its rate and batch it is listers-rate and
// listers-batch. It expects a workload that Validate accepts.
func (w Workload) Variants() []Variant {
	if w.Sweep.IsZero() {
		return []Variant{{Workload: w}}
	}
	variants := make([]Variant, len(w.Sweep.Values))
	for i, value := range w.Sweep.Values {
		v := w
		v.Sweep = Sweep{}
		v.Groups = slices.Clone(w.Groups)
		variants[i] = Variant{Key: v.set(w.Sweep.Vary, value), Value: value}
		variants[i].Workload = v
	}
	return variants
}

// set changes one number of the workload and returns its key.
func (w *Workload) set(vary string, value int) (key string) {
	switch vary {
	case "objects":
		w.Objects.Count = value
		w.Waiting = min(w.Waiting, value)
		for i := range w.Groups {
			w.Groups[i].Keys = min(w.Groups[i].Keys, value)
		}
		return vary
	case "waiting":
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
