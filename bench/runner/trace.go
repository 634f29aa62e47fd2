package runner

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/internal/replay"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/internal/input"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/record"
)

// The groups of a trace's workload where no other workload defines the readers.
const (
	traceLister   = "lister"
	traceFeeder   = "replay"
	traceConsumer = "consumer"
	traceHandler  = "handler"
)

// traceWorkloads describes the replay of a trace, which must be complete, through each
// component that supports it. The given workloads define the readers and consumers. Without
// any, one goroutine lists all of a store, one consumes from a FIFO, and an informer has
// one handler and one goroutine that lists. The trace defines the writes.
func (p *Plan) traceWorkloads(path string, given []load.Workload) ([]load.Workload, error) {
	trace, err := load.ReadTraceTimes(path, max(1, p.options.Times))
	if err != nil {
		return nil, err
	}
	if len(trace.Events) == 0 {
		return nil, fmt.Errorf(
			"trace %s: nothing happens in it, it has %d objects and no event: record for longer", path,
			len(trace.Initial))
	}
	info := trace.Info()
	compress := cmp.Or(p.options.Compress, 1)
	base := load.Workload{
		Name:        "trace-" + nameOf(path),
		Source:      trace.Source,
		Description: fmt.Sprintf("%d events of %d objects in %s", info.Total, info.Objects, info.Span),
		Objects: synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: max(1, info.PeakLive),
			Namespaces: max(1, info.Namespaces), Nodes: max(1, info.Nodes)},
	}
	if p.options.Times > 1 {
		base.Name += fmt.Sprintf("-x%d", p.options.Times)
	}
	if base.Duration, err = traceDuration(path, info.Span, compress); err != nil {
		return nil, err
	}
	var out []load.Workload
	if len(given) == 0 {
		for _, c := range replay.TraceComponents() {
			w := base
			w.Component, w.Groups = c, defaultReaders(c)
			if c != contract.ComponentStore {
				w.Name += "-" + string(c)
			}
			out = append(out, w.WithDefaults())
		}
		return out, nil
	}
	for _, g := range given {
		w := base
		w.Component, w.Index = g.Component, g.Index
		w.Name = fmt.Sprintf("%s-over-%s", g.Name, base.Name)
		var dropped []string
		if w.Groups, dropped = readers(g); len(w.Groups) == 0 {
			p.notes = append(
				p.notes, fmt.Sprintf("left out, for nobody in it reads what a trace writes: %s", g.Name))
			continue
		}
		if len(dropped) > 0 {
			p.notes = append(
				p.notes, fmt.Sprintf("%s: left out, for the trace says what is written: %s", w.Name,
					strings.Join(dropped, ", ")))
		}
		if slices.Contains(w.Sweepable(), g.Sweep.Vary) && slices.Contains(ofTraces(w), g.Sweep.Vary) {
			w.Sweep = g.Sweep
		}
		if err := readable(w, trace); err != nil {
			return nil, fmt.Errorf("trace %s: %w", path, err)
		}
		out = append(out, w.WithDefaults())
	}
	if len(out) == 0 {
		return nil, fmt.Errorf(
			"--trace: no workload that is given beside it has a group that reads a store, pops from a " +
				"FIFO, or reads or handles what an informer has: leave them out, or name another")
	}
	return out, nil
}

// traceDuration is how long a replay takes.
func traceDuration(path string, span time.Duration, compress float64) (time.Duration, error) {
	if !(compress > 0) || math.IsInf(compress, 0) {
		return 0, fmt.Errorf("--compress %v: use a number above 0, such as 10", compress)
	}
	const longest = 24 * time.Hour
	d := float64(span) / compress
	if d > float64(longest) {
		return 0, fmt.Errorf(
			"trace %s lasts %s, and one process measures for %s at most: use --compress %.0f or more", path,
			time.Duration(min(d, math.MaxInt64/2)).Round(time.Hour), longest,
			math.Ceil(float64(span)/float64(longest)))
	}
	return max(time.Millisecond, time.Duration(d)), nil
}

func defaultReaders(c contract.Component) []load.Group {
	lister := load.Group{Name: traceLister, Op: load.OpList, Goroutines: 1}
	switch c {
	case contract.ComponentFIFO:
		return fed(c, []load.Group{{Name: traceConsumer, Op: load.OpPop, Goroutines: 1}})
	case contract.ComponentInformer:
		return fed(c, []load.Group{{Name: traceHandler, Op: load.OpHandle, Goroutines: 1}, lister})
	}
	return []load.Group{lister}
}

