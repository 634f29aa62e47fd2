//go:build degraded

package pieces

const pieceBits = 3 // with -tags degraded the ends of pieces are everywhere
