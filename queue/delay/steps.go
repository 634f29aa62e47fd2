//go:build race && !degraded

package delay

// Steps is how many steps the operations have taken so far. The method is there under the
// race detector alone, for tests of the cost; a table with the hash of -tags degraded
// promises nothing of it.
func (h *QuadHeap[T]) Steps() uint64 { return h.items.index.count() + h.order.count() }

// Steps is QuadHeap's.
func (w *Wheel[T]) Steps() uint64 {
	return w.items.index.count() + w.aside.count() + w.wheels.count()
}

func (w *work) count() uint64 { return w.steps }
