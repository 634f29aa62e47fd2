package benchcmd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/conformance/mutants"
)

// Every broken implementation is tried in conformance/mutants; here a small
// component shows what the command prints.
func TestVerifyMutants(t *testing.T) {
	code, out, errOut := benchrun(t, "verify", "--mutants", "--component", "limiter", "-v")
	if code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, out, errOut)
	}
	limiters := len(mutants.Limiters())
	for _, want := range []string{"limiter", fmt.Sprintf("%d of %[1]d", limiters),
		fmt.Sprintf("all %d are caught", limiters), "limiter/", "https://github.com/", "LIMIT-6"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not printed:\n%s", want, out)
		}
	}
	if strings.Contains(out, "store") || strings.Contains(out, "survived") {
		t.Errorf("more than was asked for:\n%s", out)
	}
}
