package compare

import (
	"slices"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
	"github.com/informerbench/informerbench/measure/stats"
)

// onMachines is a run whose machines differ in speed up to fourfold.
func onMachines(seed uint64, forks int, duets bool, slow float64) *record.Run {
	return recordtest.Run(
		recordtest.Spec{Forks: forks, Seed: seed, Noise: 0.04, Duets: duets,
			Machines: []float64{1, 2.5, 4, 1.6},
			Impls: []recordtest.Impl{{Name: "reference", NsPerOp: 100}, {Name: "same", NsPerOp: 100},
				{Name: "slow", NsPerOp: slow}}})
}

// The machines of a joined run are blocks: the same code on machines of different speed gets no
// false verdict, and a slowdown is found, of operations that took turns and of groups that did
// not. With one name for all machines the groups' slowdown would not be found.
func TestMachinesAreBlocks(t *testing.T) {
	t.Parallel()
	delay := metrics.Percentile(metrics.Delay, 99)
	const runs = 60
	wrong, found, mixed := 0, map[string]int{}, 0
	for seed := range uint64(runs) {
		r := onMachines(seed, 12, true, 140)
		for _, at := range []struct {
			series, metric string
		}{{"get", metrics.NsPerOp}, {"writer:update", delay}} {
			for _, v := range rowOf(t, r, at.series, at.metric).Values {
				if v.Against == nil {
					continue
				}
				switch verdict := v.Against.Verdict; {
				case v.Impl == "same" && (verdict == stats.Worse || verdict == stats.Better):
					wrong++
				case v.Impl == "slow" && verdict == stats.Worse:
					found[at.metric]++
				case v.Impl == "slow" && verdict == stats.Better:
					wrong++
				}
				if v.Impl == "slow" && at.metric == delay &&
					(v.Against.Ratio.Blocks != 4 || v.Against.Ratio.N != 12) {
					t.Fatalf("%+v, want 12 values of 4 machines", v.Against.Ratio)
				}
			}
		}
		for i := range r.Forks {
			r.Forks[i].Machine = "all"
		}
		if v := rowOf(t, r, "writer:update", delay).Values[2]; v.Against.Verdict == stats.Worse {
			mixed++
		}
	}
	if wrong > 0 {
		t.Errorf("%d false verdicts in %d runs", wrong, runs)
	}
	for metric, n := range found {
		if n < runs*95/100 {
			t.Errorf("%s: the slowdown is found in %d of %d runs", metric, n, runs)
		}
	}
	if len(found) != 2 || mixed > runs/10 {
		t.Errorf("found %v; with the machines mixed in %d of %d runs", found, mixed, runs)
	}
}

// One machine under a name is judged as the same forks without: names of machines alone change
// no verdict.
func TestOneMachineIsNoBlock(t *testing.T) {
	t.Parallel()
	plain := duetRun(8)
	named := duetRun(8)
	for i := range named.Forks {
		named.Forks[i].Machine = "node-7"
	}
	a, b := against(Within(plain)), against(Within(named))
	for i := range a {
		if a[i].Verdict != b[i].Verdict || *a[i].Ratio != *b[i].Ratio {
			t.Errorf("%s: %+v %s, with the machine's name %+v %s", a[i].Name, a[i].Ratio, a[i].Verdict,
				b[i].Ratio, b[i].Verdict)
		}
	}
}

// Machines on which the ratios of turns differ beyond chance are named; those that agree are
// not.
func TestMachinesThatDisagree(t *testing.T) {
	t.Parallel()
	r := onMachines(1, 12, true, 140)
	says := func() (out []string) {
		for _, c := range against(Within(r)) {
			if slices.ContainsFunc(c.Warnings, func(w string) bool {
				return strings.Contains(w, "4 machines disagree")
			}) {
				out = append(out, c.Name.Impl)
			}
		}
		return out
	}
	if got := says(); len(got) > 0 {
		t.Errorf("machines that agree: %v", got)
	}
	for i := range r.Forks {
		if f := &r.Forks[i]; f.Cell.Impl == "slow" && f.Machine == "node-2" {
			ratio := f.Series[0].Duet.Ratios[metrics.NsPerOp]
			ratio.Log += 0.05
			f.Series[0].Duet.Ratios[metrics.NsPerOp] = ratio
		}
	}
	if got := says(); !slices.Equal(got, []string{"slow"}) {
		t.Errorf("one machine of four is 5 percent off for slow: the warning is at %v", got)
	}
}

// Two runs on other machines are compared as they are, and the result says so where there are
// several machines.
func TestRunsOnOtherMachines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		machines [2][]float64
		warned   bool
	}{
		{"one machine each", [2][]float64{{1}, {1}}, false},
		{"several", [2][]float64{{1, 1, 1}, {1, 1}}, true},
	} {
		var runs [2]*record.Run
		for i := range runs {
			runs[i] = recordtest.Run(
				recordtest.Spec{Forks: 6, Seed: uint64(i + 1), Machines: c.machines[i],
					Impls: []recordtest.Impl{{Name: "reference", NsPerOp: 100},
						{Name: "slow", NsPerOp: 100 + 40*float64(i)}}})
			if i == 1 {
				for k := range runs[i].Forks {
					runs[i].Forks[k].Machine += "-elsewhere"
				}
			}
		}
		result, err := Runs(runs[0], runs[1], false)
		if err != nil {
			t.Fatal(err)
		}
		warned := slices.ContainsFunc(result.Warnings, func(w string) bool {
			return strings.Contains(w, "not on the same ones")
		})
		if warned != c.warned {
			t.Errorf("%s: %q", c.name, result.Warnings)
		}
		for _, n := range result.Comparisons {
			if n.Name.Impl == "slow" && n.Name.Metric == metrics.NsPerOp &&
				(n.Ratio.Blocks != 0 || n.Ratio.N != 6) {
				t.Errorf("%s: %+v", c.name, n.Ratio)
			}
		}
	}
}
