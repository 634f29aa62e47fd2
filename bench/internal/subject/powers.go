package subject

import "github.com/informerbench/informerbench/bench/internal/engine"

// The powers that subjects have beyond engine.Subject.
var (
	_ engine.Leaver  = (*fifoSubject)(nil)
	_ engine.Leaver  = (*delaySubject)(nil)
	_ engine.Leaver  = (*queueSubject)(nil)
	_ engine.Leaver  = (*Informer)(nil)
	_ engine.Quieter = (*Informer)(nil)
	_ engine.Leaver  = (*sourced)(nil)
)
