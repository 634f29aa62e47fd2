package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/stats"
)

// schemaField is how run.json says its schema.
var schemaField = fmt.Sprintf(`"schema": %d`, Schema)

func sampleRun() *Run {
	c := Cell{Component: contract.ComponentStore, Impl: "clientgo", Workload: "store-ops", Procs: 2,
		Params: []Param{{"objects", "10"}}}
	return &Run{
		Schema: Schema, Name: "r", Preset: "quick", Started: time.Unix(1, 0),
		Settings:  Settings{Forks: 2, Seed: 1, Rule: stats.DefaultRule},
		Workloads: []WorkloadText{{Key: c.WorkloadKey(), Name: "store-ops", YAML: "name: store-ops\n"}},
		Cells:     []Cell{c},
	}
}

func sampleFork(r *Run, index int) Fork {
	return Fork{Cell: r.Cells[0], Index: index,
		Series: []Series{{Op: "get", Goroutines: 1,
			Values: map[string]float64{metrics.NsPerOp: 40 + float64(index)}}}}
}

func TestJournalKeepsEveryFork(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	j, err := CreateJournal(dir, sampleRun())
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Keep(sampleFork(j.Run(), 0)); err != nil {
		t.Fatal(err)
	}
	// As after a kill, nothing was closed; the fork is on disk all the same.
	again, err := OpenJournal(dir, func(*Run) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if n := len(again.Run().Forks); n != 1 {
		t.Fatalf("%d forks after reopening, want 1", n)
	}
	cell := again.Run().Cells[0]
	if !again.Done(Planned{Cell: cell, Index: 0}) || again.Done(Planned{Cell: cell, Index: 1}) {
		t.Error("the journal does not know which fork is done")
	}
	if err := again.Keep(sampleFork(again.Run(), 1)); err != nil {
		t.Fatal(err)
	}
	again.Run().Complete = true
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Values(cell, "get", metrics.NsPerOp); len(got) != 2 {
		t.Errorf("values %v, want one per fork and none twice", got)
	}
	if _, err := os.Stat(filepath.Join(dir, forksDir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the forks' own files are still there: %v", err)
	}
	if _, err := OpenJournal(dir, func(*Run) error { return nil }); err == nil {
		t.Error("a complete run was resumed")
	}
}

func TestJournalRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateJournal(dir, sampleRun()); err == nil ||
		!strings.Contains(err.Error(), "not empty") {
		t.Errorf("a folder that is not empty: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, RunFile), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateJournal(dir, sampleRun()); err == nil ||
		!strings.Contains(err.Error(), "--resume "+dir) {
		t.Errorf("a folder with a run: %v", err)
	}
	fresh := filepath.Join(t.TempDir(), "run")
	if _, err := CreateJournal(fresh, sampleRun()); err != nil {
		t.Fatal(err)
	}
	other := errors.New("another machine")
	if _, err := OpenJournal(fresh, func(*Run) error { return other }); !errors.Is(err, other) {
		t.Errorf("another machine: %v", err)
	}
}

// ReadRun refuses a run.json that is no regular file. Reading a named pipe could wait for ever, and
// reading a device might never end.
func TestReadRunWantsAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, RunFile), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRun(dir); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a folder: %v", err)
	}
}

// Each edit of a good file must be refused with the file and the field.
func TestReadRunNamesTheField(t *testing.T) {
	t.Parallel()
	good := func(t *testing.T) (string, string) {
		dir := filepath.Join(t.TempDir(), "run")
		j, err := CreateJournal(dir, sampleRun())
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(j.Keep(sampleFork(j.Run(), 0)), j.Close()); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, RunFile))
		if err != nil {
			t.Fatal(err)
		}
		return dir, string(b)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"newer schema", schemaField, `"schema": 99`, "schema: 99 is newer"},
		{"no schema", schemaField, `"schema": 0`, "schema: 0"},
		{"wrong type", `"forks": 2`, `"forks": "two"`, "settings.forks"},
		{"no forks asked for", `"forks": 2`, `"forks": 0`, "settings.forks: 0"},
		{"more forks than a schedule holds", `"forks": 2`, `"forks": 10001`,
			"settings.forks: 10001, want 1 to 10000"},
		{"missing name", `"name": "r"`, `"name": ""`, "name, started: missing"},
		{"negative value", `"ns/op": 40`, `"ns/op": -40`, "values[\"ns/op\"]: -40"},
		{"not a number", `"ns/op": 40`, `"ns/op": NaN`, "not whole JSON"},
		{"series without operation", `"op": "get"`, `"op": ""`, "series[0].op"},
		{"negative index", `"index": 0`, `"index": -1`, "index: -1"},
		{"unknown workload", `"key": "store`, `"key": "stare`, "workloads: none has the key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, text := good(t)
			if !strings.Contains(text, c.old) {
				t.Fatalf("%s is not in the file", c.old)
			}
			if err := os.WriteFile(filepath.Join(dir, RunFile), edited(text, c.old, c.new),
				0o644); err != nil {
				t.Fatal(err)
			}
			_, err := ReadRun(dir)
			if err == nil || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), RunFile) {
				t.Errorf("got %v, want the file and %q", err, c.want)
			}
		})
	}
	t.Run("truncated", func(t *testing.T) {
		dir, text := good(t)
		for _, n := range []int{0, 1, len(text) / 2, len(text) - 3} {
			if err := os.WriteFile(filepath.Join(dir, RunFile), []byte(text[:n]), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := ReadRun(dir); err == nil {
				t.Errorf("%d of %d bytes were read as whole", n, len(text))
			}
		}
	})
	t.Run("no run there", func(t *testing.T) {
		if _, err := ReadRun(t.TempDir()); err == nil || !strings.Contains(err.Error(), "results/") {
			t.Errorf("got %v, want a hint at results/", err)
		}
	})
}

