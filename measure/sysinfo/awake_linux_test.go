package sysinfo

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The arguments of this test binary as what keeps the processors awake.
const (
	awakeArg   = "keep-awake"
	failingArg = "fail-on-purpose"
)

// playCompanion carries out the arguments above; without one it returns.
func playCompanion() {
	if len(os.Args) < 2 {
		return
	}
	switch os.Args[1] {
	case awakeArg:
		fmt.Fprintln(os.Stderr, KeepAwake(func() { fmt.Println("awake") }))
		os.Exit(1)
	case failingArg:
		fmt.Fprintln(os.Stderr, "it failed on purpose")
		os.Exit(1)
	}
}

// countIdlers prints the number of processors on which a thread of a process with awakeArg,
// of the same parent, waits at the lowest priority.
func countIdlers() {
	processors := map[int]bool{}
	siblings, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", os.Getppid()))
	for _, file := range siblings {
		for _, pid := range strings.Fields(readTrimmed(file)) {
			if !strings.Contains(readTrimmed("/proc/"+pid+"/cmdline"), awakeArg) {
				continue
			}
			tasks, _ := filepath.Glob("/proc/" + pid + "/task/*")
			for _, task := range tasks {
				tid, _ := strconv.Atoi(filepath.Base(task))
				attr, err := unix.SchedGetAttr(tid, 0)
				var on unix.CPUSet
				if err == nil && attr.Policy == unix.SCHED_IDLE && unix.SchedGetaffinity(tid, &on) == nil &&
					on.Count() == 1 {
					for cpu := range 64 * len(on) {
						processors[cpu] = processors[cpu] || on.IsSet(cpu)
					}
				}
			}
		}
	}
	n := 0
	for _, awake := range processors {
		if awake {
			n++
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(n)
	os.Exit(0)
}

// Every processor has a thread that spins at the lowest priority before the child begins, and
// none has when it has ended.
func TestProcessorsAreKeptAwake(t *testing.T) {
	if err := canKeepAwake(); err != nil {
		t.Skip(err)
	}
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Skip(err)
	}
	t.Setenv(fateVariable, "counts idlers")
	for _, awake := range []bool{true, false} {
		child, want := Child{Procs: 1}, 0
		if awake {
			child.Awake, want = []string{awakeArg}, all.Count()
		}
		var got int
		c, err := child.Run(t.Context(), nil, &got)
		if err != nil {
			t.Fatal(err)
		}
		if got != want || strings.Contains(strings.Join(c.Warnings, ""), "awake") {
			t.Errorf("asked to keep them awake: %v: %d processors are kept awake, want %d; %q", awake, got,
				want, c.Warnings)
		}
	}
}

// A process that cannot keep the processors awake leaves a warning with its reason.
func TestAwakeFailureIsAWarning(t *testing.T) {
	if err := canKeepAwake(); err != nil {
		t.Skip(err)
	}
	t.Setenv(fateVariable, "counts idlers")
	var got int
	c, err := Child{Procs: 1, Awake: []string{failingArg}}.Run(t.Context(), nil, &got)
	if err != nil || len(c.Warnings) == 0 ||
		!strings.Contains(c.Warnings[len(c.Warnings)-1], "on purpose") {
		t.Errorf("%v, %v, want a warning with the reason", err, c.Warnings)
	}
}
