package sysinfo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/measure/metrics"
)

// shell is a child that runs a script.
func shell(t *testing.T, script string) Child {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip(err)
	}
	return Child{Exe: "/bin/sh", Args: []string{"-c", script}, Procs: 1}
}

// Children live at the same time, answer what they are asked in any order, and end when there
// is nothing more to ask.
func TestConverse(t *testing.T) {
	t.Parallel()
	echo := shell(t, `while read -r line; do echo "$GOMAXPROCS $line"; done`)
	third := echo
	third.Procs = 3
	var heard []string
	c, err := Converse(t.Context(), []Child{echo, third}, func(pipes []Pipes) error {
		for _, turn := range []int{0, 1, 1, 0} {
			fmt.Fprintln(pipes[turn].In, "hello")
			line, err := bufio.NewReader(pipes[turn].Out).ReadString('\n')
			if err != nil {
				return err
			}
			heard = append(heard, strings.TrimSpace(line))
		}
		return nil
	})
	if want := []string{"1 hello", "3 hello", "3 hello", "1 hello"}; err != nil ||
		!slices.Equal(heard, want) {
		t.Errorf("%q, %v; want %q", heard, err, want)
	}
	if _, ok := c.Values[metrics.MachineLoad]; !ok && takeReading().load > 0 {
		t.Errorf("no conditions: %+v", c)
	}
}

// What befell a child is the error, whichever it was. What follows from it, such as a pipe
// that ended, is not.
func TestConverseTellsWhichChildFailed(t *testing.T) {
	t.Parallel()
	steady := shell(t, "cat")
	hear := func(pipes []Pipes) error {
		for _, p := range pipes {
			fmt.Fprintln(p.In, "hello")
			if _, err := bufio.NewReader(p.Out).ReadString('\n'); err != nil {
				return errors.New("the pipe ended")
			}
		}
		return nil
	}
	for _, c := range []struct {
		script string
		killed bool
		want   string
	}{
		{"echo it failed on purpose >&2; exit 3", false, "it failed on purpose"},
		{"kill -9 $$", true, "killed"},
		{"read -r line; echo $line; kill -9 $$", true, "killed"}, // after its answer
	} {
		for _, children := range [][]Child{{shell(t, c.script), steady}, {steady, shell(t, c.script)}} {
			if _, err := Converse(t.Context(), children, hear); err == nil ||
				errors.Is(err, ErrKilled) != c.killed || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.script, err, c.want)
			}
		}
	}
	broken := errors.New("nothing to say")
	if _, err := Converse(t.Context(), []Child{steady, steady}, func([]Pipes) error {
		return broken
	}); !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of the talk", err)
	}
	if _, err := Converse(t.Context(), []Child{steady, {Exe: "/nowhere/at-all", Procs: 1}},
		hear); err == nil || !strings.Contains(err.Error(), "/nowhere/at-all") {
		t.Errorf("got %v, want which program cannot be started", err)
	}
}

// Children that no longer read or answer are killed when the context ends.
func TestConverseIsCalledOff(t *testing.T) {
	t.Parallel()
	deaf := shell(t, "echo ready; exec sleep 3600")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Converse(ctx, []Child{deaf, deaf}, func(pipes []Pipes) error {
		for _, p := range pipes {
			if _, err := bufio.NewReader(p.Out).ReadString('\n'); err != nil {
				return err
			}
		}
		cancel()
		_, err := bufio.NewReader(pipes[0].Out).ReadString('\n')
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was called off", err)
	}
}

// On Linux the program is started again as it runs, whatever was built in its place.
func TestThisProgram(t *testing.T) {
	t.Parallel()
	exe, err := thisProgram()
	if err != nil {
		t.Fatal(err)
	}
	this, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a, errA := os.Stat(exe)
	b, errB := os.Stat(this)
	if errA != nil || errB != nil || !os.SameFile(a, b) {
		t.Errorf("%s is not this program, %s: %v, %v", exe, this, errA, errB)
	}
	if runtime.GOOS == "linux" && exe == this {
		t.Errorf("%s may be another program by the next start", exe)
	}
}
