package sysinfo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
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
	exe := c.Exe
	if exe == "" {
		self, err := os.Executable()
		if err != nil {
			return Conditions{}, fmt.Errorf("finding this program to start it again: %w", err)
		}
		exe = self
	}
	in, err := json.Marshal(request)
	if err != nil {
		return Conditions{}, err
	}
	cmd := exec.CommandContext(ctx, exe, c.Args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(c.Procs))
	cmd.Stdin = bytes.NewReader(in)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 2 * time.Second
	isolate(cmd)
	before, kills := takeReading(), oomKills(procRoot, cgroupRoot)
	awake, err := keepAwake(ctx, c.Awake)
	if err != nil {
		return Conditions{}, err
	}
	err = cmd.Run()
	awakeTime, awakeErr := awake.end()
	if err != nil {
		if ctx.Err() != nil {
			return Conditions{}, ctx.Err()
		}
		return Conditions{}, failure(err, stderr.String(), oomKills(procRoot, cgroupRoot) > kills)
	}
	if err := json.Unmarshal(stdout.Bytes(), result); err != nil {
		return Conditions{}, errors.Join(fmt.Errorf("reading what the measuring process printed: %w", err), errors.New(tail(stdout.String(), 500)))
	}
	conditions := before.conditions(cmd.ProcessState, awakeTime)
	if awakeErr != nil {
		conditions.Warnings = append(conditions.Warnings, awakeErr.Error())
	}
	return conditions, nil
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
			return fmt.Errorf("the measuring process failed: %w", outOfMemory("Go's runtime got no more from the system (fatal error:"+first+")", peak))
		case ws.Signaled() && ws.Signal() == syscall.SIGKILL && oom:
			err = fmt.Errorf("%w: %s: %w", ErrKilled, ws.Signal(), outOfMemory("the kernel ended it (OOM killer)", peak))
		case ws.Signaled() && ws.Signal() == syscall.SIGKILL:
			err = fmt.Errorf("%w: %s, after it held up to %s: by a person or a supervisor, or by a container's limit of memory", ErrKilled, ws.Signal(), humanize.IBytes(peak))
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
