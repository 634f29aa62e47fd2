package suite

import (
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// goroutine is the record of one goroutine in a dump of the process.
type goroutine struct {
	id, creator int64  // creator is 0 if the dump names none
	state       string // such as "chan receive" or "sync.Mutex.Lock"
	durable     bool   // it waits durably, in a synctest bubble
	bubble      string // such as "synctest bubble 3"; "" outside bubbles
	text        string
}

// busyStates are the states of goroutines that run, are runnable, or wait for the runtime
// itself and not for another goroutine. A state that begins with one of them is busy.
var busyStates = []string{
	"running", "runnable", "syscall", "preempted", "copystack", "idle", "dead", "GC ",
	"garbage collection", "wait for GC", "stopping the world",
	"flushing proc caches", "debug call",
}

// waits reports whether the goroutine is blocked until another goroutine, a timer or an
// external event lets it continue.
func (g goroutine) waits() bool {
	for _, busy := range busyStates {
		if strings.HasPrefix(g.state, busy) {
			return false
		}
	}
	return g.state != "semacquire" || semaphoreLine.MatchString(g.text)
}

// semaphoreLine matches a goroutine whose innermost function is in package sync or in an
// internal package: it waits for a semaphore of that package. Any other goroutine in the
// state semacquire waits for the runtime: an allocation that starts a collection, for
// example, waits while the world is stopped. When many suites stop the world for their
// dumps on a busy machine, that takes seconds.
var semaphoreLine = regexp.MustCompile(`^goroutine .*\n(?:sync|internal/[a-z]+)\.`)

// allWait reports whether every member waits. Without members it reports false.
func allWait(members []goroutine) bool {
	for _, g := range members {
		if !g.waits() {
			return false
		}
	}
	return len(members) > 0
}

// headLine matches "goroutine 18 [chan receive (durable), 2 minutes, synctest bubble 3]:".
var headLine = regexp.MustCompile(`^goroutine (\d+)(?: [^\[]*)? \[([^\]]*)\]:`)

// parseGoroutine reads one record of a dump.
func parseGoroutine(text string) (g goroutine, ok bool) {
	head := headLine.FindStringSubmatch(text)
	if head == nil {
		return g, false
	}
	g.text = text
	g.id, _ = strconv.ParseInt(head[1], 10, 64)
	parts := strings.Split(head[2], ", ")
	g.state, g.durable = strings.CutSuffix(parts[0], " (durable)")
	for _, part := range parts[1:] {
		if strings.HasPrefix(part, "synctest bubble") {
			g.bubble = part
		}
	}
	// "created by main.start in goroutine 7", found without a regular expression: stacks are long.
	_, made, _ := strings.Cut(text, "\ncreated by ")
	made, _, _ = strings.Cut(made, "\n")
	_, creator, _ := strings.Cut(made, " in goroutine ")
	g.creator, _ = strconv.ParseInt(creator, 10, 64)
	return g, true
}

// dump returns the goroutines of the process. whole is false if the dump was cut at 64 MiB,
// the text of some 100,000 goroutines.
func dump() (all []goroutine, whole bool) {
	const most = 64 << 20
	buf := make([]byte, 256<<10)
	for {
		n := runtime.Stack(buf, true)
		if whole = n < len(buf); whole || len(buf) >= most {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 4*len(buf))
	}
	for _, text := range strings.Split(strings.TrimSpace(string(buf)), "\n\n") {
		if g, ok := parseGoroutine(text); ok {
			all = append(all, g)
		}
	}
	return all, whole
}

// ownID returns the id of the calling goroutine, and ownBubble the name of its bubble.
func ownID() int64 { return own().id }

func ownBubble() string { return own().bubble }

func own() goroutine {
	buf := make([]byte, 128)
	g, _ := parseGoroutine(string(buf[:runtime.Stack(buf, false)]))
	return g
}

// family is a set of goroutines: those that were added, and their descendants. It remembers
// goroutines that have ended, because their children name them. It misses a goroutine whose
// parent was born and ended between two looks, unless the goroutine was added or is in a
// bubble of the family. add may be called while another goroutine looks.
type family struct {
	mu  sync.Mutex
	ids map[int64]bool
}

func (f *family) add(id int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ids == nil {
		f.ids = map[int64]bool{}
	}
	f.ids[id] = true
}

// look returns the live goroutines of the family, and whether the dump that it read was
// whole.
func (f *family) look() (members []goroutine, whole bool) {
	all, whole := dump()
	f.mu.Lock()
	defer f.mu.Unlock()
	bubbles := map[string]bool{}
	for grown := true; grown; {
		grown = false
		for _, g := range all {
			if !f.ids[g.id] && (f.ids[g.creator] || g.bubble != "" && bubbles[g.bubble]) {
				f.ids[g.id], grown = true, true
			}
			if f.ids[g.id] && g.bubble != "" && !bubbles[g.bubble] {
				bubbles[g.bubble], grown = true, true
			}
		}
	}
	for _, g := range all {
		if f.ids[g.id] {
			members = append(members, g)
		}
	}
	return members, whole
}

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
