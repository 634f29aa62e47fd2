package measure

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
	"time"
)

// ForkProcess runs this program again with the given arguments, hands it the
// request as JSON on standard input, and decodes the Fork that it prints.
//
// The child gets GOMAXPROCS=procs. It is in a process group of its own, so that
// Ctrl-C at the terminal reaches the parent alone; it is killed when ctx ends
// and, on Linux, when the parent dies. The error of a child that fails carries
// the end of what it wrote to standard error.
func ForkProcess(ctx context.Context, procs int, request any, args ...string) (Fork, error) {
	self, err := os.Executable()
	if err != nil {
		return Fork{}, fmt.Errorf("finding this program to start it again: %w", err)
	}
	in, err := json.Marshal(request)
	if err != nil {
		return Fork{}, err
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(procs))
	cmd.Stdin = bytes.NewReader(in)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 2 * time.Second
	isolate(cmd)
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return Fork{}, ctx.Err()
		}
		return Fork{}, fmt.Errorf("the measuring process failed: %w\n%s", err, tail(stderr.String(), 2000))
	}
	var f Fork
	if err := json.Unmarshal(stdout.Bytes(), &f); err != nil {
		return Fork{}, errors.Join(fmt.Errorf("reading what the measuring process printed: %w", err), errors.New(tail(stdout.String(), 500)))
	}
	return f, f.validate(nil)
}

func tail(s string, n int) string {
	if len(s) > n {
		s = "..." + s[len(s)-n:]
	}
	return strings.TrimSpace(s)
}
