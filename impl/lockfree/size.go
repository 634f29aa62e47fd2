//go:build !degraded

package lockfree

import (
	"hash/maphash"

	"github.com/informerbench/informerbench/internal/explore"
)

// blockShift is the binary logarithm of how many cells a full block has.
const blockShift = 8

// minShare is the smallest number of objects worth a goroutine in Replace.
const minShare = 4096

// minSlots is the smallest number of slots in the first block.
const minSlots = 4

// minReclaimThreshold is the smallest number of versions and stand-ins between two looks at
// the slots beside an open snapshot.
const minReclaimThreshold = 64

// hashOf spreads keys over a table.
func hashOf(seed maphash.Seed, key string) uint64 { return explore.Hash(seed, key) }
