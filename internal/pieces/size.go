//go:build !degraded

package pieces

// pieceBits is the binary logarithm of how many elements a piece has. Pieces of pointers should
// have 32 KB or more: the runtime adds a header to smaller ones, and rounds their size up, which
// cost a tenth.
const pieceBits = 11
