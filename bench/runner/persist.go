package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/informerbench/informerbench/bench"
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

// persistently measures a task, and again if a signal ended a process of it. Each such end
// leaves a warning in the record.
func persistently(ctx context.Context, next task, limit time.Duration) ([]record.Fork, error) {
	for try := 1; ; try++ {
		forks, err := measure(ctx, next, limit)
		if !errors.Is(err, sysinfo.ErrKilled) || try == tries || ctx.Err() != nil {
			return forks, err
		}
		if err := next.warn(
			fmt.Sprintf("%s: fork %d was measured again: %s", next.Cell.ID(), next.Index, err)); err != nil {
			return nil, err
		}
	}
}

// AwakeCommand is the hidden command that keeps the processors awake until it is killed.
const AwakeCommand = "awake-process"

// measure measures the forks of a task, each in a process of its own.
func measure(ctx context.Context, next task, limit time.Duration) ([]record.Fork, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it did not end within %s", limit))
	defer cancel()
	carryOut := alone
	if len(next.sides) > 1 {
		carryOut = inTurn
	}
	forks, conditions, err := carryOut(ctx, next)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err != nil {
		return nil, err
	}
	for i := range forks {
		forks[i].Add(conditions)
		forks[i].Machine = next.sides[i].machine
		if err := forks[i].Validate(); err != nil {
			return nil, err
		}
	}
	return forks, nil
}

// alone measures the fork of one side.
func alone(ctx context.Context, next task) ([]record.Fork, sysinfo.Conditions, error) {
	s := next.sides[0]
	req, err := next.request(s)
	if err != nil {
		return nil, sysinfo.Conditions{}, err
	}
	w, err := workloadOf(s.Run(), next.Cell)
	if err != nil {
		return nil, sysinfo.Conditions{}, err
	}
	child := sysinfo.Child{Exe: s.exe, Args: []string{ForkCommand}, Procs: next.Cell.Procs}
	if !inTurns(w, req.Trace) { // goroutines wake each other
		child.Awake = []string{AwakeCommand}
	}
	forks := make([]record.Fork, 1)
	conditions, err := child.Run(ctx, req, &forks[0])
	return forks, conditions, err
}

// inTurn measures the forks of base and head by processes that take turns.
func inTurn(ctx context.Context, next task) (forks []record.Fork, conditions sysinfo.Conditions,
	err error) {
	var requests [2]bench.Request
	var children []sysinfo.Child
	for i, s := range next.sides {
		if requests[i], err = next.request(s); err != nil {
			return nil, conditions, err
		}
		children = append(
			children, sysinfo.Child{Exe: s.exe, Args: []string{TurnsCommand}, Procs: next.Cell.Procs})
	}
	conditions, err = sysinfo.Converse(ctx, children, func(pipes []sysinfo.Pipes) error {
		both, err := bench.Conduct(ctx, requests, pipes)
		forks = both[:]
		return err
	})
	return forks, conditions, err
}
