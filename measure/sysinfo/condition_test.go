package sysinfo

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/informerbench/informerbench/measure/metrics"
)

func TestDisturbed(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, c := range []struct {
		name        string
		took, total time.Duration
		percent     float64
		warning     string
	}{
		{"quiet", 10 * ms, 2000 * ms, 0.5, ""},
		{"two clocks that disagree", -20 * ms, 2000 * ms, 0, ""},
		{"at the bound", 100 * ms, 2000 * ms, 5, ""},
		{"above it", 120 * ms, 2000 * ms, 6, "who took more than 5%"},
		{"far above it", 900 * ms, 2000 * ms, 45, "who took more than 20%"},
		{"too few ticks to say", 40 * ms, 200 * ms, 20, ""},
	} {
		seen := Conditions{Values: map[string]float64{}}
		seen.disturbed(metrics.OthersCPU, c.took, c.total, "who took")
		if got := seen.Values[metrics.OthersCPU]; got != c.percent {
			t.Errorf("%s: %g%%, want %g%%", c.name, got, c.percent)
		}
		if got := strings.Join(seen.Warnings, "; "); (c.warning == "") != (got == "") ||
			!strings.Contains(got, c.warning) {
			t.Errorf("%s: warning %q, want %q", c.name, got, c.warning)
		}
	}
	for _, m := range []string{metrics.StealPct, metrics.OthersCPU, metrics.MachineLoad} {
		if metrics.Of(m).Better != metrics.Neither {
			t.Errorf("%s is a condition, not a result", m)
		}
	}
}

// A child with a short life has no percentages. One with a longer life has them, and its
// own work does not count as that of others.
func TestNoteWatchesAsLongAsTicksTell(t *testing.T) {
	t.Parallel()
	if readCPUTimes().total == 0 {
		t.Skip("this system does not tell")
	}
	child := exec.CommandContext(t.Context(), "true")
	if err := child.Run(); err != nil {
		t.Skip(err)
	}
	now := takeReading()
	short := now.conditions(0, nil, child.ProcessState)
	if _, ok := short.Values[metrics.OthersCPU]; ok {
		t.Error("a share is told of a moment")
	}
	earlier := now
	earlier.at = now.at.Add(-time.Second)
	earlier.machine = cpuTimes{total: now.machine.total - 2*time.Second, used: now.machine.used,
		stolen: now.machine.stolen - time.Second}
	long := earlier.conditions(0, nil, child.ProcessState)
	// What kept the processors awake is not the work of others.
	busy := earlier
	busy.machine = cpuTimes{total: now.machine.total - 2*time.Second,
		used: now.machine.used - time.Second, stolen: now.machine.stolen}
	if others, awake := busy.conditions(0, nil, child.ProcessState).Values[metrics.OthersCPU],
		busy.conditions(time.Second, nil,
			child.ProcessState).Values[metrics.OthersCPU]; others-awake < 20 {
		t.Errorf("others used %g%%, and %g%% beside a second of keeping awake; want about 50%% less",
			others, awake)
	}
	// This test's own time since, a few ticks, is in the shares.
	if v, ok := long.Values[metrics.StealPct]; !ok || v < 20 || v > 50 || len(long.Warnings) == 0 {
		t.Errorf("steal %g%% %v, want about 50%% and a warning", v, long.Warnings)
	}
}

// A run that is resumed keeps the conditions that it had, and has none of the pause.
func TestResumeLeavesThePauseOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, after, here, want uint64 // MB of swap used
	}{
		{before: 100, after: 100, here: 900, want: 900}, // others swapped in the pause
		{before: 100, after: 150, here: 900, want: 850}, // the run had swapped out 50
		{before: 100, after: 40, here: 900, want: 900},
		{before: 100, after: 150, here: 20, want: 0},
		{before: 100, after: 0, here: 30, want: 30}, // killed: nothing was read
	} {
		e := Environment{SwapMBBefore: c.before, SwapMBAfter: c.after, StealPercent: 12}
		e.Resume(&Environment{SwapMBBefore: c.here, before: readCPUTimes()})
		if e.SwapMBBefore != c.want {
			t.Errorf("%+v: resumed with %d MB, want %d", c, e.SwapMBBefore, c.want)
		}
		if e.Finish(nil); e.StealPercent < 12 {
			t.Errorf("%g%% was stolen, want the 12%% before it was resumed at least", e.StealPercent)
		}
	}
}

