//go:build degraded

package lockfree

import "hash/maphash"

// With -tags degraded the rare paths are the common ones: blocks of two, a hash
// that tells few keys apart, and shares of two objects.
const (
	blockShift = 1
	leastShare = 2
)

func hashOf(seed maphash.Seed, key string) uint64 { return maphash.String(seed, key) & 3 << 62 }
