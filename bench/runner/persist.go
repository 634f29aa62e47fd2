package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// A fork counts as hung after patience times its expected duration, but not before
// leastPatience.
const (
	patience      = 20
	leastPatience = 2 * time.Minute
)

// tries is how often a fork is started whose process a signal ends, such as the kernel's
// when memory runs out. Three such ends are no accident.
const tries = 3

// persistently measures one fork, and again if a signal ended its process. Each such end
// leaves a warning in the record.
func persistently(ctx context.Context, next task, limit time.Duration) (record.Fork, error) {
	for try := 1; ; try++ {
		f, err := fork(ctx, next, limit)
		if !errors.Is(err, sysinfo.ErrKilled) || try == tries || ctx.Err() != nil {
			return f, err
		}
		if err := next.Warn(fmt.Sprintf("%s: fork %d was measured again: %s", next.Cell.ID(), next.Index, err)); err != nil {
			return f, err
		}
	}
}

// AwakeCommand is the hidden command that keeps the processors awake until it is killed.
const AwakeCommand = "awake-process"

// fork measures one fork in a process of its own.
func fork(ctx context.Context, next task, limit time.Duration) (record.Fork, error) {
	req, err := request(next)
	if err != nil {
		return record.Fork{}, err
	}
	w, err := load.ParseWorkload(req.Cell.Workload, []byte(req.Workload))
	if err != nil {
		return record.Fork{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it did not end within %s", limit))
	defer cancel()
	var f record.Fork
	child := sysinfo.Child{Exe: next.exe, Args: []string{ForkCommand}, Procs: next.Cell.Procs}
	if !inTurns(w, req.Trace) { // goroutines wake each other
		child.Awake = []string{AwakeCommand}
	}
	conditions, err := child.Run(ctx, req, &f)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err != nil {
		return f, err
	}
	f.Add(conditions)
	return f, f.Validate()
}

// givenUp begins the warning of a cell that is not measured any further.
func givenUp(cell string) string { return cell + " was given up: " }
