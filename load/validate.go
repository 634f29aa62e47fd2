package load

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load/synthetic"
)

// The defaults of a workload.
const (
	DefaultDuration = time.Second
	DefaultSeed     = 1
)

// The bounds keep a mistake (a count in the wrong field) from exhausting the machine. They
// are far above the numbers of any preset.
const (
	maxObjects    = 50_000_000
	maxGoroutines = 100_000
	maxBatch      = 1_000_000 // each goroutine makes its own
	maxProcs      = 1024
	maxDuration   = 24 * time.Hour

	// The operations of an open loop are some nanoseconds to some minutes apart.
	minRate = 0.001
	maxRate = 100_000_000
)

var namePattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// FieldError is one mistake in a workload, or in a row of an imported file.
type FieldError struct {
	File    string // "" if the workload does not come from a file
	Line    int    // 1 for the first line; 0 if there is no file
	Path    string // "groups[1].op", or the column
	Problem string // "unknown operation \"lst\""
	Allowed string // the allowed values; "" where the problem says them
}

// Error gives "FILE:LINE: PATH: PROBLEM: use ALLOWED".
func (e *FieldError) Error() string {
	var b strings.Builder
	if e.File != "" {
		fmt.Fprintf(&b, "%s:%d: ", e.File, e.Line)
	}
	if e.Path != "" {
		fmt.Fprintf(&b, "%s: ", e.Path)
	}
	b.WriteString(e.Problem)
	if e.Allowed != "" {
		fmt.Fprintf(&b, ": use %s", e.Allowed)
	}
	return b.String()
}

// FieldErrors are all mistakes of a file, in the order of its lines.
type FieldErrors []*FieldError

// mostNamed is how many mistakes an error names one by one.
const mostNamed = 20

