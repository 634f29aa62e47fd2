package benchcmd

// Complete runs, as processes, that are interrupted at random moments.

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"github.com/informerbench/informerbench/measure/record"
)

// seedVariable repeats the moments of an earlier test, as far as timing allows.
const seedVariable = "BENCHRUN_TEST_SEED"

func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if s := os.Getenv(seedVariable); s != "" {
		seed = must(strconv.ParseUint(s, 10, 64))
	}
	t.Logf("%s=%d repeats this", seedVariable, seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// parent is a run as a process, in a process group of its own as at a terminal.
type parent struct {
	cmd  *exec.Cmd
	done chan struct{}
	said syncBuffer
}

func start(t *testing.T, args []string) *parent {
	t.Helper()
	p := &parent{cmd: exec.CommandContext(t.Context(), must(os.Executable()), args...),
		done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), asBenchrun+"=1")
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Stderr = &p.said
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // its state says how it ended
		close(p.done)
	}()
	return p
}

func (p *parent) status() syscall.WaitStatus {
	<-p.done
	return p.cmd.ProcessState.Sys().(syscall.WaitStatus)
}

// until waits for a condition, or the end of the process.
func (p *parent) until(condition func() bool) {
	for !condition() {
		select {
		case <-p.done:
			return
		case <-time.After(200 * time.Microsecond):
		}
	}
}

// signal signals the whole group, as a terminal does. It ignores a process that has ended
// meanwhile.
func (p *parent) signal(s syscall.Signal) {
	select {
	case <-p.done:
	default:
		_ = syscall.Kill(-p.cmd.Process.Pid, s)
	}
}

// child is the process of the current fork, 0 if there is none.
func (p *parent) child() int {
	for _, path := range must(
		filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.cmd.Process.Pid))) {
		b, _ := os.ReadFile(path) // the process may be gone
		if f := strings.Fields(string(b)); len(f) > 0 {
			return must(strconv.Atoi(f[0]))
		}
	}
	return 0
}

