package suite

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// T is the part of testing.T that cases need. It satisfies rapid.TB. Any goroutine may call
// Errorf and Logf; only the case's own goroutine may call FailNow, Fatalf and Skipf.
type T struct {
	name  string
	cfg   Config
	watch *Watch

	mu struct {
		sync.Mutex
		failed, skipped bool
		skipReason      string
		text, notes     strings.Builder
		cleanups        []func()
	}
}

var _ rapid.TB = (*T)(nil)

func newT(name string, cfg Config) *T { return &T{name: name, cfg: cfg} }

// Config returns the settings that the suite's options made.
func (t *T) Config() Config { return t.cfg }

// Needs returns impl as an I, and skips the case if it is none.
func Needs[I any](t *T, impl any) I {
	i, ok := impl.(I)
	if !ok {
		t.Skipf("%T is no %s", impl, reflect.TypeFor[I]())
	}
	return i
}

// Rand returns the case's own source of random choices: the same seed and the same case
// give the same choices.
func (t *T) Rand() *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(t.name))
	return rand.New(rand.NewPCG(t.cfg.Seed, h.Sum64()))
}

// Scale returns n times the configured effort, at least 1.
func (t *T) Scale(n int) int { return max(1, int(float64(n)*t.cfg.Effort)) }

// ScaleSize is Scale for what a case holds at once, such as items in a queue. It returns a million
// at most: more effort is to repeat more, and to need no more memory.
func (t *T) ScaleSize(n int) int { return min(t.Scale(n), 1_000_000) }

// ScaleTime returns d times the configured effort.
func (t *T) ScaleTime(d time.Duration) time.Duration {
	return time.Duration(float64(d) * t.cfg.Effort)
}

// Name returns "clause/case".
func (t *T) Name() string { return t.name }

// Helper does nothing; rapid.TB requires it.
func (t *T) Helper() {}

// Logf adds a line to the text that is printed if the case fails.
func (t *T) Logf(format string, args ...any) { t.write(fmt.Sprintf(format, args...)) }

// Log is Logf with fmt.Sprintln's format.
func (t *T) Log(args ...any) { t.write(fmt.Sprintln(args...)) }

// Notef adds a line to Result.Note, such as the number of histories that the case tried.
// Unlike Logf's lines, notes are kept if the case passes.
func (t *T) Notef(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(&t.mu.notes, format+"\n", args...)
}

// Errorf marks the case failed and goes on.
func (t *T) Errorf(format string, args ...any) {
	t.write(rapidsAdvice.ReplaceAllString(fmt.Sprintf(format, args...), ""))
	t.Fail()
}

// longLine matches a line of more than 500 characters, in three parts.
var longLine = regexp.MustCompile(`(?m)^(.{300})(.{101,})(.{100})$`)

// rapidsAdvice is what rapid says of how to repeat a failure: by a flag that Random sets,
// and by a name that is none of a test. [Failure.Error] says how.
var rapidsAdvice = regexp.MustCompile(`(?m)^To (try to )?reproduce, specify -run=.*\n`)

// Error is Errorf with fmt.Sprintln's format.
func (t *T) Error(args ...any) { t.write(fmt.Sprintln(args...)); t.Fail() }

// Fatalf marks the case failed and ends it.
func (t *T) Fatalf(format string, args ...any) { t.Errorf(format, args...); runtime.Goexit() }

// Fatal is Fatalf with the defaults' format.
func (t *T) Fatal(args ...any) { t.Error(args...); runtime.Goexit() }

// Fail marks the case failed.
func (t *T) Fail() {
	if t.watch != nil && t.HasStalled() {
		t.watch.noticed.Store(ownID(), true)
	}
	t.setFailed()
}

func (t *T) setFailed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.failed = true
}

// FailNow marks the case failed and ends it.
func (t *T) FailNow() { t.Fail(); runtime.Goexit() }

// Failed reports whether the case is marked failed.
func (t *T) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mu.failed
}

