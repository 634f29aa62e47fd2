//go:build !linux

package storetest

import "time"

var start = time.Now()

// processorTime returns the time on the clock: the time of one thread is not to be had here.
func processorTime() time.Duration { return time.Since(start) }