func (p *parent) killChild() {
	var pid int
	p.until(func() bool { pid = p.child(); return pid != 0 })
	if pid != 0 {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// temporaries are the unfinished files in a run's folder.
func temporaries(dir string) []string {
	return append(must(filepath.Glob(filepath.Join(dir, ".*[0-9]"))),
		must(filepath.Glob(filepath.Join(dir, "forks", ".*[0-9]")))...)
}

// A run that is interrupted goes on where it was: by each kind of interruption once, at a random
// moment. make proofs does it again and again.
func TestInterruptedAtAnyMoment(t *testing.T) {
	rng := seeded(t)
	whole := aWholeRun(t)
	kinds := []struct {
		name   string
		strike func(*parent)
	}{
		{"SIGINT", func(p *parent) { p.signal(syscall.SIGINT) }},
		{"SIGINT twice", func(p *parent) {
			p.signal(syscall.SIGINT)
			time.Sleep(time.Millisecond)
			p.signal(syscall.SIGINT)
		}},
		{"SIGTERM", func(p *parent) { p.signal(syscall.SIGTERM) }},
		{"SIGKILL", func(p *parent) { p.signal(syscall.SIGKILL) }},
		{"child", (*parent).killChild},
	}
	first := rng.IntN(len(kinds))
	for k, kind := range kinds {
		// From before the first fork to after the end, one kind in each fifth of that time.
		part := float64((first+k)%len(kinds)) + rng.Float64()
		moment := time.Duration(part / float64(len(kinds)) * 1.1 * float64(whole))
		point := []string{"any moment", "while a file is written", "the end"}[rng.IntN(3)]
		t.Run(kind.name+"/"+point, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			args := tinyRun(t, dir)
			p := start(t, args)
			if point != "the end" {
				select {
				case <-time.After(moment):
				case <-p.done:
				}
			}
			switch point {
			case "the end":
				p.until(func() bool {
					b, _ := os.ReadFile(filepath.Join(dir, record.RunFile)) // not there yet
					return bytes.Contains(b, []byte(`"complete": true`))
				})
			case "while a file is written":
				p.until(func() bool { return len(temporaries(dir)) > 0 })
			}
			kept := must(filepath.Glob(filepath.Join(dir, "forks", "*.json")))
			kind.strike(p)
			checkEnd(t, p, kind.name)
			checkGoesOn(t, dir, len(kept), args)
		})
	}
}

// aWholeRun is the duration of a run beside another one, as in the test.
func aWholeRun(t *testing.T) time.Duration {
	t.Helper()
	begin := time.Now()
	var pair []*parent
	for range 2 {
		pair = append(pair, start(t, tinyRun(t, filepath.Join(t.TempDir(), "run"))))
	}
	for _, p := range pair {
		if s := p.status(); s.ExitStatus() != 0 {
			t.Fatalf("an undisturbed run ended with %v\n%s", s, p.said.String())
		}
	}
	took := time.Since(begin)
	t.Logf("a whole run takes %s", took)
	return took
}

// checkEnd wants an end that fits the kind of interruption. A signal before benchrun has
// installed its handler ends it as any process.
func checkEnd(t *testing.T, p *parent, kind string) {
	t.Helper()
	s := p.status()
	t.Logf("ended with exit code %d, signal %v", s.ExitStatus(), s.Signal())
	ok := map[string]bool{
		"SIGINT":       s.ExitStatus() == exitInterrupted || s.Signal() == syscall.SIGINT,
		"SIGINT twice": s.ExitStatus() == exitInterrupted || s.Signal() == syscall.SIGINT,
		"SIGTERM":      s.ExitStatus() == exitInterrupted || s.Signal() == syscall.SIGTERM,
		"SIGKILL":      s.Signal() == syscall.SIGKILL,
	}[kind]
	if !ok && s.ExitStatus() != 0 {
		t.Errorf("ended with exit code %d, signal %v\n%s", s.ExitStatus(), s.Signal(), p.said.String())
	}
}

// checkGoesOn wants the folder to be readable, at least kept forks to be there, and
// --resume to complete the run.
func checkGoesOn(t *testing.T, dir string, kept int, args []string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, record.RunFile)); errors.Is(err, os.ErrNotExist) {
		if kept > 0 {
			t.Fatalf("%d forks were measured, and there is no %s", kept, record.RunFile)
		}
		if code, _, errOut := benchrun(t, args...); code != 0 {
			t.Fatalf("beginning again: exit code %d\n%s", code, errOut)
		}
		checkWhole(t, dir)
		return
	}
	part := read(t, dir)
	t.Logf("complete %v with %d forks, warnings %q", part.Complete, len(part.Forks), part.Warnings)
	if len(part.Forks) < kept {
		t.Errorf("%d forks were on disk, %d are read", kept, len(part.Forks))
	}
	if code, _, errOut := benchrun(t, "report", dir); code != 0 {
		t.Errorf("report: exit code %d\n%s", code, errOut)
	}
	code, _, errOut := benchrun(t, "run", "--resume", dir)
	nothingLeft := code == exitBadInput && part.Complete && strings.Contains(errOut, "is complete")
	if code != 0 && !nothingLeft {
		t.Fatalf("resume: exit code %d\n%s", code, errOut)
	}
	checkWhole(t, dir)
	for _, f := range part.Forks {
		if !slices.ContainsFunc(read(t, dir).Forks, func(g record.Fork) bool {
			return g.Cell.ID() == f.Cell.ID() && g.Index == f.Index && g.Started.Equal(f.Started)
		}) {
			t.Errorf("fork %d of %s was measured and is not kept", f.Index, f.Cell.ID())
		}
	}
}

// The first Ctrl-C announces the stop. The second ends the process although a conformance
// suite is running that would take hours.
func TestSecondInterruptEndsAtOnce(t *testing.T) {
	t.Parallel()
	p := start(t, []string{"verify", "--component", "store", "--impl", "mutexmap", "--effort",
		"100000"})
	// most of it in the suite: starting takes some hundredths of a second
	p.until(func() bool { return p.worked() > time.Second })
	p.signal(syscall.SIGINT)
	p.until(func() bool { return strings.Contains(p.said.String(), "A second Ctrl-C stops at once") })
	p.signal(syscall.SIGINT)
	if s := p.status(); s.Signal() != syscall.SIGINT {
		t.Errorf("ended with exit code %d, signal %v\n%s", s.ExitStatus(), s.Signal(), p.said.String())
	}
}

// worked is the CPU time of p; 0 for a process that has ended.
func (p *parent) worked() time.Duration {
	proc, err := procfs.NewProc(p.cmd.Process.Pid)
	if err != nil {
		return 0
	}
	stat, _ := proc.Stat()
	return time.Duration(stat.CPUTime() * float64(time.Second))
}

// syncBuffer collects a process's output while it is read.
type syncBuffer struct {
	mu struct {
		sync.Mutex
		bytes.Buffer
	}
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mu.Buffer.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mu.Buffer.String()
}
