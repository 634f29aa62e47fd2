//go:build race

package delay

const counting = true

type work struct{ steps uint64 }

func (w *work) did(n int)     { w.steps += uint64(n) }
func (w *work) count() uint64 { return w.steps }