// fed puts a group that stands for the trace before groups that consume: a workload with
// consumers needs a producer.
func fed(c contract.Component, groups []load.Group) []load.Group {
	consumes := func(g load.Group) bool {
		op, err := load.LookupOperation(c, g.Op)
		return err == nil && op.Role == load.RoleConsume
	}
	if !slices.ContainsFunc(groups, consumes) {
		return groups
	}
	feeder := load.Group{Name: traceFeeder, Op: load.OpAdd, Goroutines: 1}
	if c == contract.ComponentInformer {
		feeder.Op = load.OpUpdate
	}
	return append([]load.Group{feeder}, groups...)
}

// readers returns the groups of a workload that run while a trace is replayed, and the
// names of the others. Before consumers it puts a group that stands for the trace.
func readers(w load.Workload) (kept []load.Group, dropped []string) {
	if !slices.Contains(replay.TraceComponents(), w.Component) {
		return nil, nil
	}
	for _, g := range w.Groups {
		op, err := load.LookupOperation(w.Component, g.Op)
		if err != nil || op.Role == load.RoleWrite {
			dropped = append(dropped, g.Name)
			continue
		}
		kept = append(kept, g)
	}
	if len(w.Faults) > 0 {
		dropped = append(dropped, "its faults")
	}
	return fed(w.Component, kept), dropped
}

// readable refuses readers of an index in which no object of the trace has a value.
func readable(w load.Workload, trace *load.Trace) error {
	for _, g := range w.Groups {
		index := cmp.Or(g.Index, w.Index)
		if op, err := load.LookupOperation(w.Component, g.Op); err != nil || !op.Indexed {
			continue
		}
		found := false
		for i := range trace.Resources {
			found = found || len(synthetic.ObjectsOf(w.Objects, trace.Objects(i)).IndexedValues(index)) > 0
		}
		if !found {
			return fmt.Errorf(
				"group %s of workload %s reads the index %q, in which no object of the trace is: use "+
					"another workload", g.Name, w.Name, index)
		}
	}
	return nil
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// nameOf derives a workload's name from a file's. A file whose name has no letter or digit that
// a workload's may have is called unnamed.
func nameOf(path string) string {
	base := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	return cmp.Or(strings.Trim(notInNames.ReplaceAllString(strings.ToLower(base), "-"), "-"),
		"unnamed")
}

// checks gathers the checks of the forks, and compares the final states of the
// implementations.
func checks(run *record.Run) []record.CheckResult {
	var out []record.CheckResult
	for _, c := range run.Cells {
		forks := run.Measured(c)
		for _, f := range forks {
			for _, k := range f.Checks {
				k.Name = c.Label() + ": " + k.Name
				if !k.Passed {
					k.Detail = c.WorkloadKey() + ": " + k.Detail
				}
				if i := slices.IndexFunc(out, func(o record.CheckResult) bool {
					return o.Name == k.Name
				}); i < 0 {
					out = append(out, k)
				} else if out[i].Passed { // of several that failed, the first is named
					out[i] = k
				}
			}
		}
	}
	return append(out, sameState(run)...)
}

// sameState checks that every implementation of a workload ended in the same state.
func sameState(run *record.Run) []record.CheckResult {
	var out []record.CheckResult
	for _, w := range run.Workloads {
		first, check := record.Fork{},
			record.CheckResult{Name: w.Name + ": all end in the same state", Passed: true}
		var impls []string
		for _, f := range run.Forks {
			if f.StateDigest == "" || f.Cell.WorkloadKey() != w.Key {
				continue
			}
			if first.StateDigest == "" {
				first = f
			}
			if f.StateDigest != first.StateDigest {
				check.Passed = false
				check.Detail = fmt.Sprintf("%s and %s differ", first.Cell.Label(), f.Cell.Label())
			}
			if !slices.Contains(impls, f.Cell.Label()) {
				impls = append(impls, f.Cell.Label())
			}
		}
		if first.StateDigest == "" {
			continue
		}
		if check.Passed {
			check.Detail = fmt.Sprintf("%s: SHA-256 %.16s...", strings.Join(impls, ", "), first.StateDigest)
		}
		out = append(out, check)
	}
	return out
}

// traceSum is the SHA-256 of a trace's file, in hex: a run that goes on must replay what it
// was begun with.
func traceSum(path string) (string, error) {
	f, err := input.OpenFile(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// sameTrace returns an error unless the trace of a run is what it was when the run was begun.
func sameTrace(s record.Settings) error {
	if s.Trace == "" || s.TraceSum == "" {
		return nil
	}
	switch sum, err := traceSum(s.Trace); {
	case err != nil:
		return fmt.Errorf("its trace cannot be read: %w: put it back", err)
	case sum != s.TraceSum:
		return fmt.Errorf("its trace %s has changed: put back the one that the run was begun with",
			s.Trace)
	}
	return nil
}