// Skipf ends the case as not applicable. The reason is printed, unless the case fails after
// all, for example because it leaves a goroutine behind.
func (t *T) Skipf(format string, args ...any) { t.skip(fmt.Sprintf(format, args...)) }

// Skip is Skipf with fmt.Sprint's format.
func (t *T) Skip(args ...any) { t.skip(fmt.Sprint(args...)) }

// SkipNow ends the case as not applicable.
func (t *T) SkipNow() { t.skip("") }

func (t *T) skip(reason string) {
	t.mu.Lock()
	t.mu.skipped, t.mu.skipReason = true, reason
	t.mu.Unlock()
	runtime.Goexit()
}

// Cleanup calls f when the case has ended. The last function added runs first.
func (t *T) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.cleanups = append(t.mu.cleanups, f)
}

// Progress notes that the case has advanced; see Watch.Progress.
func (t *T) Progress() { t.watch.Progress() }

// Join makes the calling goroutine one of the case's; see Watch.Join.
func (t *T) Join() { t.watch.Join() }

// Patience is how long the case may go without progress.
func (t *T) Patience() time.Duration { return t.watch.Patience() }

// Stalled returns a channel that is closed when the case has stalled; see Watch.Stalled.
func (t *T) Stalled() <-chan struct{} { return t.watch.Stalled() }

// HasStalled reports whether Stalled is closed. Goroutines in bubbles poll it.
func (t *T) HasStalled() bool {
	select {
	case <-t.watch.Stalled():
		return true
	default:
		return false
	}
}

// Together runs the functions at once, each on a goroutine of its own, and waits for all. A
// panic in one fails the case instead of ending the process. They may call Errorf but not
// Fatalf.
func (t *T) Together(functions ...func()) {
	var wg sync.WaitGroup
	for _, f := range functions {
		wg.Go(func() {
			defer t.recoverPanic()
			f()
		})
	}
	wg.Wait()
}

// OthersWait reports whether every goroutine of the case but the caller's waits until another
// goroutine, a timer's channel or an external event wakes it. One that polls never does, whether or
// not it sleeps between its looks. It stops the process for some ten microseconds for each of its
// goroutines.
func (t *T) OthersWait() bool {
	members, whole := t.watch.members.look()
	me := ownID()
	return whole && !slices.ContainsFunc(members, func(g goroutine) bool {
		return g.id != me && (!g.waits() || g.state == "sleep")
	})
}

// Eventually polls cond until it holds, and calls nudge (if not nil) between polls. It is
// for conditions that another goroutine must bring about. If the case stalls, Eventually
// fails it; what names the condition in the text.
func (t *T) Eventually(cond func() bool, nudge func(), what string) {
	for wait := 10 * time.Microsecond; !cond(); wait = min(2*wait, 5*time.Millisecond) {
		if t.HasStalled() {
			t.Fatalf("waited in vain until %s", what)
		}
		if nudge != nil {
			nudge()
		}
		time.Sleep(wait)
	}
	t.Progress()
}

// Random runs prop on many random inputs with the suite's seed, and shrinks an input that
// fails to a short history.
//
// rapid is configured by flags of the process. Random sets rapid.nofailfile for good, and others
// only while rapid reads them, so suites of any seeds and efforts may run at once. A program that
// calls rapid itself beside a suite may race with that.
func (t *T) Random(prop func(*rapid.T)) { t.RandomFew(mostRandom, prop) }

// shrinkTime is how long a failing input is shrunk: five seconds by default, less where the effort
// is below 1.
func (t *T) shrinkTime() time.Duration {
	return time.Duration(float64(t.cfg.CaseTimeout/12) * min(1, t.cfg.Effort))
}

// mostRandom is the number of random inputs at effort 1.
const mostRandom = 100

