//go:build !degraded

package delay

import "hash/maphash"

const (
	// segmentBits is the binary logarithm of how many cells a segment of a table has.
	segmentBits = 10
	// maxDepth bounds how often a segment is split. Beyond, it grows: hashes that do
	// not differ would be split for ever.
	maxDepth = 20
)

// tagOf is the part of an item's hash that a table keeps.
func tagOf[T comparable](seed maphash.Seed, item T) uint32 {
	return uint32(maphash.Comparable(seed, item) >> 32)
}
