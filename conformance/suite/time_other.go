//go:build !unix && !windows

package suite

import "time"

var processStart = time.Now()

// processTime stands in for the processor time of this process where package syscall cannot
// read it. It returns the wall time since the start, which one processor could have
// offered.
func processTime() time.Duration { return time.Since(processStart) }
