package suite

import (
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
)

// Bubble runs f in a testing/synctest bubble of its own. failed says what f panicked
// with, or that every goroutine of the bubble waits for ever; left holds the stacks of
// goroutines that f left behind. Both are "" if all went well.
//
// A goroutine that waits for a mutex stops the bubble's time and synctest does not
// call that a deadlock: then Bubble does not return, and [Guard] finds it.
//
// synctest.Test wants a testing.T but looks at nothing in it as long as nothing fails
// by it, so a new one will do, and bubbles exist outside go test too. f runs on a
// goroutine of its own because it may end itself (T.Fatalf does).
func Bubble(f func()) (failed, left string) {
	var own string
	over := false
	defer func() {
		if p := recover(); p != nil {
			// The panic is that of a bubble in which goroutines are blocked.
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
