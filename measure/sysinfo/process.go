package sysinfo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
)

// ErrKilled is wrapped by the error of a child process that was ended by a signal that this
// process did not send.
var ErrKilled = errors.New("ended by a signal")

// Child is a process that works for this one.
type Child struct {
	Exe   string // the program; "" means this one
	Args  []string
	Procs int // its GOMAXPROCS
	// Awake are arguments with which this program calls KeepAwake, and prints a line when that
	// is ready. It does so while the child runs, unless the system cannot.
	Awake []string
}

// Run writes the request to the child's standard input as JSON and decodes what it prints, as
// JSON, into result. The Conditions are those in which it ran.
//
// The child is in a process group of its own, so that Ctrl-C at the terminal reaches the
// parent alone. It is killed when ctx ends and, on Linux, when the parent dies. The error of
// a child that fails contains the end of its standard error. If a signal ended the child, the
// error wraps ErrKilled.
func (c Child) Run(ctx context.Context, request, result any) (Conditions, error) {
	in, err := json.Marshal(request)
	if err != nil {
		return Conditions{}, err
	}
	var stdout []byte
	conditions, err := Converse(ctx, []Child{c}, func(child []Pipes) error {
		_, written := child[0].In.Write(in)
		closed := child[0].In.Close()
		var read error
		stdout, read = io.ReadAll(child[0].Out)
		return errors.Join(written, closed, read)
	})
	if err != nil {
		return Conditions{}, err
	}
	if err := json.Unmarshal(stdout, result); err != nil {
		return Conditions{}, errors.Join(
			fmt.Errorf("reading what the measuring process printed: %w; does something else in this "+
				"program print to standard output?", err), errors.New(tail(string(stdout), 500)))
	}
	return conditions, nil
}

// command is the child's command, without standard input and output. What it writes to its
// standard error is kept.
func (c Child) command(ctx context.Context) (cmd *exec.Cmd, stderr *bytes.Buffer, err error) {
	exe := c.Exe
	if exe == "" {
		if exe, err = thisProgram(); err != nil {
			return nil, nil, err
		}
	}
	cmd = exec.CommandContext(ctx, exe, c.Args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(c.Procs))
	stderr = new(bytes.Buffer)
	cmd.Stderr = stderr
	cmd.WaitDelay = 2 * time.Second
	isolate(cmd)
	return cmd, stderr, nil
}

// thisProgram is the path by which this program is started again. On Linux it leads to the
// running program even if another was built in its place meanwhile.
func thisProgram() (string, error) {
	const running = "/proc/self/exe"
	if runtime.GOOS == "linux" {
		if _, err := os.Stat(running); err == nil {
			return running, nil
		}
	}
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program to start it again: %w", err)
	}
	return exe, nil
}

// Pipes lead to a child that answers.
type Pipes struct {
	In  io.WriteCloser // its standard input
	Out io.Reader      // its standard output
}

// Converse starts children that live at the same time and answer what they are asked, and
// calls talk with the pipes of each, in the order of the children. When talk returns, their
// standard input ends, and so must they. What Run says of its child holds for each of them;
// the Awake of the first is that of all. A child's failure comes before that of talk, which is
// its consequence.
func Converse(ctx context.Context, children []Child, talk func([]Pipes) error) (Conditions, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	before, kills := takeReading(), oomKills(procRoot, cgroupRoot)
	awake, err := keepAwake(ctx, children[0].Awake)
	if err != nil {
		return Conditions{}, err
	}
	var live []*speaker
	for _, c := range children {
		var s *speaker
		if s, err = c.start(ctx); err != nil {
			break
		}
		live = append(live, s)
	}
	if err == nil {
		var pipes []Pipes
		for _, s := range live {
			pipes = append(pipes, s.Pipes)
		}
		err = talk(pipes)
	}
	ended := ctx.Err()
	var states []*os.ProcessState
	var failed error
	for _, s := range live {
		_ = s.In.Close() // it fails if the child has ended
	}
	for _, s := range live {
		if e := s.cmd.Wait(); e != nil && failed == nil {
			failed = failure(e, s.stderr.String(), oomKills(procRoot, cgroupRoot) > kills)
		}
		states = append(states, s.cmd.ProcessState)
	}
	awakeTime, awakeErr := awake.end()
	if err := cmp.Or(ended, failed, err); err != nil {
		return Conditions{}, err
	}
	return before.conditions(awakeTime, awakeErr, states...), nil
}

// speaker is a child that answers.
type speaker struct {
	cmd    *exec.Cmd
	stderr *bytes.Buffer
	Pipes
}

func (c Child) start(ctx context.Context) (*speaker, error) {
	cmd, stderr, err := c.command(ctx)
	if err != nil {
		return nil, err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a measuring process: %w", err)
	}
	return &speaker{cmd, stderr, Pipes{in, out}}, nil
}

// Where the kernel reports how many processes it has killed for lack of memory.
const (
	procRoot   = "/proc"
	cgroupRoot = "/sys/fs/cgroup"
)

// failure is the error of a child that ended with err and wrote said to standard error. oom
// says that the kernel killed some process meanwhile for lack of memory.
func failure(err error, said string, oom bool) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		peak := peakOf(exit.ProcessState)
		ws, _ := exit.Sys().(syscall.WaitStatus)
		switch {
		case saysOutOfMemory(said):
			// The runtime also prints every goroutine's stack; the first line suffices.
			_, fatal, _ := strings.Cut(said, "fatal error:")
			first, _, _ := strings.Cut(fatal, "\n")
			return fmt.Errorf("the measuring process failed: %w",
				outOfMemory("Go's runtime got no more from the system (fatal error:"+first+")", peak))
		case ws.Signaled() && ws.Signal() == syscall.SIGKILL && oom:
			err = fmt.Errorf("%w: %s: %w", ErrKilled, ws.Signal(),
				outOfMemory("the kernel ended it (OOM killer)", peak))
		case ws.Signaled() && ws.Signal() == syscall.SIGKILL:
			err = fmt.Errorf(
				"%w: %s, after it held up to %s: by a person or a supervisor, or by a container's limit of "+
					"memory", ErrKilled, ws.Signal(), humanize.IBytes(peak))
		case ws.Signaled():
			err = fmt.Errorf("%w: %s", ErrKilled, ws.Signal())
		}
	}
	said = tail(said, 2000)
	// A child's errors arrive as text only.
	if strings.Contains(said, syscall.ENOSPC.Error()) {
		err = fmt.Errorf("%w: %w", err, syscall.ENOSPC)
	}
	if said != "" {
		err = fmt.Errorf("%w\n%s", err, said)
	}
	return fmt.Errorf("the measuring process failed: %w", err)
}

func tail(s string, n int) string {
	if len(s) > n {
		s = "..." + s[len(s)-n:]
	}
	return strings.TrimSpace(s)
}
