//go:build !degraded

package lockfree

import "hash/maphash"

// blockShift is the binary logarithm of how many cells a full block has.
const blockShift = 8

// hashOf spreads keys over a table.
func hashOf(seed maphash.Seed, key string) uint64 { return maphash.String(seed, key) }
