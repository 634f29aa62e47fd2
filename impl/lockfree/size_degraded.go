//go:build degraded

package lockfree

import (
	"hash/maphash"
)

// With -tags degraded the rare paths are the common ones: blocks of two cells, a hash of
// four values, shares of two objects, early looks at the slots, and no more slots in the
// first block than GOMAXPROCS asks for.
const (
	blockShift          = 1
	minShare            = 2
	minReclaimThreshold = 4
	minSlots            = 1
)

func hashOf(seed maphash.Seed, key string) uint64 { return maphash.String(seed, key) & 3 << 62 }
