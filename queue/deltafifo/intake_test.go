package deltafifo_test

// Coalescing and InOrder through their public methods.

import (
	"errors"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/deltafifo"
)

// TestIntakeReplaceIsAllOrNothing: a bad object leaves nothing behind, and HasSynced
// waits for a list that is good.
func TestIntakeReplaceIsAllOrNothing(t *testing.T) {
	t.Parallel()
	errBad := errors.New("bad object")
	transform := func(obj any) (any, error) {
		if obj == contract.ExplicitKey("bad") {
			return nil, errBad
		}
		return obj, nil
	}
	f := deltafifo.NewCoalescing(contract.FIFOConfig{}, deltafifo.Options{Transformer: transform})
	for _, list := range [][]any{
		{contract.ExplicitKey("a"), 42},
		{contract.ExplicitKey("a"), contract.ExplicitKey("bad")},
	} {
		err := f.Replace(list, "1")
		if !errors.As(err, new(contract.KeyError)) && !errors.Is(err, errBad) {
			t.Errorf("Replace(%v) returned %v", list, err)
		}
		if keys := f.ListKeys(); len(keys) > 0 || f.HasSynced() {
			t.Errorf("Replace(%v) failed, queued %v and left HasSynced %t", list, keys, f.HasSynced())
		}
	}
}

// TestReadingWaitsForWhatProcessDecides: a Delete came while process ran, and whether
// it waits depends on what process does.
func TestReadingWaitsForWhatProcessDecides(t *testing.T) {
	t.Parallel()
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	f := deltafifo.NewCoalescing(contract.FIFOConfig{KnownObjects: store}, deltafifo.Options{})
	obj := &metav1.ObjectMeta{Namespace: "ns", Name: "a"}
	if err := f.Add(obj); err != nil {
		t.Fatal(err)
	}
	waiting := make(chan []string)
	if _, err := f.Pop(func(any, bool) error {
		if err := f.Delete(obj); err != nil {
			return err
		}
		go func() { waiting <- f.ListKeys() }()
		return store.Add(obj)
	}); err != nil {
		t.Fatal(err)
	}
	if keys := <-waiting; len(keys) != 1 || keys[0] != "ns/a" {
		t.Errorf("after the addition of ns/a, during which its deletion came, %q wait", keys)
	}
}

// TestCustomKeys: keys that are no namespace/name are told apart all the same.
func TestCustomKeys(t *testing.T) {
	t.Parallel()
	keys := []string{"", "/", "a", "a/", "/a", "a/b", "a//b", "//a/b", "a/b/c", "b/c"}
	f := deltafifo.NewCoalescing(contract.FIFOConfig{KeyFunc: func(obj any) (string, error) {
		return obj.(string), nil
	}}, deltafifo.Options{})
	for range 2 {
		for _, key := range keys {
			if err := f.Update(key); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := fmt.Sprintf("%q", f.ListKeys()); got != fmt.Sprintf("%q", keys) {
		t.Errorf("the keys %s wait, want %q", got, keys)
	}
	for _, key := range keys {
		if item, exists, err := f.GetByKey(key); err != nil || !exists ||
			len(item.(contract.Deltas)) != 2 {
			t.Errorf("GetByKey(%q) gives %v, %t, %v; want two deltas", key, item, exists, err)
		}
	}
}

// TestKeysOfMetadata: the key without a string is that of MetaNamespaceKeyFunc, also
// where names hold slashes.
func TestKeysOfMetadata(t *testing.T) {
	t.Parallel()
	for _, o := range []metav1.ObjectMeta{
		{Namespace: "ns", Name: "a"}, {Name: "a"}, {Name: "ns/a"}, {Namespace: "ns", Name: "a/b"},
		{Namespace: "a/b", Name: "c"}, {Name: "/"}, {},
	} {
		f := deltafifo.NewCoalescing(contract.FIFOConfig{}, deltafifo.Options{})
		want, err := cache.MetaNamespaceKeyFunc(&o)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Add(&o), f.Update(contract.ExplicitKey(want)),
			f.Delete(contract.DeletedFinalStateUnknown{Key: want})); err != nil {
			t.Fatal(err)
		}
		keys := f.ListKeys()
		item, _, err := f.Get(&o)
		if deltas, _ := item.(contract.Deltas); err != nil || len(keys) != 1 || keys[0] != want ||
			len(deltas) != 3 {
			t.Errorf("%q/%q waits as %q with %d deltas, want %q with 3", o.Namespace, o.Name, keys,
				len(deltas), want)
		}
	}
}
