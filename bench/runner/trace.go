package runner

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure"
)

const traceLister = "lister"

// traceWorkload describes the replay of a trace, which must be whole: the
// stores take its events while one goroutine lists everything.
func traceWorkload(path string) (load.Workload, error) {
	trace, err := load.ReadTraceFile(path)
	if err != nil {
		return load.Workload{}, err
	}
	info := trace.Info()
	w := load.Workload{
		Name:        "trace-" + nameOf(path),
		Source:      trace.Source,
		Description: fmt.Sprintf("%d events of %d pods in %s", info.Total, info.Pods, info.Span),
		Component:   contract.ComponentStore,
		Objects:     load.ObjectSpec{Kind: load.KindPod, Count: max(1, info.PeakLive), Namespaces: max(1, info.Namespaces), Nodes: max(1, info.Nodes)},
		Groups:      []load.Group{{Name: traceLister, Op: load.OpList, Goroutines: 1}},
		Duration:    info.Span,
	}
	return w.WithDefaults(), nil
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// nameOf makes a workload's name of a file's.
func nameOf(path string) string {
	base := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	return strings.Trim(notInNames.ReplaceAllString(strings.ToLower(base), "-"), "-")
}

// checks gathers what the forks checked, and compares the states in which the
// implementations ended.
func checks(run *measure.Run) []measure.CheckResult {
	var out []measure.CheckResult
	for _, c := range run.Cells {
		forks := run.Measured(c)
		for _, f := range forks {
			for _, k := range f.Checks {
				k.Name = c.Label() + ": " + k.Name
				if i := slices.IndexFunc(out, func(o measure.CheckResult) bool { return o.Name == k.Name }); i < 0 {
					out = append(out, k)
				} else if !k.Passed {
					out[i] = k
				}
			}
		}
	}
	return append(out, sameState(run)...)
}

// sameState checks that every implementation of a workload ended in the same state.
func sameState(run *measure.Run) []measure.CheckResult {
	var out []measure.CheckResult
	for _, w := range run.Workloads {
		first, check := measure.Fork{}, measure.CheckResult{Name: w.Name + ": all end in the same state", Passed: true}
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
