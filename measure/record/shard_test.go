package record

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// shardedCells are cells of workloads with the given numbers of implementations and an A/A
// copy.
func shardedCells(implementations ...int) (cells []Cell) {
	for w, n := range implementations {
		for i := range n {
			cells = append(cells, Cell{Component: contract.ComponentStore, Impl: fmt.Sprintf("impl-%d", i),
				Workload: fmt.Sprintf("w-%d", w), Procs: 2})
		}
		aa := cells[len(cells)-1]
		aa.Role = AARole
		cells = append(cells, aa)
	}
	return cells
}

// Every division has each fork in one shard with all of its workload's cells, no shard without
// forks, and a largest load below the average by no more than the largest unit. Equal
// arguments give equal divisions.
func TestDivide(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var implementations []int
		cost := map[string]time.Duration{}
		for w := range 1 + rng.IntN(6) {
			implementations = append(implementations, 1+rng.IntN(5))
			cost[fmt.Sprintf("w-%d", w)] = time.Duration(1+rng.IntN(40)) * 250 * time.Millisecond
		}
		cells, forks, profile := shardedCells(implementations...), 1+rng.IntN(12), rng.IntN(2) == 0
		costOf := func(c Cell) time.Duration { return cost[c.Workload] }
		units := unitsOf(cells, forks, profile, costOf)
		of := 1 + rng.IntN(len(units))
		shards, err := Divide(cells, forks, profile, costOf, of)
		if err != nil || len(shards) != of {
			t.Fatalf("%d shards of %d units: %d, %v", of, len(units), len(shards), err)
		}
		var total, largest, most time.Duration
		for _, u := range units {
			total, largest = total+u.cost, max(largest, u.cost)
		}
		r := &Run{Cells: cells, Settings: Settings{Forks: forks, Profile: profile}}
		whole := r.Schedule()
		seen := map[string]int{}
		for _, s := range shards {
			r.Settings.Shard = &s
			load := time.Duration(0)
			own := r.Schedule()
			for _, p := range own {
				load += costOf(p.Cell)
				seen[fmt.Sprint(p.Cell.ID(), p.Index)]++
			}
			most = max(most, load)
			if len(own) == 0 {
				t.Errorf("shard %s has nothing to measure: %+v", s.String(), shards)
			}
			for _, p := range own { // with all cells of its workload
				for _, c := range cells {
					unprofiled := p.Profile && c.Role == AARole
					if c.SameExceptImpl(p.Cell) && !unprofiled && !slices.ContainsFunc(own, func(o Planned) bool {
						return o.Index == p.Index && o.Cell.ID() == c.ID()
					}) {
						t.Fatalf("shard %s measures fork %d of %s and not of %s", s.String(), p.Index, p.Cell.ID(),
							c.ID())
					}
				}
			}
		}
		for _, p := range whole {
			if n := seen[fmt.Sprint(p.Cell.ID(), p.Index)]; n != 1 {
				t.Fatalf("fork %d of %s is in %d shards", p.Index, p.Cell.ID(), n)
			}
		}
		if len(seen) != len(whole) {
			t.Fatalf("%d forks in shards, %d in the run", len(seen), len(whole))
		}
		if most > total/time.Duration(of)+largest {
			t.Errorf("the largest of %d loads is %s, the average %s, the largest unit %s", of, most,
				total/time.Duration(of), largest)
		}
		again, err := Divide(cells, forks, profile, costOf, of)
		if err != nil || fmt.Sprint(again) != fmt.Sprint(shards) {
			t.Errorf("divided again: %+v, %v; want %+v", again, err, shards)
		}
	}
	if _, err := Divide(shardedCells(2), 3, false, func(Cell) time.Duration {
		return time.Second
	}, 4); err == nil || !strings.Contains(err.Error(), "1 to 3") {
		t.Errorf("4 shards of 3 forks: %v", err)
	}
}

// shardsOf divides a whole run that was measured, a machine for each shard.
func shardsOf(t *testing.T, r *Run, of int) (out []ShardDir) {
	t.Helper()
	shards, err := Divide(r.Cells, r.Settings.Forks, r.Settings.Profile, func(Cell) time.Duration {
		return time.Second
	}, of)
	if err != nil {
		t.Fatal(err)
	}
	for i := range shards {
		part := *r
		part.Name, part.Settings.Shard, part.Forks = fmt.Sprintf("shard-%d", i+1), &shards[i], nil
		for _, p := range part.Schedule() {
			part.Forks = append(part.Forks, r.Forks[slices.IndexFunc(r.Forks, func(f Fork) bool {
				return f.Index == p.Index && f.Cell.ID() == p.Cell.ID()
			})])
		}
		part.Impls, part.Warnings = slices.Clone(r.Impls), slices.Clone(r.Warnings)
		part.Workloads, part.Cells = slices.Clone(r.Workloads), slices.Clone(r.Cells)
		out = append(out, ShardDir{Dir: "results/" + part.Name, Run: &part})
	}
	return out
}

