package suite

import (
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
)

// Bubble runs f in a testing/synctest bubble of its own. failed holds the panic of f, or
// synctest's report that every goroutine of the bubble waits for ever. left holds the
// stacks of goroutines that f left behind. Both are "" if all went well.
//
// A goroutine that waits for a mutex stops the bubble's time, and synctest does not report
// that as a deadlock. Bubble then does not return, and [Guard] finds the stall.
//
// synctest.Test takes a testing.T but does not use it unless a test fails through it. So
// Bubble passes a new one, and bubbles work outside go test too. f runs on a goroutine of
// its own because it may end that goroutine (T.Fatalf does).
func Bubble(f func()) (failed, left string) {
	var own string
	over := false
	defer func() {
		if p := recover(); p != nil {
			// synctest panics if the bubble's goroutines are blocked for ever.
			var blocked []goroutine
			all, _ := dump()
			for _, g := range all {
				if own != "" && g.bubble == own {
					blocked = append(blocked, g)
				}
			}
			left = tell(blocked)
			if !over {
				failed = fmt.Sprintf("%v\n%s", p, left)
			}
		}
	}()
	synctest.Test(new(testing.T), func(*testing.T) {
		own = ownBubble()
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() {
				if p := recover(); p != nil {
					failed = fmt.Sprintf("panic: %v\n%s", p, debug.Stack())
				}
			}()
			f()
		}()
		<-done
		over = true
	})
	return failed, strings.TrimSpace(left)
}
