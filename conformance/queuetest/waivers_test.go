package queuetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// A waiver that is no longer needed hides later faults. Some faults of the peers leave
// goroutines behind for good, so goleak cannot watch this package's tests. QUEUE-19 and
// QUEUE-20 watch the queues themselves.
func TestEveryWaiverIsNeeded(t *testing.T) {
	for _, peer := range []struct {
		name     string
		newQueue func(clock.WithTicker) contract.DelayingQueue[string]
		waivers  []Option
		opts     []Option
	}{
		{"clientgo", newClientGo, clientGoWaivers, nil},
		{"priorityqueue", newPriority, priorityWaivers, []Option{OwnClock()}},
	} {
		cfg, err := suite.NewConfig(peer.waivers)
		if err != nil {
			t.Fatal(err)
		}
		for clause := range cfg.Waived {
			t.Run(peer.name+"/"+clause, func(t *testing.T) {
				t.Parallel()
				wantFailure(t, clause, peer.newQueue, peer.opts...)
			})
		}
	}
}

// wantFailure asserts that the clause's cases find the mistake, and not a watchdog.
func wantFailure(t *testing.T, clause string,
	newQueue func(clock.WithTicker) contract.DelayingQueue[string], opts ...Option) {
	t.Helper()
	opts = append(opts, suite.Only(clause), suite.WithCaseTimeout(5*time.Second))
	err := suite.UntilCaught(func(seed Option) error { return Check(newQueue, append(opts, seed)...) })
	var failure *suite.Failure
	if !errors.As(err, &failure) || failure.Clause.ID != clause ||
		strings.Contains(failure.Reason, "still running") {
		t.Errorf("want a failure of %s that says what was seen, got %v", clause, err)
	}
}
