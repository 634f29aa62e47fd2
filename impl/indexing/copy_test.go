package indexing

import (
	"slices"
	"testing"
)

func TestCopyCopiesEachObject(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, objectsInPage - 1, objectsInPage, objectsInPage + 1, 1000} {
		src := make([]any, n)
		for i := range src {
			src[i] = i
		}
		dst := make([]any, n)
		if Copy(dst, src); !slices.Equal(dst, src) {
			t.Errorf("%d objects: %v", n, dst)
		}
	}
}
