//go:build degraded

package delay

import "hash/maphash"

// With -tags degraded the rare paths are the common ones: segments of sixteen, and a hash that tells
// few items apart.
const (
	segmentBits = 4
	maxDepth    = 6
)

func tagOf[T comparable](seed maphash.Seed, item T) uint32 {
	return uint32(maphash.Comparable(seed, item)>>32) & 0xfc0003ff
}
