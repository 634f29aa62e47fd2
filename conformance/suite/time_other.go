//go:build !unix && !windows

package suite

import "time"

var processStart = time.Now()

// processTime stands in for the processor time of this process where package syscall
// cannot read it: the time that one processor has offered.
func processTime() time.Duration { return time.Since(processStart) }