// wholeRun is a run of two workloads.
func wholeRun() *Run {
	r := &Run{
		Schema: Schema, Name: "whole", Preset: "quick", Started: time.Unix(10, 0),
		Finished: time.Unix(90, 0), Complete: true,
		Settings: Settings{Forks: 8, Seed: 1, Rule: stats.DefaultRule},
		Environment: sysinfo.Environment{CPU: "Test CPU", Cores: 2, GoVersion: "go1.26", Revision: "abc",
			Modules: map[string]string{"k8s.io/client-go": "v0.37.2"}},
		Cells: shardedCells(2, 2), Warnings: []string{"all have this"},
	}
	for _, name := range []string{"impl-0", "impl-1"} {
		r.Impls = append(r.Impls, Implementation{Component: "store", Name: name, Verified: VerifyPassed,
			Reference: name == "impl-0"})
	}
	for _, c := range r.Cells {
		if c.Impl == "impl-0" {
			r.Workloads = append(r.Workloads,
				WorkloadText{Key: c.WorkloadKey(), Name: c.Workload,
					YAML: "name: " + c.Workload + "\nseed: 1\n"})
		}
	}
	for _, p := range r.Schedule() {
		r.Forks = append(r.Forks, Fork{Cell: p.Cell, Index: p.Index, Block: p.Block, Machine: "node",
			Process: map[string]float64{"heap-B/object": float64(len(r.Forks))}})
	}
	return r
}

// Shards of one run, given in any order, join to that run.
func TestJoin(t *testing.T) {
	t.Parallel()
	whole := wholeRun()
	shards := shardsOf(t, whole, 5)
	shards[2].Run.Warnings = append(shards[2].Run.Warnings, "the third alone")
	shards[3].Run.Environment.StealPercent = 7
	shards[3].Run.Environment.Host = "another"
	shards[4].Run.Started, shards[4].Run.Finished = time.Unix(5, 0), time.Unix(99, 0)
	slices.Reverse(shards)
	got, err := Join(shards)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got.Forks) != fmt.Sprint(whole.Forks) {
		t.Errorf("%d forks, want the %d of the run in its order", len(got.Forks), len(whole.Forks))
	}
	if got.Settings.Shard != nil || len(got.Shards) != 5 ||
		got.Shards[3].Environment.Host != "another" ||
		!slices.Equal(got.Shards[0].Machines, []string{"node"}) {
		t.Errorf("shard %v, shards %+v", got.Settings.Shard, got.Shards)
	}
	if got.Started != time.Unix(5, 0) || got.Finished != time.Unix(99, 0) || !got.Complete ||
		got.Environment.StealPercent != 7 || got.Environment.Host != "" {
		t.Errorf("from %s to %s, complete %v, %+v", got.Started, got.Finished, got.Complete,
			got.Environment)
	}
	if want := []string{"all have this", "shard 3: the third alone"}; !slices.Equal(got.Warnings,
		want) {
		t.Errorf("warnings %q, want %q", got.Warnings, want)
	}
}

// An implementation that failed its suite on one machine is left out, as in a run.
func TestJoinLeavesOutWhatFailedAnywhere(t *testing.T) {
	t.Parallel()
	shards := shardsOf(t, wholeRun(), 4)
	bad := shards[2].Run
	bad.Impls[1].Verified, bad.Impls[1].Failures = VerifyFailed, []string{"STORE-7"}
	bad.Cells = slices.DeleteFunc(bad.Cells, func(c Cell) bool { return c.Impl == "impl-1" })
	bad.Forks = slices.DeleteFunc(bad.Forks, func(f Fork) bool { return f.Cell.Impl == "impl-1" })
	got, err := Join(shards)
	if err != nil {
		t.Fatal(err)
	}
	if got.Impls[1].Verified != VerifyFailed || len(got.Impls) != 2 {
		t.Errorf("%+v", got.Impls)
	}
	if slices.ContainsFunc(got.Cells, func(c Cell) bool {
		return c.Impl == "impl-1"
	}) || slices.ContainsFunc(got.Forks, func(f Fork) bool { return f.Cell.Impl == "impl-1" }) {
		t.Errorf("%+v: it is measured on", got.Cells)
	}
	if len(got.Forks) != 16 {
		t.Errorf("%d forks, want 8 of each of 2 cells", len(got.Forks))
	}
}

