//go:build !linux

package storetest

import "time"

var start = time.Now()

// processorTime returns the wall time: the processor time of one thread is not available
// here.
func processorTime() time.Duration { return time.Since(start) }
