package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/measure/record"
)

func plan(t *testing.T, o Options) *Plan {
	t.Helper()
	o.Out = filepath.Join(t.TempDir(), "run")
	p, err := NewPlan(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSweepOfAGroup(t *testing.T) {
	t.Parallel()
	p := plan(t, Options{Preset: "quick", Components: []string{"store", "fifo"}, Impls: []string{"*"},
		Sweep: []string{"listers.goroutines=0,3"}})
	if len(p.variants) != 2 {
		t.Fatalf("%d variants, want store-contended with 0 and 3 listers", len(p.variants))
	}
	for i, want := range []int{0, 3} {
		v := p.variants[i]
		if v.Workload.Name != "store-contended" || v.Key != "listers" || v.Value != want ||
			v.Workload.Groups[1].Goroutines != want {
			t.Errorf("variant %d: %+v", i, v)
		}
	}
	if len(p.notes) != 1 || !strings.Contains(p.notes[0], "store-ops, fifo-ops, fifo-contended") {
		t.Errorf("the notes do not say what was left out: %q", p.notes)
	}
}

// A smaller number of objects also reduces the waiting items.
func TestSweepOfObjectsThatWait(t *testing.T) {
	t.Parallel()
	p := plan(t, Options{Preset: "quick", Components: []string{"delay"},
		Sweep: []string{"objects=1000,1000000"}})
	for _, v := range p.variants {
		if w := v.Workload; w.Waiting > w.Objects.Count || w.Waiting == 0 || w.Objects.Count != v.Value {
			t.Errorf("%s: %d of %d wait", w.Name, w.Waiting, w.Objects.Count)
		}
	}
}

func TestSweepOfProcs(t *testing.T) {
	t.Parallel()
	// A workload's own sweep may ask for more processors than there are; --sweep may not.
	file := filepath.Join(t.TempDir(), "workload.yaml")
	workload := "name: procs\ncomponent: store\nobjects: {kind: pod, count: 100}\nops: " +
		"[get]\nduration: 10ms\nsweep: {vary: procs, values: [1, 3]}\n"
	if err := os.WriteFile(file, []byte(workload), 0o600); err != nil {
		t.Fatal(err)
	}
	p := plan(t, Options{File: file})
	cells := p.cells(p.entries)
	seen, names, procs := map[string]bool{}, map[string]bool{}, map[int]int{}
	for _, c := range cells {
		seen[c.ID()], names[c.BenchmarkName(record.Series{Op: "get"})] = true, true
		procs[c.Procs]++
	}
	if len(seen) != len(cells) || len(names) != len(cells) || procs[1] != procs[3] || procs[1] == 0 {
		t.Errorf("%d cells, %d IDs, %d names, by procs %v", len(cells), len(seen), len(names), procs)
	}
	// The base of a pair makes a plan of its own of these options.
	again := p.options
	again.Out = filepath.Join(t.TempDir(), "base")
	if base, err := NewPlan(again); err != nil || len(base.cells(base.entries)) != len(cells) {
		t.Errorf("a plan of the plan's options: %v", err)
	}
	text, err := p.text(p.variants[1])
	if err != nil || !strings.HasSuffix(text.Key, "/p3") {
		t.Errorf("the text of a variant is not found by its cells: %q, %v", text.Key, err)
	}
	if w := overcommitted(cells, 2); len(w) != 1 || !strings.Contains(w[0], "up to 3 on 2 cores") {
		t.Errorf("3 procs on 2 cores: %q", w)
	}
	if w := overcommitted(cells, 3); len(w) != 0 {
		t.Errorf("3 procs on 3 cores: %q", w)
	}
	one := plan(t, Options{Components: []string{string(contract.ComponentDelay)}, Procs: 1})
	for _, c := range one.cells(one.entries) {
		if c.Procs != 1 {
			t.Errorf("--procs 1: %+v", c)
		}
	}
}

// Several presets are one run, under a name that suits a folder.
func TestSeveralPresets(t *testing.T) {
	t.Parallel()
	p := plan(t, Options{Preset: "lock-starvation,kcm-150k"})
	if p.preset != "lock-starvation+kcm-150k" {
		t.Errorf("the run is called %s", p.preset)
	}
	seen := map[string]int{}
	for _, v := range p.variants {
		seen[v.Workload.Name]++
	}
	if seen["lock-starvation"] != 4 || seen["lock-starvation-by-index"] != 1 ||
		seen["kcm-150k-patch"] != 1 {
		t.Errorf("variants %v", seen)
	}
}

// Implementations for study are measured in a file's workloads, and where they are named.
func TestStudiesAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		options Options
		study   bool
	}{
		{Options{Preset: "quick"}, false},
		{Options{Preset: "quick", Impls: []string{"clientgo", "mutexmap"}}, true},
		{Options{Preset: "lock-starvation"}, false},
		{Options{Preset: "quick,lock-starvation", Impls: []string{"*"}}, true},
	} {
		p := plan(t, c.options)
		if got := slices.ContainsFunc(p.entries, func(e catalog.Entry) bool {
			return e.Name == "mutexmap"
		}); got != c.study {
			t.Errorf("%+v measures mutexmap: %v", c.options, got)
		}
		said := slices.ContainsFunc(p.notes, func(n string) bool {
			return strings.Contains(n, "store/mutexmap") && strings.Contains(n, "--impl")
		})
		if said == c.study {
			t.Errorf("%+v: the notes are %q", c.options, p.notes)
		}
	}
}
