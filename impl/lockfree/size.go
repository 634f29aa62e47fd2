//go:build !degraded

package lockfree

import "hash/maphash"

// chunkShift is the binary logarithm of how many objects a full chunk holds.
const chunkShift = 4

// hashOf spreads keys over a table.
func hashOf(seed maphash.Seed, key string) uint64 { return maphash.String(seed, key) }
