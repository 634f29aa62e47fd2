//go:build !degraded

package lockfree

import "hash/maphash"

// blockShift is the binary logarithm of how many cells a full block has.
const blockShift = 8

// leastShare is of how many objects Replace gives a goroutine a share.
const leastShare = 4096

// hashOf spreads keys over a table.
func hashOf(seed maphash.Seed, key string) uint64 { return maphash.String(seed, key) }
