package lockfree

import (
	"slices"
	"testing"
)

func TestCopyObjects(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, blockSize} {
		block := make([]any, n)
		for i := range block {
			block[i] = i
		}
		list := make([]any, n)
		if copyObjects(list, block); !slices.Equal(list, block) {
			t.Errorf("%d objects: %v", n, list)
		}
	}
}
