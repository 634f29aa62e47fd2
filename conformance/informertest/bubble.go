package informertest

import (
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// inBubble runs f in a bubble of its own and returns what it panicked with, or that
// it waits for ever, as failed, and the stacks of the goroutines that it left behind.
//
// synctest.Test wants a testing.T but looks at nothing in it as long as nothing fails
// by it, so a new one will do, and bubbles exist outside go test too. f runs on a
// goroutine of its own because it may end itself (suite.T.Fatalf does).
func inBubble(f func()) (failed, left string) {
	// A bubble that its suite gives up goes on, and what panics in it must not end the process.
	defer calm()()
	var bubble string
	over := false
	defer func() {
		if p := recover(); p != nil {
			// The panic is that of a bubble in which goroutines are blocked.
			left = stacks(func(state string) bool { return bubble != "" && strings.HasSuffix(state, bubble+"]:") })
			if !over {
				failed = fmt.Sprintf("%v\n%s", p, left)
			}
		}
	}()
	synctest.Test(new(testing.T), func(*testing.T) {
		bubble = ownBubble()
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
	return failed, left
}

var bubbleName = regexp.MustCompile(`synctest bubble \d+`)

// ownBubble is the name of this goroutine's bubble as stacks quote it.
func ownBubble() string {
	first := make([]byte, 96)
	return string(bubbleName.Find(first[:runtime.Stack(first, false)]))
}

// waitsForLock says, by the first line of its stack, that a goroutine of a bubble waits
// for a lock.
func waitsForLock(state string) bool {
	return strings.Contains(state, "synctest bubble") && strings.Contains(state, "[sync.") && strings.Contains(state, "Lock")
}

// stacks returns the stacks of the goroutines that are chosen by the first line, which
// tells their state, cut to what a person reads.
func stacks(chosen func(state string) bool) string {
	all := make([]byte, 1<<20)
	var out []string
	for _, g := range strings.Split(string(all[:runtime.Stack(all, true)]), "\n\n") {
		if state, _, _ := strings.Cut(g, "\n"); chosen(state) {
			out = append(out, g)
		}
	}
	if len(out) > 4 {
		out = append(out[:4], fmt.Sprintf("and %d more", len(out)-4))
	}
	return strings.Join(out, "\n\n")
}

var calmed struct {
	sync.Mutex
	users    int
	crash    bool
	handlers []utilruntime.ErrorHandler
}

// calm sets what Kubernetes' code does on panics and errors, for as long as one suite or
// bubble runs. It returns what ends it.
func calm() (end func()) {
	c := &calmed
	c.Lock()
	defer c.Unlock()
	if c.users++; c.users == 1 {
		c.crash, c.handlers = utilruntime.ReallyCrash, utilruntime.ErrorHandlers
		utilruntime.ReallyCrash, utilruntime.ErrorHandlers = false, nil
	}
	return func() {
		c.Lock()
		defer c.Unlock()
		if c.users--; c.users == 0 {
			utilruntime.ReallyCrash, utilruntime.ErrorHandlers = c.crash, c.handlers
		}
	}
}
