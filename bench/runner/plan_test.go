package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/presets"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// The default preset spends its budget on what is inconclusive, unless the user settles how
// many processes there are.
func TestPresetsBudget(t *testing.T) {
	t.Parallel()
	quick, err := presets.Lookup(presets.Default)
	if err != nil {
		t.Fatal(err)
	}
	if quick.Budget == 0 {
		t.Fatal("the default preset has no budget: nothing to test")
	}
	for _, c := range []struct {
		name string
		o    Options
		want time.Duration
	}{
		{"no flags", Options{}, quick.Budget},
		{"the number of forks", Options{Forks: DefaultForks}, 0},
		{"a budget", Options{Budget: time.Second}, time.Second},
		{"both", Options{Forks: 2, Budget: time.Second}, time.Second},
		{"several presets", Options{Preset: presets.Default + ",stores"}, 0},
		{"another preset", Options{Preset: "stores"}, 0},
	} {
		if p := plan(t, c.o); p.options.Budget != c.want || p.options.Forks < 1 {
			t.Errorf("%s: a budget of %s and %d forks, want %s", c.name, p.options.Budget, p.options.Forks,
				c.want)
		}
	}
}

// Objects that cannot fit are refused before anything is measured, with the field, what they take
// and what fits.
func TestObjectsThatCannotFit(t *testing.T) {
	t.Parallel()
	w := load.Workload{Name: "huge", Component: contract.ComponentStore,
		Objects: synthetic.ObjectSpec{Count: 50_000_000}, Ops: []load.Op{load.OpUpdate}}.WithDefaults()
	o := Options{Workloads: []load.Workload{w}, Out: filepath.Join(t.TempDir(), "out")}
	if sysinfo.CheckMemory("", w.Objects.Count, w.Objects.BytesEach()) == nil {
		t.Skip("this machine is large enough")
	}
	if _, err := NewPlan(o); err == nil ||
		!strings.Contains(err.Error(), "objects.count: 50000000 take about 130 GiB of memory, and there are") ||
		!strings.Contains(err.Error(), "at most") {
		t.Errorf("50 million objects: %v", err)
	}
	o.Processors = 64 // of other machines, whose memory is not known
	if _, err := NewPlan(o); err != nil {
		t.Errorf("for other machines: %v", err)
	}
}

// Two ways to keep objects that take turns have objects of their own each.
func TestKeptObjectsAreThereTwice(t *testing.T) {
	t.Parallel()
	w := load.Workload{Name: "kept", Component: contract.ComponentObjects,
		Objects: synthetic.ObjectSpec{Count: 1}, Ops: []load.Op{load.OpGet}}.WithDefaults()
	each := w.Objects.BytesEach()
	for sysinfo.CheckMemory("", 2*w.Objects.Count, each) == nil {
		w.Objects.Count *= 2
	}
	o := Options{Workloads: []load.Workload{w}, Out: filepath.Join(t.TempDir(), "out")}
	if _, err := NewPlan(o); err == nil || !strings.Contains(err.Error(), "objects.count") {
		t.Errorf("%d objects of %d bytes, which fit once: %v", w.Objects.Count, each, err)
	}
	o.Workloads[0].Objects.Count /= 2
	if _, err := NewPlan(o); err != nil {
		t.Errorf("half as many: %v", err)
	}
}

// A run that goes on replays the trace that it was begun with, or not at all.
func TestARunKnowsItsTrace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.trace")
	if err := os.WriteFile(path, []byte("events"), 0o600); err != nil {
		t.Fatal(err)
	}
	sum, err := traceSum(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		settings record.Settings
		want     string
	}{
		{record.Settings{}, ""},
		{record.Settings{Trace: path}, ""}, // of a benchrun that did not record the sum
		{record.Settings{Trace: path, TraceSum: sum}, ""},
		{record.Settings{Trace: path, TraceSum: "00"}, "has changed: put back"},
		{record.Settings{Trace: path + ".gone", TraceSum: sum}, "cannot be read"},
	} {
		if err := sameTrace(c.settings); (err == nil) != (c.want == "") || err != nil &&
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.settings, err, c.want)
		}
	}
}

// Too few processes to prove anything are noted before the run.
func TestFewForksAreNoted(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]Options{
		"--forks 2 proves nothing: every":                       {Forks: 2},
		"--forks 5 proves nothing about operations under load:": {Forks: 5, NoBudget: true},
		"": {Forks: 6}, "budget": {Forks: 2, Budget: time.Minute},
	} {
		o.Components = []string{"store"}
		said := slices.ContainsFunc(plan(t, o).notes, func(n string) bool {
			return strings.HasPrefix(n, "--forks") && strings.HasPrefix(n, want)
		})
		if said != strings.HasPrefix(want, "--forks") {
			t.Errorf("%+v: said is %v", o, said)
		}
	}
}
