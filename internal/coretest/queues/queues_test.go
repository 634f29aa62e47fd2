// Package queues runs the suites over the core's waiting structures, queues, limiters and
// FIFOs, with options that the catalog's entries do not have.
package queues

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
