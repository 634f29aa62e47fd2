package history

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
	"github.com/informerbench/informerbench/measure/stats"
)

// stepAt are the implementations of a history in which "mine" becomes slower by share at a run.
func stepAt(at int, share float64) func(int) []recordtest.Impl {
	return func(i int) []recordtest.Impl {
		ns := 100.0
		if i >= at {
			ns *= 1 + share
		}
		return []recordtest.Impl{{Name: "reference", NsPerOp: 200}, {Name: "mine", NsPerOp: ns}, {Name: "steady", NsPerOp: 150}}
	}
}

func historyOf(tb testing.TB, s recordtest.HistorySpec, o Options) *History {
	tb.Helper()
	h, err := Of(tb.Context(), recordtest.History(s), o)
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

func changed(h *History) (out []*Series) {
	for _, s := range h.Series {
		if s.Changed() {
			out = append(out, s)
		}
	}
	return out
}

// TestPlantedStep finds a step of 3 percent at the noise of a default run: forks that differ by
// 1 percent, six of them, twelve runs before it and eight after.
func TestPlantedStep(t *testing.T) {
	t.Parallel()
	missed := 0
	for seed := range uint64(20) {
		h := historyOf(t, recordtest.HistorySpec{Runs: 20, Seed: seed, Impls: stepAt(12, 0.03)}, Options{})
		found := changed(h)
		if len(found) == 0 {
			missed++
			continue
		}
		if len(found) != 1 || found[0].Label != "store/store-ops/objects=10/get/mine/ns/op" || len(found[0].Changes) != 1 {
			t.Fatalf("seed %d: %d series changed, the first is %+v", seed, len(found), found[0])
		}
		s := found[0]
		c := s.Changes[0]
		if c.At < 11 || c.At > 13 || c.Verdict != stats.Worse || c.Lo <= 1 || c.Ratio < 1.02 || c.Ratio > 1.04 || c.Before.Runs+c.After.Runs != 20 {
			t.Errorf("seed %d: %+v", seed, c)
		}
		if s.Against != "reference" || math.Abs(c.Before.Value-0.5) > 0.01 || s.Q > DefaultAlpha {
			t.Errorf("seed %d: %+v", seed, s)
		}
	}
	if missed > 1 {
		t.Errorf("%d of 20 steps missed", missed)
	}
}

const flatTrials = 150

// flatHistories counts the histories of equal code that show any change, of 14 runs each.
func flatHistories(tb testing.TB) (changedOnes int) {
	for seed := range uint64(flatTrials) {
		h := historyOf(tb, recordtest.HistorySpec{Runs: 14, Seed: 1000 + seed, Impls: stepAt(99, 0), Noise: 0.03}, Options{})
		if len(changed(h)) > 0 {
			changedOnes++
		}
	}
	return changedOnes
}

// A history of equal code shows a change no more often than alpha says.
func TestFlatHistories(t *testing.T) {
	t.Parallel()
	if wrong := flatHistories(t); wrong > 6 { // 1.5 expected at most, and three standard errors
		t.Errorf("%d of %d flat histories show a change, want at most %g of them", wrong, flatTrials, DefaultAlpha)
	}
}

// make instruments keeps what it reports for docs/history.md.
func BenchmarkHowOftenFlatHistoriesChange(b *testing.B) {
	wrong := 0
	for b.Loop() {
		wrong = flatHistories(b)
	}
	b.ReportMetric(float64(wrong), "histories")
}

func TestSeriesAreSeparated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(i int, r *record.Run)
		label  string
	}{
		{"machine", func(i int, r *record.Run) {
			if i%2 == 1 {
				r.Environment.CPU = "Other CPU"
			}
		}, "machine 2"},
		{"numbers", func(i int, r *record.Run) {
			if i >= 5 {
				r.Schema = 2
			}
		}, "numbers of schema 2"},
		{"workload", func(i int, r *record.Run) {
			if i >= 5 {
				r.Workloads[0].YAML = "name: store-ops\nseconds: 2\n"
			}
		}, "definition 2 of the workload"},
	} {
		h := historyOf(t, recordtest.HistorySpec{Runs: 10, Seed: 1, Impls: stepAt(99, 0), Change: c.change}, Options{Match: []string{"store/*/get/mine/ns/op"}})
		if len(h.Series) != 2 || len(h.Series[0].Points) != 5 || len(h.Series[1].Points) != 5 {
			t.Fatalf("%s: %d series", c.name, len(h.Series))
		}
		if !slices.ContainsFunc(h.Series, func(s *Series) bool { return strings.Contains(s.Label, c.label) }) {
			t.Errorf("%s: %q and %q, want one with %q", c.name, h.Series[0].Label, h.Series[1].Label, c.label)
		}
		if h.Tested != 0 || h.Series[0].P != 1 {
			t.Errorf("%s: %d of series with five points tested", c.name, h.Tested)
		}
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	h := historyOf(t, recordtest.HistorySpec{Runs: 16, Seed: 2, Impls: stepAt(8, 0.2), Change: func(i int, r *record.Run) {
		r.Environment.Modules = map[string]string{"k8s.io/client-go": "v0.37.1"}
		if i >= 8 {
			r.Environment.GoVersion = "go1.27"
			r.Environment.Modules["k8s.io/client-go"] = "v0.37.2"
			r.Settings.Plant = &record.Plant{Impl: "mine", Share: 0.2}
			for f := range r.Forks { // the load of all implementations takes longer: the machine
				r.Forks[f].Series[1].Values[metrics.AchievedPct] /= 2
			}
		}
	}}, Options{})
	var all []string
	for _, s := range changed(h) {
		for _, c := range s.Changes {
			all = append(all, s.Label+": "+strings.Join(c.Notes, "; "))
		}
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{"get/mine/ns/op: Go changed here: go1.26 to go1.27", "k8s.io/client-go changed here: v0.37.1 to v0.37.2", "planted: the store mine is 20% slower", "changed in the same run: ", "the cause may be the machine"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestDriftAndZeroes(t *testing.T) {
	t.Parallel()
	h := historyOf(t, recordtest.HistorySpec{Runs: 40, Seed: 3, Impls: func(i int) []recordtest.Impl {
		return []recordtest.Impl{{Name: "reference", NsPerOp: 200}, {Name: "mine", NsPerOp: 100 * (1 + 0.002*float64(i))}}
	}, Change: func(i int, r *record.Run) {
		for f := range r.Forks {
			if i >= 30 && r.Forks[f].Cell.Impl == "mine" {
				r.Forks[f].Series[0].Values[metrics.AllocsPerOp] = 1
			}
		}
	}}, Options{Match: []string{"*/mine/ns/op", "*/get/mine/allocs/op"}})
	found := changed(h)
	if len(found) != 2 {
		t.Fatalf("%d series changed: %+v", len(found), found)
	}
	allocs, drift := found[0], found[1]
	if len(allocs.Changes) != 1 || allocs.Changes[0].At != 30 || allocs.Changes[0].Ratio != stats.FromZero || allocs.Changes[0].Verdict != stats.Worse {
		t.Errorf("an allocation where there was none: %+v", allocs)
	}
	if drift.Drift == nil || drift.Drift.Lo < 1.05 || drift.Drift.Hi > 1.1 || drift.Drift.Verdict != stats.Worse {
		t.Errorf("a drift by 7.8 percent: %+v", drift)
	}
}

// A pattern is one of gates, with their short names; one that matches nothing is a mistake.
func TestPatterns(t *testing.T) {
	t.Parallel()
	var runs []*record.Run
	for i := range 2 {
		runs = append(runs, recordtest.Run(recordtest.Spec{Forks: 6, Seed: uint64(i), Impls: []recordtest.Impl{{Name: "reference", NsPerOp: 200}, {Name: "mine", NsPerOp: 100}}}))
		runs[i].Started = runs[i].Started.Add(time.Duration(i) * time.Hour)
	}
	for pattern, want := range map[string]string{
		"store/*": "", "*/mine/p99": "", "*/mine/delay-p99": "",
		"stoer/*": `pattern "stoer/*" matches nothing in these runs; among others there are store/`,
	} {
		_, err := Of(t.Context(), runs, Options{Match: []string{"*/mine/ns/op", pattern}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", pattern, err, want)
		}
	}
}

func TestLeast(t *testing.T) {
	t.Parallel()
	h := historyOf(t, recordtest.HistorySpec{Runs: 30, Seed: 4, Impls: stepAt(15, 0.03)}, Options{Least: 0.1})
	if len(changed(h)) != 0 || h.Small != 1 {
		t.Errorf("%d changes beside %d small ones, want the one of 3 percent to be small", len(changed(h)), h.Small)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runs := recordtest.History(recordtest.HistorySpec{Runs: 8, Impls: stepAt(99, 0)})
	slices.Reverse(runs)
	for _, r := range runs {
		write(t, filepath.Join(dir, "nested", r.Name), r)
	}
	write(t, filepath.Join(dir, "copy"), runs[7])
	if err := os.MkdirAll(filepath.Join(dir, "broken"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "broken", record.RunFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	shard := recordtest.History(recordtest.HistorySpec{Runs: 1, Impls: stepAt(99, 0)})[0]
	shard.Name, shard.Settings.Shard = "shard", &record.Shard{Index: 3, Of: 16}
	write(t, filepath.Join(dir, "shard"), shard)
	h, err := Read(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Runs) != 8 || h.Runs[1].Path != "nested/run001" || h.Series[0].Points[7].Run != 7 {
		t.Errorf("%+v", h.Runs)
	}
	if text := strings.Join(h.Left, "\n"); len(h.Left) != 3 || !strings.Contains(text, "broken: ") || !strings.Contains(text, "a copy of") || !strings.Contains(text, "shard: shard 3/16 of a run") {
		t.Errorf("left out: %q", h.Left)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	if linked, err := Read(t.Context(), link, Options{}); err != nil || len(linked.Runs) != 8 || linked.Folder != link {
		t.Errorf("by a link: %v, %+v", err, linked)
	}
	if _, err := Read(t.Context(), t.TempDir(), Options{}); !errors.Is(err, ErrNoRuns) {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := Read(t.Context(), filepath.Join(dir, "none"), Options{}); err == nil || !strings.Contains(err.Error(), "give a folder of runs") {
		t.Errorf("no folder: %v", err)
	}
}

func write(t *testing.T, dir string, r *record.Run) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := record.WriteRun(dir, r); err != nil {
		t.Fatal(err)
	}
}
