//go:build !degraded

package pieces

// pieceBits is the binary logarithm of how many elements a piece has: 24 KB of what a queue keeps
// of an item, 8 KB of what a heap does.
const pieceBits = 9