func TestScheduleIsBalanced(t *testing.T) {
	t.Parallel()
	var cells []Cell
	for _, w := range []string{"v", "w"} {
		for _, impl := range []string{"a", "b", "c"} {
			cells = append(cells, Cell{Component: contract.ComponentStore, Impl: impl, Workload: w,
				Procs: 2})
		}
	}
	fixed := func(n int) func(Cell) int { return func(Cell) int { return n } }
	plan := Schedule(cells, fixed(4), true, 1)
	if len(plan) != 6*4+6 {
		t.Fatalf("%d forks, want 30", len(plan))
	}
	orders := map[string]bool{}
	for b := range 4 {
		order := ""
		for i, p := range plan[6*b : 6*b+6] {
			if p.Block != b || p.Profile {
				t.Errorf("block %d has a fork of block %d, profile %v", b, p.Block, p.Profile)
			}
			if i%3 > 0 && p.Cell.Workload != plan[6*b+i-1].Cell.Workload {
				t.Errorf("block %d: the cells of a workload are not next to each other", b)
			}
			order += p.Cell.Workload + p.Cell.Impl
		}
		for _, c := range cells {
			if strings.Count(order, c.Workload+c.Impl) != 1 {
				t.Errorf("block %d lacks a cell: %s", b, order)
			}
		}
		orders[order] = true
	}
	if len(orders) < 3 {
		t.Error("blocks have the same order: they are not shuffled")
	}
	for _, p := range plan[24:] {
		if !p.Profile || p.Index != ProfileIndex {
			t.Errorf("profile forks come last, under a number of their own: %+v", p)
		}
	}
	// More forks of some cells do not change the earlier part of the plan.
	run := Run{Settings: Settings{Forks: 4, Budget: time.Second}, Looks: []Look{
		{Workload: cells[0].WorkloadKey(), Forks: 7},
		{Workload: cells[0].WorkloadKey(), Forks: 9, Impls: []string{cells[0].Impl}},
	}}
	for _, c := range cells {
		forks, looks := 4, 1
		if c.WorkloadKey() == cells[0].WorkloadKey() {
			forks, looks = 7, 2
			if c.ID() == cells[0].ID() {
				forks, looks = 9, 3
			}
		}
		if run.ForksOf(c) != forks || run.LookAt(c) != looks {
			t.Errorf("%s: %d forks and %d looks, want %d and %d", c.ID(), run.ForksOf(c), run.LookAt(c),
				forks, looks)
		}
	}
	more := Schedule(cells, run.ForksOf, false, 1)
	if len(more) != 6*4+3*3+2 || !slices.EqualFunc(more[:24], plan[:24], func(a, b Planned) bool {
		return a.Cell.ID() == b.Cell.ID() && a.Index == b.Index
	}) {
		t.Errorf("%d forks, want the 24 as they were and 11 more", len(more))
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	c := Cell{Component: contract.ComponentStore, Impl: "lockfree", Workload: "lock-starvation",
		Procs: 2, Params: []Param{{"objects", "100000"}, {"listers", "10"}}}
	if got, want := c.BenchmarkName(Series{Op: "update", Group: "writer"}),
		"BenchmarkStore/workload=lock-starvation/objects=100000/listers=10/group=writer/op=update/impl=lockfree-2"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	aa := c
	aa.Role = AARole
	if aa.ID() == c.ID() || !aa.SameExceptImpl(c) || aa.WorkloadKey() != c.WorkloadKey() {
		t.Error("an A/A copy is another cell of the same workload")
	}
}

// Each row of a report asks for the forks of its cells, in a run of hundreds of forks.
func TestForksAreFoundWithoutNames(t *testing.T) {
	r := sampleRun()
	c := r.Cells[0]
	aa := c
	aa.Role = AARole
	for range 500 {
		r.Forks = append(r.Forks, Fork{Cell: aa})
	}
	r.Forks = append(r.Forks, Fork{Cell: c}, Fork{Cell: c, Profiles: []string{"cpu.pb.gz"}})
	if n := len(r.Measured(c)); n != 1 {
		t.Errorf("%d forks of the cell without profiles, want 1", n)
	}
	if n := testing.AllocsPerRun(10, func() { r.Measured(c) }); n > 1 {
		t.Errorf("%g allocations to find one fork of 502, want that of the result", n)
	}
}
