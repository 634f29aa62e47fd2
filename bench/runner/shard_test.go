package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
)

// The shards of the default preset have each fork once and loads that differ by no more than
// one process of every implementation of a workload. The division is the same each time, and a
// shard verifies the components that it measures alone.
func TestShardsOfAPlan(t *testing.T) {
	t.Chdir(t.TempDir())
	const of = 16
	plan := func(index int) *Plan {
		p, err := NewPlan(Options{Forks: 12, Profile: true, Shard: Shard{index, of}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	loads, verified, forks := make([]time.Duration, of), map[contract.Component]bool{}, 0
	var largest time.Duration
	entries := 0
	for i := range of {
		p := plan(i + 1)
		run, err := p.draft()
		if err != nil {
			t.Fatal(err)
		}
		if again := plan(i + 1); !reflect.DeepEqual(again.shard, p.shard) ||
			!strings.HasSuffix(p.options.Out, fmt.Sprintf("-quick-shard-%d-of-16", i+1)) {
			t.Errorf("shard %d is %+v, then %+v, in %s", i+1, p.shard, again.shard, p.options.Out)
		}
		own := run.Schedule()
		forks += len(own)
		units := map[string]time.Duration{}
		for _, planned := range own {
			w, err := workloadOf(run, planned.Cell)
			if err != nil {
				t.Fatal(err)
			}
			loads[i] += Expected(w)
			units[fmt.Sprint(planned.Cell.WorkloadKey(), planned.Index)] += Expected(w)
		}
		for _, cost := range units {
			largest = max(largest, cost)
		}
		for _, e := range p.own(run) {
			verified[e.Component] = true
			if !slices.ContainsFunc(own, func(o record.Planned) bool {
				return o.Cell.Component == e.Component && o.Cell.Impl == e.Name
			}) {
				t.Errorf("shard %d verifies %s and does not measure it", i+1, e.ID())
			}
		}
		entries = max(entries, len(p.entries))
		if i > 0 && len(p.own(run)) == len(p.entries) {
			t.Errorf("shard %d verifies all %d entries", i+1, entries)
		}
		p.options.Shard, p.shard = Shard{}, nil
		if whole, err := p.draft(); i == of-1 && (err != nil || len(whole.Schedule()) != forks) {
			t.Errorf("%d forks in all shards, %d in the run, %v", forks, len(whole.Schedule()), err)
		}
	}
	var all time.Duration
	for _, load := range loads {
		all += load
	}
	// A line of parts can always be cut so.
	most := slices.Max(loads)
	if most > all/of+largest {
		t.Errorf("a load of %s, want at most the mean of %s and the largest part, %s", most, all/of,
			largest)
	}
	if got := plan(1).LargestLoad(); got != most {
		t.Errorf("the largest load is %s, want %s", got, most)
	}
	if len(verified) < 4 {
		t.Errorf("only %v are verified", verified)
	}
}

// shardFiles writes the shards of a made-up run, all but the named ones, below a new folder.
func shardFiles(t *testing.T, of int, without ...int) (folder string, write func(index int)) {
	t.Helper()
	folder = t.TempDir()
	whole := recordtest.Run(
		recordtest.Spec{Forks: 12, Seed: 1, Duets: true, Machines: []float64{1, 3, 2},
			Impls: []recordtest.Impl{{Name: "reference", NsPerOp: 100}, {Name: "slow", NsPerOp: 140}}})
	divided, err := record.Divide(whole.Cells, 12, false, func(record.Cell) time.Duration {
		return time.Second
	}, of)
	if err != nil {
		t.Fatal(err)
	}
	write = func(index int) {
		part := *whole
		part.Settings.Shard = &divided[index-1]
		part.Forks = nil
		for _, p := range part.Schedule() {
			part.Forks = append(part.Forks,
				whole.Forks[slices.IndexFunc(whole.Forks, func(f record.Fork) bool {
					return f.Index == p.Index && f.Cell.ID() == p.Cell.ID()
				})])
		}
		dir := filepath.Join(folder, fmt.Sprint(index))
		if err := errors.Join(os.MkdirAll(dir, 0o755), record.WriteRun(dir, &part)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range of {
		if !slices.Contains(without, i+1) {
			write(i + 1)
		}
	}
	return folder, write
}

// A merge waits for shards that are missing, says which, and joins when they are there.
func TestMergeWaits(t *testing.T) {
	folder, write := shardFiles(t, 3, 1, 2, 3)
	to := filepath.Join(t.TempDir(), "merged")
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		for i := range 3 {
			time.AfterFunc(time.Duration(i+1)*time.Minute, func() { write(i + 1) })
		}
		var said bytes.Buffer
		result, err := Merge(t.Context(),
			MergeOptions{Out: to, From: []string{folder}, Wait: time.Hour,
				Command: []string{"benchrun", "merge"}}, &said)
		if err != nil || len(result.Run.Shards) != 3 || len(result.Run.Forks) != 36 {
			t.Fatalf("%+v, %v", result.Run, err)
		}
		if made := result.Run.MadeBy(); !slices.Equal(made, []string{"benchrun", "merge"}) ||
			slices.Equal(result.Run.Command, made) {
			t.Errorf("made by %q, measured by %q", made, result.Run.Command)
		}
		if took := time.Since(begin); took < 3*time.Minute || took > 3*time.Minute+pollEvery {
			t.Errorf("it took %s, and the last shard came after 3m", took)
		}
		if n := strings.Count(said.String(), "waiting for shards in "+folder); n != 3 ||
			!strings.Contains(said.String(), "missing: 2, 3") ||
			!strings.Contains(said.String(), "missing: 3;") {
			t.Errorf("it says %d times what is missing:\n%s", n, said.String())
		}
	})
}

// A merge that waits gives a shard with cells that were given up the time to measure them, and
// joins it as it is when the time is over.
func TestMergeWaitsForWhatWasGivenUp(t *testing.T) {
	for _, c := range []struct {
		again time.Duration // when the shard is measured again
		forks int
		took  time.Duration
	}{{3 * time.Minute, 36, 3*time.Minute + pollEvery}, {time.Hour, 35, 20*time.Minute + pollEvery}} {
		folder, write := shardFiles(t, 3)
		dir := filepath.Join(folder, "2")
		run, err := record.ReadRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		run.Forks = run.Forks[1:]
		if err := record.WriteRun(dir, run); err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(t.TempDir(), "merged")
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			again := time.AfterFunc(c.again, func() { write(2) })
			defer again.Stop()
			var said bytes.Buffer
			result, err := Merge(t.Context(),
				MergeOptions{Out: to, From: []string{folder}, Wait: 20 * time.Minute}, &said)
			if whole := c.forks == 36; len(result.Run.Forks) != c.forks || whole && err != nil || !whole &&
				!errors.Is(err, ErrFailed) {
				t.Fatalf("%v, want %d forks", err, c.forks)
			}
			if took := time.Since(begin); took > c.took || took < c.took-2*pollEvery {
				t.Errorf("it took %s, want about %s", took, c.took)
			}
			if !strings.Contains(said.String(), "shard 2/3 has given up 1 of 12 forks") {
				t.Errorf("it says\n%s", said.String())
			}
		})
	}
}

// A merge that waits ends with what is missing when the time is over or it is interrupted. It
// does not wait for what waiting does not mend.
func TestMergeGivesUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		edit    func(t *testing.T, folder string)
		ctx     time.Duration
		atMost  time.Duration
		want    string
		because error
	}{
		{"time is over", func(*testing.T, string) {}, time.Hour, 21 * time.Minute, "missing: 2",
			record.ErrIncomplete},
		{"interrupted", func(*testing.T, string) {}, time.Minute, time.Minute, "missing: 2",
			ErrInterrupted},
		{"damaged", func(t *testing.T, folder string) {
			if err := os.WriteFile(filepath.Join(folder, "1", record.RunFile), []byte("{"),
				0o644); err != nil {
				t.Fatal(err)
			}
		}, time.Hour, 0, "not whole JSON", nil},
		{"of another revision", func(t *testing.T, folder string) {
			dir := filepath.Join(folder, "3")
			run, err := record.ReadRun(dir)
			if err != nil {
				t.Fatal(err)
			}
			run.Environment.Revision = "another"
			if err := record.WriteRun(dir, run); err != nil {
				t.Fatal(err)
			}
		}, time.Hour, 0, "revision", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			folder, _ := shardFiles(t, 3, 2)
			c.edit(t, folder)
			to := filepath.Join(t.TempDir(), "merged")
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), c.ctx)
				defer cancel()
				_, err := Merge(ctx, MergeOptions{Out: to, From: []string{folder}, Wait: 20 * time.Minute},
					&bytes.Buffer{})
				if err == nil || !strings.Contains(err.Error(), c.want) || c.because != nil &&
					!errors.Is(err, c.because) {
					t.Errorf("got %v, want %q", err, c.want)
				}
				if took := time.Since(begin); took > c.atMost {
					t.Errorf("it took %s, want at most %s", took, c.atMost)
				}
			})
			if _, err := os.Stat(to); err == nil {
				t.Error("something was written")
			}
		})
	}
}

