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
	for !brought {
		Yield(&mu)
	}
	if mu.TryLock() {
		t.Error("Yield returned without the lock")
	}
	mu.Unlock()
	done.Wait()
	mu.Lock()
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
