package e2e

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"k8s.io/klog/v2"
)

var logs = flag.Bool("e2e.logs", false, "print what the clients log, such as each watch that ends")

// TestMain is the server process if it is told so, and runs the tests otherwise.
// goleak sees the test process alone: the embedded servers leak in theirs.
func TestMain(m *testing.M) {
	if config, ok := os.LookupEnv(serverEnv); ok {
		if err := serve(config); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	if !*logs {
		klog.SetLogger(logr.Discard())
	}
	goleak.VerifyTestMain(m)
}
