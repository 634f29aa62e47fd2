//go:build race && !degraded

package delay

// Steps is how many steps the operations have taken so far. The method is there under the
// race detector alone, for tests of the cost; a table with the hash of -tags degraded
// promises nothing of it.
func (h *QuadHeap[T]) Steps() uint64 { return h.items.index.count() + h.order.count() }

func (w *work) count() uint64 { return w.steps }
