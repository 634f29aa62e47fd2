package sysinfo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fateVariable says, in the environment, how a child process of these tests ends.
const fateVariable = "SYSINFO_TEST_FATE"

func TestMain(m *testing.M) {
	playCompanion()
	meetFate()
	os.Exit(m.Run())
}

// meetFate ends the process in the way that the environment says; without one it returns.
func meetFate() {
	switch os.Getenv(fateVariable) {
	case "address space":
		limit := syscall.Rlimit{Cur: 3 << 30, Max: 3 << 30}
		if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
			panic(err)
		}
		var held [][]byte
		for {
			held = append(held, make([]byte, 64<<20)) // never touched: it only uses up addresses
			if len(held) > 1000 {
				panic("no limit")
			}
		}
	case "counts idlers":
		countIdlers()
	case "killed":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// A fork that gets no memory says so, how much it had, and what to do.
func TestForkOutOfMemorySaysSo(t *testing.T) {
	t.Setenv(fateVariable, "address space")
	_, err := Child{Procs: 1}.Run(context.Background(), nil, new(any))
	if !errors.Is(err, ErrOutOfMemory) || errors.Is(err, ErrKilled) {
		t.Fatalf("got %.500v, want %v", err, ErrOutOfMemory)
	}
	for _, want := range []string{"fatal error", "it held up to", "this machine has", "objects.count",
		"--impl", "more memory"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "goroutine") {
		t.Errorf("the error buries what to do below stacks: %v", err)
	}
}

func TestForkKilledSaysHowMuchItHeld(t *testing.T) {
	t.Setenv(fateVariable, "killed")
	_, err := Child{Procs: 1}.Run(context.Background(), nil, new(any))
	if !errors.Is(err, ErrKilled) || !strings.Contains(err.Error(), "killed, after it held up to") {
		t.Fatalf("got %v", err)
	}
}

// The processes that the kernel kills for lack of memory are counted, for the machine and
// for a container.
func TestOOMKillsAreCounted(t *testing.T) {
	t.Parallel()
	proc, cgroup := t.TempDir(), t.TempDir()
	if n := oomKills(proc, cgroup); n != 0 {
		t.Errorf("%d where nothing is told", n)
	}
	for path, text := range map[string]string{
		filepath.Join(proc, "vmstat"): "pgfault 12\noom_kill 3\n",
		filepath.Join(cgroup, "memory.events"): "low 0\nhigh 0\nmax 4\noom 2\noom_kill " +
			"1\noom_group_kill 0\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if n := oomKills(proc, cgroup); n != 4 {
		t.Errorf("%d, want 4", n)
	}
}
