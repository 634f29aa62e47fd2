package e2e

// The table against which serve-api is tested, asked of the real server.

import (
	"os"
	"os/exec"
	"testing"
)

// TestParity has the tests of load/apiserver send their table of requests to the real server.
// serve-api has to answer the same requests alike, or the table says why it does not: if the
// table is wrong about the real server, this test fails.
func TestParity(t *testing.T) {
	c := newCluster(t)
	ask := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "-run=^TestRealServer$",
		"./load/apiserver")
	ask.Dir, ask.Env = "..", append(os.Environ(), "PARITY_KUBECONFIG="+c.kubeconfig(t))
	if out, err := ask.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
