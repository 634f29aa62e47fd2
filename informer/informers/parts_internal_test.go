package informers

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/informer"
)

// An informer whose fields are not those of client-go's stays as it is.
func TestAnUnknownInformerStays(t *testing.T) {
	t.Parallel()
	type other struct{ cache.SharedIndexInformer }
	i := other{informer.New(&cache.ListWatch{}, &corev1.Pod{}, informer.Options{})}
	c := configured(nil)
	if _, ok := partsOf(i); ok || c.newInformer(i, time.Minute) != cache.SharedIndexInformer(i) {
		t.Error("it is replaced")
	}
	if _, ok := partsOf(other{}); ok {
		t.Error("nothing has parts")
	}
}
