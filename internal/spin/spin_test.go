package spin

import (
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestForEndsWithSuccessOrTheTries(t *testing.T) {
	t.Parallel()
	const tries = 5
	for succeeds := 1; succeeds <= tries+1; succeeds++ {
		calls := 0
		got := Wait{Tries: tries, Pause: 3}.For(func() bool {
			calls++
			return calls == succeeds
		})
		if want := succeeds <= tries; got != want || calls != min(succeeds, tries) {
			t.Errorf("succeeding at try %d: %v after %d calls, want %v after %d", succeeds, got, calls, want,
				min(succeeds, tries))
		}
	}
}

// A goroutine that is ready to run gets the lock while another yields, and the yielding one
// has it again afterwards.
func TestYieldReleasesTheLock(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	brought := false
	mu.Lock()
	defer mu.Unlock()
	var done sync.WaitGroup
	done.Go(func() {
		mu.Lock()
		defer mu.Unlock()
		brought = true
	})
	var y Yielder
	for !brought {
		y.Yield(&mu)
	}
	if mu.TryLock() {
		t.Error("Yield returned without the lock")
	}
	mu.Unlock()
	done.Wait()
	mu.Lock()
}

// After a long yield the next sleeps have none, twice as many after each further one; a short one
// ends that.
func TestLongYieldsBecomeRare(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	mu.Lock()
	defer mu.Unlock()
	var y Yielder
	skipped := func() (n int) {
		for ; y.skip > 0; n++ {
			if y.Yield(&mu) {
				t.Fatal("it yielded, and was to skip")
			}
		}
		return n
	}
	for want := fewSkips; want <= mostSkips; want *= 2 {
		y.note(longYield)
		if got := skipped(); got != want {
			t.Fatalf("%d sleeps without a yield, want %d", got, want)
		}
	}
	y.note(longYield)
	if got := skipped(); got != mostSkips {
		t.Errorf("%d sleeps without a yield, want %d at most", got, mostSkips)
	}
	y.note(longYield - 1)
	if y.note(longYield); skipped() != fewSkips {
		t.Error("a short yield is not the end of long ones")
	}
}

func TestForAllocatesNothing(t *testing.T) {
	var mu sync.Mutex
	mu.Lock()
	wait := Wait{Tries: 3}
	if got := testing.AllocsPerRun(100, func() {
		if wait.For(mu.TryLock) {
			t.Error("a taken lock was taken")
		}
	}); got != 0 {
		t.Errorf("%g allocations, want 0", got)
	}
}