func TestEnvironmentWarnings(t *testing.T) {
	t.Parallel()
	quiet := Environment{Cores: 2, Procs: 2, LoadBefore: 1.5, StealPercent: 0.1, OthersMedian: 1,
		OthersMax: 80, Governor: "performance",
		CgroupCPUs: 2, SwapMBBefore: 100, SwapMBAfter: 90, MHzBefore: 800, MHzAfter: 3000,
		BuildFlags: map[string]string{"-gcflags": "-m", "-tags": "N"}}
	if w := quiet.Warnings(); len(w) > 0 {
		t.Errorf("a quiet machine: %q", w)
	}
	for _, c := range []struct {
		want   string
		change func(*Environment)
	}{
		{"-race", func(e *Environment) { e.Race = true }},
		{"without optimisations", func(e *Environment) {
			e.BuildFlags = map[string]string{"-gcflags": "all=-N -l"}
		}},
		{"without optimisations", func(e *Environment) {
			e.BuildFlags = map[string]string{"-gcflags": "-l"}
		}},
		{"hypervisor", func(e *Environment) { e.StealPercent = 3 }},
		// the system does not report them
		{"busy at the start", func(e *Environment) { e.OthersMedian, e.OthersMax = 0, 0 }},
		{"other processes used 12%", func(e *Environment) { e.OthersMedian = 12 }},
		{"swapped out", func(e *Environment) { e.SwapMBAfter = 101 }},
		{"one core", func(e *Environment) { e.Cores = 1 }},
		{"1.5 CPUs", func(e *Environment) { e.CgroupCPUs = 1.5 }},
		{"powersave", func(e *Environment) { e.Governor = "powersave" }},
	} {
		e := quiet
		c.change(&e)
		if w := e.Warnings(); len(w) != 1 || !strings.Contains(w[0], c.want) {
			t.Errorf("warnings %q, want one with %q", w, c.want)
		}
		if e.Cores == quiet.Cores && !e.Race && e.SameMachine(&quiet) != nil {
			t.Errorf("%s: a condition is taken for another machine", c.want)
		}
	}
}

func TestFinishSumsUpTheForks(t *testing.T) {
	t.Parallel()
	var e Environment
	e.Finish([]map[string]float64{{metrics.MachineLoad: 1, metrics.OthersCPU: 4},
		{metrics.MachineLoad: 3}, {metrics.MachineLoad: 2, metrics.OthersCPU: 8}, {}})
	if e.LoadMedian != 2 || e.LoadMax != 3 || e.OthersMedian != 6 || e.OthersMax != 8 {
		t.Errorf("%+v", e)
	}
	e.Finish(nil)
	if e.LoadMedian != 0 || e.OthersMax != 0 {
		t.Errorf("of no forks: %+v", e)
	}
}

// The parent recognises the two ends of a child that are not the cell's fault.
func TestFailureTellsWhatHappened(t *testing.T) {
	t.Parallel()
	end := func(script string) error {
		return exec.CommandContext(t.Context(), "sh", "-c", script).Run()
	}
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip(err)
	}
	killed, full, other := failure(end("kill -9 $$"), "", false),
		failure(end("exit 1"), "writing x: no space left on device", false),
		failure(end("exit 1"), "boom", false)
	if !errors.Is(killed, ErrKilled) || !strings.Contains(killed.Error(), "memory") ||
		errors.Is(killed, syscall.ENOSPC) {
		t.Errorf("killed: %v", killed)
	}
	if errors.Is(full, ErrKilled) || !errors.Is(full, syscall.ENOSPC) {
		t.Errorf("disk full: %v", full)
	}
	if errors.Is(other, ErrKilled) || errors.Is(other, syscall.ENOSPC) ||
		!strings.Contains(other.Error(), "boom") {
		t.Errorf("an error: %v", other)
	}
}
