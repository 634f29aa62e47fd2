package synthetic

import (
	"testing"

	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

func TestMain(m *testing.M) {
	// The default handlers log each injected fault. They also slow down by a time that they
	// keep in a global, which is wrong across synctest bubbles.
	utilruntime.ErrorHandlers = nil
	goleak.VerifyTestMain(m)
}
