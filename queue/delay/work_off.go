//go:build !race

package delay

// counting says whether work is counted.
const counting = false

// work counts the steps that operations take, under the race detector; here it is
// nothing and costs nothing. It stands first in a struct: a
// last field without a size would take a word.
type work struct{}

func (*work) did(int)       {}
func (*work) count() uint64 { return 0 }
