//go:build !degraded

package lockfree

import (
	"hash/maphash"

	"github.com/informerbench/informerbench/internal/explore"
)

// blockShift is the binary logarithm of how many cells a full block has.
const blockShift = 8

// leastShare is of how many objects Replace gives a goroutine a share.
const leastShare = 4096

// leastSlots is the smallest number of slots in the first block.
const leastSlots = 4

// leastPatience is the smallest number of versions and stand-ins between two looks at
// the slots beside an open snapshot.
const leastPatience = 64

// hashOf spreads keys over a table.
func hashOf(seed maphash.Seed, key string) uint64 { return explore.Hash(seed, key) }