// RandomFew is Random on few inputs at effort 1, instead of 100, for inputs that take long.
func (t *T) RandomFew(few int, prop func(*rapid.T)) {
	readyRapid.Do(prepareRapid)
	checks := t.Scale(few)
	if testing.Short() {
		checks *= rapidsShort
	}
	// rapid reads its seed and number of inputs before it plays the first, and the time for shrinking
	// once an input has failed twice. It plays nothing between a flag's setting and its reading.
	var settings flagSettings
	defer settings.restore()
	settings.set(t, "rapid.seed", strconv.FormatUint(t.cfg.Seed, 10),
		"rapid.checks", strconv.Itoa(checks))
	rapid.Check(t, func(rt *rapid.T) {
		settings.restore()
		t.Progress()
		// A history that stalled is not shrunk: each shorter one would stall as long. The
		// Goexit replaces the panic by which rapid ends a history, so rapid's text is lost.
		// The text of the stall says where the history was.
		passed := false
		defer func() {
			if t.HasStalled() {
				t.FailNow()
			}
			if !passed {
				// Shrinking a history that hangs must end before the case's own bound, and a
				// suite of many cases that fail in good time; the less effort, the sooner.
				settings.set(t, "rapid.shrinktime", t.shrinkTime().String())
			}
		}()
		prop(rt)
		passed = true
	})
}

// rapidsShort is what rapid divides the number of inputs by under go test -short.
const rapidsShort = 5

var readyRapid sync.Once

// prepareRapid does what go test does before a test: rapid asks testing.Short, which panics without
// it in a program such as benchrun. Fail files would litter the folder that benchrun runs in; the
// seed and the shrunk history in the message repeat the failure.
func prepareRapid() {
	testing.Init()
	if !flag.Parsed() {
		// No arguments are given, so none can be wrong; the program may parse its own later.
		_ = flag.CommandLine.Parse(nil)
	}
	_ = flag.Set("rapid.nofailfile", "true")
}

// flagSettings are flags of the process that a case has set and will restore soon. All flagSettings
// share a lock, which is held from set to restore.
type flagSettings struct {
	held bool
	were []string // pairs of names and values
}

var flagLock sync.Mutex

// set restores what was set before and sets flags, given as pairs of names and values. It fails t
// if it can't.
func (f *flagSettings) set(t *T, pairs ...string) {
	f.restore()
	flagLock.Lock()
	f.held, f.were = true, f.were[:0]
	for pair := range slices.Chunk(pairs, 2) {
		known := flag.Lookup(pair[0])
		if known == nil {
			t.Fatalf("setting rapid's flags: it has none named %s", pair[0])
		}
		f.were = append(f.were, pair[0], known.Value.String())
		if err := flag.Set(pair[0], pair[1]); err != nil {
			t.Fatalf("setting rapid's flags: %v", err)
		}
	}
}

// restore sets the flags to what they were before set. Without a set before, it does nothing.
func (f *flagSettings) restore() {
	if !f.held {
		return
	}
	for pair := range slices.Chunk(f.were, 2) {
		_ = flag.Set(pair[0], pair[1]) // it had this value
	}
	f.held = false
	flagLock.Unlock()
}

func (t *T) write(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s = longLine.ReplaceAllStringFunc(strings.TrimRight(s, "\n"), func(line string) string {
		part := longLine.FindStringSubmatch(line)
		return fmt.Sprintf("%s ... (%d bytes more) ... %s", part[1], len(part[2]), part[3])
	})
	t.mu.text.WriteString(s)
	t.mu.text.WriteByte('\n')
}

func (t *T) verdict() (failed, skipped bool, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.skipped && !t.mu.failed {
		return false, true, t.mu.skipReason
	}
	return t.mu.failed, t.mu.skipped, t.mu.text.String()
}

func (t *T) note() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(t.mu.notes.String())
}

func (t *T) recoverPanic() {
	if p := recover(); p != nil {
		t.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}

func (t *T) runCleanups() {
	for {
		t.mu.Lock()
		n := len(t.mu.cleanups)
		if n == 0 {
			t.mu.Unlock()
			return
		}
		f := t.mu.cleanups[n-1]
		t.mu.cleanups = t.mu.cleanups[:n-1]
		t.mu.Unlock()
		func() {
			defer t.recoverPanic()
			f()
		}()
	}
}