// Error gives one line for each of the first mistakes, and the number of the others.
func (e FieldErrors) Error() string {
	var lines []string
	for _, f := range e[:min(len(e), mostNamed)] {
		lines = append(lines, f.Error())
	}
	if more := len(e) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find the single mistakes.
func (e FieldErrors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, f := range e {
		errs[i] = f
	}
	return errs
}

func (e *FieldErrors) add(path, problem, allowed string) {
	*e = append(*e, &FieldError{Path: path, Problem: problem, Allowed: allowed})
}

// within adds an error for a number outside [low, high].
func within[T int | time.Duration](e *FieldErrors, path string, v, low, high T) {
	if v < low || v > high {
		e.add(path, fmt.Sprintf("%v is out of range", v), fmt.Sprintf("%v to %v", low, high))
	}
}

// WithDefaults fills in the workload's missing fields. ParseWorkload and presets have done
// so already.
func (w Workload) WithDefaults() Workload {
	if w.Objects.Kind == "" {
		switch w.Component {
		case contract.ComponentStore, contract.ComponentFIFO, contract.ComponentInformer,
			contract.ComponentObjects:
			w.Objects.Kind = synthetic.KindPod
		case contract.ComponentDelay, contract.ComponentQueue:
			w.Objects.Kind = synthetic.KindKey
		}
	}
	if w.Component == contract.ComponentObjects {
		w.Objects.Decoded = true
	}
	if w.Index == "" {
		switch w.Component {
		case contract.ComponentStore, contract.ComponentObjects:
			w.Index = synthetic.IndexNode
		case contract.ComponentInformer:
			w.Index = synthetic.IndexNamespace
		}
	}
	if len(w.Ops) > 0 && len(w.Parallel) == 0 {
		w.Parallel = []int{1}
	}
	w.Duration = cmp.Or(w.Duration, DefaultDuration)
	w.Seed = cmp.Or(w.Seed, DefaultSeed)
	w.Groups = slices.Clone(w.Groups)
	for i := range w.Groups {
		g := &w.Groups[i]
		g.Batch = cmp.Or(g.Batch, 1)
		if op, err := LookupOperation(w.Component, g.Op); err == nil && op.Indexed && g.Index == "" {
			g.Index = w.Index
		}
	}
	return w
}

// Validate reports every mistake as FieldErrors, or nil. The defaults must be filled in.
func (w Workload) Validate() error {
	var e FieldErrors
	checkName(&e, "name", w.Name)
	known := slices.Contains(Components(), w.Component)
	if !known {
		e.add("component", fmt.Sprintf("unknown component %q", w.Component),
			"one of "+join(Components(), asString))
	}
	w.checkObjects(&e, known)
	indexed := slices.Contains([]contract.Component{contract.ComponentStore,
		contract.ComponentInformer, contract.ComponentObjects}, w.Component)
	if indexed && !validIndex(w.Index) {
		e.add("index", fmt.Sprintf("unknown index %q", w.Index), "one of "+join(indexNames, asString))
	}
	if !indexed && known && w.Index != "" {
		e.add("index", fmt.Sprintf("a %s has no index", w.Component),
			"it with component store, informer or objects")
	}
	if known {
		w.checkOps(&e)
	}
	w.checkGroups(&e, known)
	w.checkSweep(&e)
	within(&e, "duration", w.Duration, time.Millisecond, maxDuration)
	within(&e, "warmup", w.Warmup, 0, maxDuration)
	w.checkFaults(&e)
	if len(w.Ops) == 0 && len(w.Groups) == 0 {
		e.add("", "nothing to measure", "ops, groups or both")
	}
	if len(e) == 0 {
		return nil
	}
	return e
}

func checkName(e *FieldErrors, path, name string) {
	switch {
	case name == "":
		e.add(path, "the name is missing", "lower case letters, digits and dashes")
	case !namePattern.MatchString(name):
		e.add(path, fmt.Sprintf("%q is no name", name), "lower case letters, digits and dashes")
	}
}

func (w Workload) checkObjects(e *FieldErrors, knownComponent bool) {
	o := w.Objects
	within(e, "objects.count", o.Count, 1, maxObjects)
	within(e, "objects.namespaces", o.Namespaces, 0, maxObjects)
	within(e, "objects.nodes", o.Nodes, 0, maxObjects)
	within(e, "objects.per_node", o.PerNode, 0, maxObjects)
	if o.Nodes > 0 && o.PerNode > 0 {
		e.add("objects.per_node", "nodes says it already", "nodes or per_node, not both")
	}
	if knownComponent {
		allowed := []synthetic.ObjectKind{synthetic.KindPod, synthetic.KindNode, synthetic.KindSmall}
		if w.Component == contract.ComponentObjects {
			allowed = append(allowed, synthetic.KindUnstructured)
		}
		if w.timed() {
			allowed = []synthetic.ObjectKind{synthetic.KindKey}
		}
		if !slices.Contains(allowed, o.Kind) {
			e.add("objects.kind", fmt.Sprintf("a %s has no objects of kind %q", w.Component, o.Kind),
				"one of "+join(allowed, asString))
		}
		if !w.timed() && w.Waiting != 0 {
			e.add("waiting", fmt.Sprintf("nothing waits in a %s", w.Component),
				"it with component delay or queue")
		}
	}
	within(e, "waiting", w.Waiting, 0, max(0, o.Count))
	within(e, "ahead", w.Ahead, 0, maxDuration)
	if w.Ahead > 0 && w.Waiting == 0 {
		e.add("ahead", "nothing is waiting", "it together with waiting")
	}
}

// timed reports whether the component holds keys that wait.
func (w Workload) timed() bool {
	return w.Component == contract.ComponentDelay || w.Component == contract.ComponentQueue
}

func (w Workload) checkOps(e *FieldErrors) {
	single := slices.DeleteFunc(Operations(w.Component), func(o Operation) bool { return !o.Single })
	names := "one of " + join(single, func(o Operation) string { return string(o.Op) })
	for i, name := range w.Ops {
		path := fmt.Sprintf("ops[%d]", i)
		op, err := LookupOperation(w.Component, name)
		switch {
		case err != nil:
			e.add(path, fmt.Sprintf("unknown operation %q of a %s", name, w.Component), names)
		case w.Objects.Kind == synthetic.KindNode && (op.Indexed || name == OpUpdateIndex):
			e.add(path, fmt.Sprintf("%s needs pods: nodes are in no index", name),
				"objects of kind pod or small")
		case !op.Single:
			e.add(path, fmt.Sprintf("%s needs other actors beside it", name), "it in groups, or "+names)
		case w.Component == contract.ComponentDelay && w.Waiting == 0 && name != OpAdd:
			e.add(path, fmt.Sprintf("%s finds nothing to take out", name), "waiting of 1 or more")
		case slices.Index(w.Ops, name) < i:
			e.add(path, fmt.Sprintf("%s stands there twice", name), "each operation once")
		}
	}
	for i, n := range w.Parallel {
		path := fmt.Sprintf("parallel[%d]", i)
		within(e, path, n, 1, maxGoroutines)
		if slices.Index(w.Parallel, n) < i {
			e.add(path, fmt.Sprintf("%d stands there twice", n), "each number once")
		}
	}
	if len(w.Parallel) > 0 && len(w.Ops) == 0 {
		e.add("parallel", "there are no ops", "it together with ops")
	}
}

func (w Workload) checkFaults(e *FieldErrors) {
	switch {
	case len(w.Faults) == 0:
	case w.timed():
		e.add("faults", fmt.Sprintf("no list/watch source feeds a %s", w.Component),
			"them with component store or fifo")
	case w.Component == contract.ComponentObjects:
		e.add("faults", "ways to keep objects are measured over no list/watch source",
			"them with component store or fifo")
	case w.Component == contract.ComponentInformer:
		e.add("faults", "an informer is measured over a source without faults",
			"op relist, which has the watch end with a 410")
	case len(w.Groups) == 0:
		e.add("faults", "operations measured alone go over no list/watch source", "them with groups")
	}
	for i, f := range w.Faults {
		for _, p := range f.Problems(synthetic.FaultKinds(), synthetic.DelayedFaultKinds()) {
			e.add(fmt.Sprintf("faults[%d].%s", i, p.Field), p.Problem, p.Allowed)
		}
	}
}

var indexNames = []string{synthetic.IndexNamespace, synthetic.IndexNode}

func validIndex(name string) bool { return slices.Contains(indexNames, name) }

func asString[S ~string](s S) string { return string(s) }