// A merge into a folder with anything but a joined run is refused.
func TestMergeKeepsOtherFolders(t *testing.T) {
	t.Parallel()
	folder, _ := shardFiles(t, 3)
	to := t.TempDir()
	if err := os.WriteFile(filepath.Join(to, "mine.txt"), []byte("keep"), 0o644); err != nil {
		t.Fatal(err)
	}
	o := MergeOptions{Out: to, From: []string{folder}}
	if _, err := Merge(t.Context(), o, &bytes.Buffer{}); err == nil ||
		!strings.Contains(err.Error(), "not empty") {
		t.Errorf("got %v", err)
	}
	o.Out = filepath.Join(folder, "1") // a shard is no joined run
	if _, err := Merge(t.Context(), o, &bytes.Buffer{}); err == nil ||
		!strings.Contains(err.Error(), "has a run") {
		t.Errorf("got %v", err)
	}
}

// A merge writes its own run again, with the profiles of the shards in place of the former ones,
// and no run of something else.
func TestMergeOverwritesItsOwnRunOnly(t *testing.T) {
	t.Parallel()
	folder, _ := shardFiles(t, 3)
	o := MergeOptions{Out: filepath.Join(t.TempDir(), "merged"), From: []string{folder}}
	for i, name := range []string{"first", "second"} {
		profiles := filepath.Join(folder, fmt.Sprint(i+1), profilesDir, name)
		if err := os.MkdirAll(profiles, 0o755); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			if err := os.RemoveAll(filepath.Join(folder, "1", profilesDir)); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(o.Out, profilesDir, "left by a merge that was killed"),
				0o755); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Merge(t.Context(), o, &bytes.Buffer{}); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(filepath.Join(o.Out, profilesDir))
		if err != nil || len(entries) != 1 || entries[0].Name() != name {
			t.Errorf("merge %d: profiles %v, %v; want %s", i+1, entries, err, name)
		}
	}
	run, err := record.ReadRun(o.Out)
	if err != nil {
		t.Fatal(err)
	}
	run.Preset, run.Environment.Revision = "relist", "another"
	if err := record.WriteRun(o.Out, run); err != nil {
		t.Fatal(err)
	}
	_, err = Merge(t.Context(), o, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "differ in preset: relist against quick") ||
		!strings.Contains(err.Error(), `commit "another"`) ||
		!strings.Contains(err.Error(), "name another folder") {
		t.Errorf("a merge over another run: %v", err)
	}
	if again, err := record.ReadRun(o.Out); err != nil || again.Preset != "relist" {
		t.Errorf("it is overwritten: %v", err)
	}
}
