package benchcmd

import (
	"context"
	"strings"
	"testing"
)

// Each component is asked for its own of the given clauses.
func TestVerifyClausesOfTwoComponents(t *testing.T) {
	t.Parallel()
	code, out, errOut := benchrun(t, "verify", "--component", "store,queue,fifo", "--impl", "clientgo",
		"--clause", "STORE-5,QUEUE-3")
	if code != 0 || !strings.Contains(out, "2 implementations keep STORE-5, QUEUE-3") ||
		strings.Contains(out, "fifo/") {
		t.Errorf("exit code %d\n%s%s", code, out, errOut)
	}
}

// An interrupted verification is no failure of an implementation.
func TestVerifyIsInterrupted(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errOut strings.Builder
	code := execute(ended, []string{"verify", "--component", "limiter"}, strings.NewReader(""), &out,
		&errOut)
	if code != exitInterrupted || !strings.Contains(errOut.String(), "was not verified to its end") ||
		out.String() != "" {
		t.Errorf("exit code %d\n%s%s", code, out.String(), errOut.String())
	}
}
