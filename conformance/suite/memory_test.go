package suite

import (
	"runtime"
	"sync"
	"testing"
)

// ebb lets go of a part of what it holds at each garbage collection, as a process does in
// which other suites end one after the other.
type ebb struct {
	mu    sync.Mutex
	on    bool
	parts [][]byte
}

func (e *ebb) collected(*[1 << 10]byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.parts) == 0 {
		return // all are gone, or the test has ended
	}
	if e.on {
		e.parts[len(e.parts)-1] = nil
		e.parts = e.parts[:len(e.parts)-1]
	}
	e.next()
}

// next makes an object whose collection calls collected.
func (e *ebb) next() { runtime.SetFinalizer(new([1 << 10]byte), e.collected) }

func (e *ebb) set(on bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.on = on
}

// end lets go of all parts. It reports whether there were any.
func (e *ebb) end() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	left := len(e.parts)
	e.parts = nil
	return left > 0
}

// What the rest of the process lets go of is not what an implementation keeps, and does not
// hide it.
func TestKeepsLessInAProcessThatShrinks(t *testing.T) {
	const part, limit, few, many = 256 << 10, 120_000, 7, 600
	e := &ebb{parts: make([][]byte, 1000)}
	for i := range e.parts {
		e.parts[i] = make([]byte, part)
	}
	e.next()
	defer func() {
		if !e.end() {
			t.Error("the process ceased to shrink before the end: let it hold more parts")
		}
	}()
	keeps := func(bytes int) bool {
		results, err := check(func(t *T, _ bool) {
			KeepsLess(t, limit, few, many, "%d calls", func(n int) []byte {
				e.set(n == many) // the worst case: the process is quiet while few are measured
				if n == few {
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
}
