package workqueue

import (
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
)

// heartbeat bounds how long the alarm trusts its timer, which a fake clock may set to any time
// while it runs. It is client-go's, whose users wait in tests for a fake clock to have a waiter.
const heartbeat = 10 * time.Second

// alarm is the goroutine that makes a queue's waiting items ready.
type alarm struct {
	clock    clock.WithTicker
	token    chan struct{} // holds one token: the earliest time may have changed
	stopOnce sync.Once
	stopCh   chan struct{}
	loop     sync.WaitGroup
}

// start runs a goroutine that calls move with the current time: at once, at each time that
// move returns, and whenever it is woken. If move returns a zero time nothing waits. A panic of
// move is told to logger and ends the process, or with utilruntime.ReallyCrash off the goroutine.
func (a *alarm) start(c clock.WithTicker, logger *klog.Logger,
	move func(now time.Time) (next time.Time)) {
	a.clock = c
	a.token = make(chan struct{}, 1)
	a.stopCh = make(chan struct{})
	beat := c.NewTicker(heartbeat)
	a.loop.Go(func() {
		defer beat.Stop()
		defer utilruntime.HandleCrashWithLogger(ptr.Deref(logger, klog.Background()))
		a.run(move, beat.C())
	})
}

// wake makes the goroutine call move soon. It never waits.
func (a *alarm) wake() {
	select {
	case a.token <- struct{}{}:
	default: // a token is there: the goroutine has yet to look
	}
}

// stop ends the goroutine and waits for it. It may be called again, but not by
// move nor with a lock that move needs.
func (a *alarm) stop() {
	a.stopOnce.Do(func() { close(a.stopCh) })
	a.loop.Wait()
}

func (a *alarm) run(move func(time.Time) time.Time, beat <-chan time.Time) {
	t := timer{clock: a.clock}
	defer t.stop()
	for {
		select {
		case <-a.stopCh:
			return
		default:
		}
		next := move(a.clock.Now())
		var fires <-chan time.Time
		if !next.IsZero() {
			sleep := next.Sub(a.clock.Now()) // move has taken its time
			if sleep <= 0 {
				continue
			}
			fires = t.set(sleep)
			if !next.After(a.clock.Now()) {
				continue // a fake clock was stepped before the timer was set
			}
		}
		select {
		case <-a.stopCh:
			return
		case <-a.token:
		case <-fires:
		case <-beat:
		}
	}
}

// timer is a clock's timer that is made when first set and set again and again.
type timer struct {
	clock clock.Clock
	timer clock.Timer
}

// set makes the returned channel deliver once, after d. It cancels any earlier setting.
func (t *timer) set(d time.Duration) <-chan time.Time {
	if t.timer == nil {
		t.timer = t.clock.NewTimer(d)
		return t.timer.C()
	}
	t.stop()
	t.timer.Reset(d)
	return t.timer.C()
}

// stop also takes out a delivery that was not received: a fake clock's channel keeps it,
// and blocks the clock at the next one.
func (t *timer) stop() {
	if t.timer == nil {
		return
	}
	if !t.timer.Stop() {
		select {
		case <-t.timer.C():
		default:
		}
	}
}
