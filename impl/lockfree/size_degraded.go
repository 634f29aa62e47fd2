//go:build degraded

package lockfree

import "hash/maphash"

// With -tags degraded the rare paths are the common ones: blocks of two, and a hash
// that tells few keys apart.
const blockShift = 1

func hashOf(seed maphash.Seed, key string) uint64 { return maphash.String(seed, key) & 3 << 62 }
