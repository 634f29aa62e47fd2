package suite

import (
	"runtime"
	"sync"
	"testing"
)

// ebb lets go of one part of what it holds at each garbage collection, as a process does
// in which other tests end one after the other.
type ebb struct {
	mu    sync.Mutex
	parts [][]byte
}

func (e *ebb) collected(*[1 << 10]byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.parts) == 0 {
		return
	}
	e.parts[0] = nil
	e.parts = e.parts[1:]
	e.next()
}

// next makes the object whose collection lets go of the next part.
func (e *ebb) next() {
	runtime.SetFinalizer(new([1 << 10]byte), e.collected)
}

// What the rest of the process lets go of meanwhile is not what an implementation keeps, and
// does not hide it.
func TestKeepsLessInAProcessThatShrinks(t *testing.T) {
	const part, limit = 256 << 10, 120_000
	e := &ebb{parts: make([][]byte, 1200)}
	for i := range e.parts {
		e.parts[i] = make([]byte, part)
	}
	e.next()
	keeps := func(bytes int) bool {
		results, err := check(func(t *T, _ bool) {
			KeepsLess(t, limit, 7, 600, "%d calls", func(n int) []byte {
				if n == 7 {
					return nil
				}
				return make([]byte, bytes)
			}, nil)
		}, false)
		t.Logf("%d bytes kept: %v", bytes, err)
		return results[0].Outcome == Fail
	}
	if keeps(1000) {
		t.Error("what keeps 1,000 bytes was accused")
	}
	if !keeps(8 * part) {
		t.Error("what keeps eight parts was not accused")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.parts) == 0 {
		t.Error("the process ceased to shrink before the end: let it hold more parts")
	}
}
