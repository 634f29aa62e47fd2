package sysinfo

// A processor that has nothing to do is halted, and takes up to a tenth of a millisecond to
// wake, in a virtual machine more than others. A goroutine that another wakes for it then
// comes too late to do its work beside the other. Whether the processors sleep differs from
// process to process, with what else the machine does: the p99 of the same component then
// differs fivefold. So they are kept awake while groups of goroutines are measured.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// awakeText is Environment.Awake.
func awakeText() string {
	if err := canKeepAwake(); err != nil {
		return "no: " + err.Error()
	}
	return "beside groups"
}

// companion is a process that carries out KeepAwake beside a child.
type companion struct {
	cmd  *exec.Cmd
	said bytes.Buffer
}

// keepAwake starts this program with args, which are to make it call KeepAwake and print a
// line when that is ready. It is nil without args, and where the system cannot do it.
func keepAwake(ctx context.Context, args []string) (*companion, error) {
	if len(args) == 0 || canKeepAwake() != nil {
		return nil, nil
	}
	exe, err := thisProgram()
	if err != nil {
		return nil, err
	}
	c := &companion{cmd: exec.CommandContext(ctx, exe, args...)}
	c.cmd.Stderr = &c.said
	ready, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	isolate(c.cmd)
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a process that keeps the processors awake: %w", err)
	}
	// Where the child's threads run is settled as it starts. Without a line, end says why.
	_, _ = bufio.NewReader(ready).ReadString('\n')
	return c, nil
}

// end ends the process and returns the CPU time that it has used. It is an error if it had
// ended by itself.
func (c *companion) end() (used time.Duration, err error) {
	if c == nil {
		return 0, nil
	}
	_ = c.cmd.Process.Kill() // it fails if the process has ended
	err = c.cmd.Wait()
	if c.cmd.ProcessState.Exited() { // by itself, then
		return 0, fmt.Errorf("the process that keeps the processors awake ended: %w",
			errors.Join(err, errors.New(tail(c.said.String(), 500))))
	}
	return c.cmd.ProcessState.UserTime() + c.cmd.ProcessState.SystemTime(), nil
}
