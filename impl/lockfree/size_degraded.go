//go:build degraded

package lockfree

import (
	"hash/maphash"

	"github.com/informerbench/informerbench/internal/explore"
)

// With -tags degraded the rare paths are the common ones: blocks of two, a hash
// that tells few keys apart, shares of two objects, early looks at the slots, and slots for few readers.
const (
	blockShift          = 1
	minShare            = 2
	minReclaimThreshold = 4
	minSlots            = 1
)

func hashOf(seed maphash.Seed, key string) uint64 { return explore.Hash(seed, key) & 3 << 62 }
