package recorder

import (
	"flag"
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"k8s.io/klog/v2"
)

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "8") // they wait for pauses
	klog.SetLogger(logr.Discard())     // clients log the faults that tests ask for
	goleak.VerifyTestMain(m)
}
