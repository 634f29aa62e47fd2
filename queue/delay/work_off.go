//go:build !race

package delay

// work counts the steps of operations under the race detector; in other builds it has no
// size and no cost. It stands first in a struct, because a last field without a size would
// take a word.
type work struct{}

func (*work) did(int) {}
