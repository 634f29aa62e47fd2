//go:build race

package delay

type work struct{ steps uint64 }

func (w *work) did(n int) { w.steps += uint64(n) }
