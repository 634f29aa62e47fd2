package runner

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
)

// An implementation that would need more forks than the budget pays for has them doubled once,
// because the
// estimate of that number rests on few forks. Then the budget stops and says why.
func TestBudgetDoublesOnce(t *testing.T) {
	t.Parallel()
	const forks = 6
	for _, c := range []struct {
		name   string
		budget time.Duration
		forks  int // so far
		want   int // 0: none are added
		says   string
	}{
		{"no budget", 0, forks, 0, ""},
		{"the first look", 19 * time.Second, forks, 2 * forks,
			"12 forks instead of 6, to see what its inconclusive comparisons need"},
		{"too little for that", 17 * time.Second, forks, 0, "budget: 17s left"},
		{"the second look", 60 * time.Second, 2 * forks, 0, "budget: 42s left"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			run := recordtest.Run(
				recordtest.Spec{Forks: c.forks, Noise: 0.5, Seed: 1,
					Impls: []recordtest.Impl{{Name: "reference", NsPerOp: 100}, {Name: "alike", NsPerOp: 100}}})
			run.Settings.Forks, run.Settings.Budget = forks, c.budget
			if c.forks > forks {
				run.Looks = []record.Look{{Workload: run.Cells[0].WorkloadKey(), Forks: c.forks}}
			}
			for i := range run.Forks {
				// 18 s for six forks of three cells, one of them the second copy of the reference
				run.Forks[i].Seconds = 1
			}
			var out bytes.Buffer
			looks, err := look([]*side{begun(t, run)}, &out)
			if err != nil {
				t.Fatal(err)
			}
			got := 0
			for _, l := range looks {
				got = l.Forks
			}
			if got != c.want || !strings.Contains(out.String(), c.says) || c.says == "" && out.Len() > 0 {
				t.Errorf("%d forks, want %d; it says %q, want %q", got, c.want, out.String(), c.says)
			}
		})
	}
}

// The budget of a pair with gates goes to the gates: to one that is open although every verdict
// is given, and to nothing once they are decided, whatever the verdicts.
func TestBudgetOfAPairGoesToItsGates(t *testing.T) {
	t.Parallel()
	alike := map[string]float64{"reference": 100, "mine": 100}
	for _, c := range []struct {
		name   string
		noise  float64
		mine   float64 // head's ns/op
		gate   string  // "" is none, and one without a bound gets one within the interval of the ratio
		looks  int
		says   string
		unsaid string
	}{
		{"no gates, every verdict given", 0.1, 200, "", 0, "budget: all comparisons are decided", ""},
		{"an open gate", 0.1, 200, "store/*/get/mine/ns/op", 1, "to settle 1 gates", ""},
		{"no gates, open verdicts", 0.5, 100, "", -1, "", "all comparisons are decided"},
		{"a gate that passes", 0.5, 100, "store/*/get/mine/ns/op <= +300%", 0,
			"budget: all gates are decided", ""},
		{"a wrong gate", 0.5, 100, "store/*/list/mine/ns/op <= +5%", 0, "not spent on a wrong gate", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var sides []*side
			for i, spec := range []recordtest.Spec{{Name: "pair/base"}, {Name: "pair/head", Base: alike}} {
				spec.Forks, spec.Seed, spec.Noise = 8, uint64(i+1), c.noise
				spec.Impls = []recordtest.Impl{{Name: "reference", NsPerOp: 100},
					{Name: "mine", NsPerOp: []float64{100, c.mine}[i]}}
				run := recordtest.Run(spec)
				run.Settings.Pair, run.Settings.Budget = true, time.Hour
				for k := range run.Forks {
					run.Forks[k].Seconds = 1
				}
				sides = append(sides, begun(t, run))
			}
			var gates []compare.Gate
			if c.gate != "" {
				text := c.gate
				if !strings.Contains(text, "<=") {
					text += fmt.Sprintf(" <= +%.4f%%", boundWithin(t, sides))
				}
				g, err := compare.ParseGate(text)
				if err != nil {
					t.Fatal(err)
				}
				gates = append(gates, g)
			}
			var out bytes.Buffer
			looks, err := look(sides, &out, gates...)
			if err != nil {
				t.Fatal(err)
			}
			if c.looks >= 0 && len(looks) != c.looks || !strings.Contains(out.String(), c.says) ||
				c.unsaid != "" && strings.Contains(out.String(), c.unsaid) {
				t.Errorf("%d looks, want %d; it says %q", len(looks), c.looks, &out)
			}
		})
	}
}

// boundWithin is a change, in percent, within the interval of mine's get and below its estimate.
func boundWithin(t *testing.T, sides []*side) float64 {
	t.Helper()
	r, err := compare.Runs(sides[0].Run(), sides[1].Run(), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Comparisons {
		if c.Name.Series == "get" && c.Name.Impl == "mine" && c.Name.Metric == metrics.NsPerOp {
			return 100 * ((c.Ratio.Estimate+c.Ratio.Lo)/2 - 1)
		}
	}
	t.Fatal("mine's get is not compared")
	return 0
}

// Only the implementations whose comparisons are open get more forks, and the reference with
// them, whose forks are paid for once.
func TestBudgetGoesToWhatIsOpen(t *testing.T) {
	t.Parallel()
	run := recordtest.Run(recordtest.Spec{Forks: 6, Noise: 0.04, Seed: 1, Impls: []recordtest.Impl{
		{Name: "reference", NsPerOp: 100}, {Name: "settled", NsPerOp: 200}, {Name: "open", NsPerOp: 97},
		{Name: "open-too", NsPerOp: 103},
	}})
	run.Settings.Budget = time.Hour
	for i := range run.Forks {
		run.Forks[i].Seconds = 1
	}
	sides := []*side{begun(t, run)}
	var out bytes.Buffer
	looks, err := look(sides, &out)
	if err != nil {
		t.Fatal(err)
	}
	grown := *run
	grown.Looks = looks
	for _, c := range run.Cells {
		grows := c.Impl != "settled"
		if got := grown.ForksOf(c) > 6; got != grows {
			t.Errorf("%s: %d forks, want more than 6: %v\n%s", c.ID(), grown.ForksOf(c), grows, &out)
		}
	}
	var first, second addition
	for i, a := range []*addition{&first, &second} {
		a.Look = record.Look{Workload: run.Cells[0].WorkloadKey(), Forks: 10,
			Impls: []string{"reference", []string{"open", "open-too"}[i]}}
		a.cells = []record.Cell{run.Cells[0], run.Cells[2+i]}
	}
	if got := first.cost(run, sides); got != 8*time.Second {
		t.Errorf("four more forks of two cells cost %s, want 8s", got)
	}
	planned := *run
	planned.Looks = []record.Look{first.Look}
	if got := second.cost(&planned, sides); got != 4*time.Second {
		t.Errorf("beside the first, the second costs %s, want 4s", got)
	}
}