// Every mistake in the shards is named, with the folders.
func TestJoinNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		edit func([]ShardDir) []ShardDir
		want []string
	}{
		{"none", func([]ShardDir) []ShardDir { return nil }, []string{"no shards"}},
		{"missing", func(s []ShardDir) []ShardDir {
			return append(s[:1:1], s[3:]...)
		}, []string{"2 of 4 shards are missing: 2, 3", "--shard 2/4"}},
		{"twice", func(s []ShardDir) []ShardDir {
			return append(s, ShardDir{"results/copy", s[1].Run})
		}, []string{"shard 2/4", "twice", "results/shard-2 and results/copy"}},
		{"twice and missing", func(s []ShardDir) []ShardDir {
			return append(s[:3:3], ShardDir{"results/copy", s[1].Run})
		}, []string{"twice", "missing: 4"}},
		{"whole run", func(s []ShardDir) []ShardDir {
			s[1].Run.Settings.Shard = nil
			return s
		}, []string{"results/shard-2", "whole run", "--shard"}},
		{"joined already", func(s []ShardDir) []ShardDir {
			s[1].Run.Settings.Shard, s[1].Run.Shards = nil, make([]ShardRun, 2)
			return s
		}, []string{"results/shard-2", "joined from shards already"}},
		{"not finished", func(s []ShardDir) []ShardDir {
			s[2].Run.Complete, s[2].Run.Forks = false, s[2].Run.Forks[:5]
			return s
		}, []string{"results/shard-3", "3/4", "5 of 12 forks", "--resume results/shard-3"}},
		{"other number", func(s []ShardDir) []ShardDir {
			s[3].Run.Settings.Shard.Of = 8
			return s
		}, []string{"one of 4", "of 8", "results/shard-4"}},
		{"other revision", func(s []ShardDir) []ShardDir {
			s[1].Run.Environment.Revision = "def"
			return s
		}, []string{"results/shard-1 and results/shard-2", "revision", "abc against def"}},
		{"unknown revision", func(s []ShardDir) []ShardDir {
			s[1].Run.Environment.Revision = ""
			return s
		}, []string{"revision", "abc against unknown"}},
		{"other machine", func(s []ShardDir) []ShardDir {
			s[2].Run.Environment.CPU = "Other CPU"
			return s
		}, []string{"results/shard-3", "classes of machines", `"Test CPU" against "Other CPU"`}},
		{"other limit", func(s []ShardDir) []ShardDir {
			s[2].Run.Environment.CgroupCPUs = 1.5
			return s
		}, []string{"results/shard-3", "CPUs of the container", "0 against 1.5"}},
		{"other module", func(s []ShardDir) []ShardDir {
			s[1].Run.Environment.Modules = map[string]string{"k8s.io/client-go": "v0.36.0"}
			return s
		}, []string{"k8s.io/client-go", "v0.37.2 against v0.36.0"}},
		{"other workload", func(s []ShardDir) []ShardDir {
			s[3].Run.Workloads[1].YAML = "name: w-1\nseed: 2\n"
			return s
		}, []string{"w-1", "results/shard-4", `"seed: 1" against "seed: 2"`}},
		{"workload missing", func(s []ShardDir) []ShardDir {
			s[3].Run.Workloads = s[3].Run.Workloads[:1]
			return s
		}, []string{"w-1", "missing in results/shard-4"}},
		{"cell missing", func(s []ShardDir) []ShardDir {
			s[3].Run.Cells = s[3].Run.Cells[1:]
			return s
		}, []string{"impl-0", "not in results/shard-4"}},
		{"other forks", func(s []ShardDir) []ShardDir {
			s[1].Run.Settings.Forks = 9
			return s
		}, []string{"forks", "8 against 9"}},
		{"other seed", func(s []ShardDir) []ShardDir {
			s[1].Run.Settings.Seed = 9
			return s
		}, []string{"seed", "1 against 9"}},
		{"not verified", func(s []ShardDir) []ShardDir {
			s[1].Run.Settings.SkipVerify = true
			return s
		}, []string{"skipVerify", "false against true"}},
		{"planted", func(s []ShardDir) []ShardDir {
			s[1].Run.Settings.Plant = &Plant{"impl-1", 0.1}
			return s
		}, []string{"plant", "none against impl-1=10%"}},
		{"divided otherwise", func(s []ShardDir) []ShardDir {
			s[1].Run.Settings.Shard.Parts[0].From = 1
			return s
		}, []string{"divided by different versions"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := Join(c.edit(shardsOf(t, wholeRun(), 4)))
			if err == nil {
				t.Fatal("they were joined")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q: %v", want, err)
				}
			}
		})
	}
}

// A shard's record is checked when it is read.
func TestShardIsValidated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		edit func(*Shard)
		want string
	}{
		{func(s *Shard) { s.Index = 5 }, "settings.shard.index: shard 5 of 4"},
		{func(s *Shard) { s.Index = 0 }, "shard 0 of 4"},
		{func(s *Shard) { s.Parts[0].Workload = "nosuch" }, `settings.shard.parts[0].workload: "nosuch"`},
		{func(s *Shard) { s.Parts[0].To = 9 }, "settings.shard.parts[0]: forks"},
	} {
		r := shardsOf(t, wholeRun(), 4)[0].Run
		if err := r.validate(); err != nil {
			t.Fatal(err)
		}
		c.edit(r.Settings.Shard)
		if err := r.validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// An error names some of the missing shards, however many there are.
func TestFewMissingShardsAreNamed(t *testing.T) {
	t.Parallel()
	first := &Run{Complete: true, Settings: Settings{Shard: &Shard{Index: 1, Of: 30}}}
	problems := incomplete([]ShardDir{{Dir: "results/shard-1", Run: first}})
	if len(problems) != 1 || !strings.HasPrefix(problems[0].Error(),
		"29 of 30 shards are missing: 2, 3, ") ||
		!strings.Contains(problems[0].Error(), " 21, and 9 more; ") ||
		!strings.HasSuffix(problems[0].Error(), "--shard 2/30") {
		t.Error(problems)
	}
}
