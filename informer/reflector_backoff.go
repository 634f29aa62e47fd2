package informer

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
)

// backoff computes the waits between attempts. One goroutine uses it.
//
// client-go resets its back-off two minutes after it last did, however often it was needed
// since (wait.Backoff.DelayWithReset). So in a long outage each of its reflectors returns
// to waits of a second every two minutes. The comment of its constants, "if we don't
// backoff for 2min", says otherwise. Here two minutes without a wait reset it, as in wait's
// former exponentialBackoffManagerImpl. If a watch has worked since the last wait, the server
// is there, and the back-off is reset as client-go's is. Otherwise watches that a proxy cuts
// every minute would be opened 30 to 60 seconds late each time.
type backoff struct {
	initial, current wait.Backoff
	reset            time.Duration
	clock            clock.Clock
	quiet            time.Time // the end of the last wait
	begun            time.Time // when it was last reset
	served           bool      // a watch has worked since the last wait
}

func newBackoff(options ReflectorOptions) backoff {
	b := backoff{initial: DefaultBackoff(), reset: DefaultBackoffReset, clock: options.Clock}
	if options.Backoff != nil {
		b.initial = *options.Backoff
	}
	if options.BackoffReset > 0 {
		b.reset = options.BackoffReset
	}
	b.current = b.initial
	return b
}

// next returns how long to wait now.
func (b *backoff) next() time.Duration {
	now := b.clock.Now()
	if now.Sub(b.quiet) > b.reset || b.served && now.Sub(b.begun) > b.reset {
		b.current, b.begun = b.initial, now
	}
	b.served = false
	d := b.current.Step()
	b.quiet = now.Add(d)
	return d
}

// backOff waits as long as the back-off says; it returns false if ctx is done before.
func (r *Reflector) backOff(ctx context.Context) bool {
	timer := r.clock.NewTimer(r.backoff.next())
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C():
		return true
	}
}
