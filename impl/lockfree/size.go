//go:build !degraded

package lockfree

import (
	"hash/maphash"
)

// blockShift is the binary logarithm of the number of cells in a full block.
const blockShift = 8

// minShare is the smallest number of objects worth a goroutine in Replace.
const minShare = 4096

// minSlots is the smallest number of slots in the first block.
const minSlots = 4

// minReclaimThreshold is the smallest reclaimThreshold: the number of versions and stand-ins
// that writes make beside an open snapshot before they reclaim again.
const minReclaimThreshold = 64

// hashOf returns the hash of a key in a table.
func hashOf(seed maphash.Seed, key string) uint64 { return maphash.String(seed, key) }
