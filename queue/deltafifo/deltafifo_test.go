package deltafifo_test

import (
	"errors"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/deltafifo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestReplaceIsAllOrNothing: client-go queues what comes before the bad object.
func TestReplaceIsAllOrNothing(t *testing.T) {
	t.Parallel()
	errBad := errors.New("bad object")
	f := deltafifo.NewCoalescing(contract.FIFOConfig{},
		deltafifo.Options{Transformer: func(obj any) (any, error) {
			if obj == contract.ExplicitKey("bad") {
				return nil, errBad
			}
			return obj, nil
		}})
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

// TestSyncOnReplace: consumers older than Replaced get Sync deltas, which are
// transformed all the same.
func TestSyncOnReplace(t *testing.T) {
	t.Parallel()
	f := deltafifo.NewCoalescing(contract.FIFOConfig{}, deltafifo.Options{
		SyncOnReplace: true,
		Transformer:   func(any) (any, error) { return contract.ExplicitKey("transformed"), nil },
	})
	if err := f.Replace([]any{contract.ExplicitKey("a")}, "1"); err != nil {
		t.Fatal(err)
	}
	item, err := f.Pop(func(any, bool) error { return nil })
	want := contract.Delta{Type: contract.Sync, Object: contract.ExplicitKey("transformed")}
	if deltas := item.(contract.Deltas); err != nil || len(deltas) != 1 || deltas[0] != want {
		t.Fatalf("Pop gave %v, %v; want %v", item, err, want)
	}
}

// failingOnce is a KnownObjects whose first ListKeys panics.
type failingOnce struct {
	cache.KeyListerGetter
	failed bool
}

// ListKeys is part of cache.KeyLister.
func (k *failingOnce) ListKeys() []string {
	if !k.failed {
		k.failed = true
		panic("KnownObjects fails")
	}
	return k.KeyListerGetter.ListKeys()
}

// TestKnownObjectsPanics: the panic ends the call, and leaves no lock behind. The Replace comes
// while process runs, so it takes effect, and asks KnownObjects, when the call of Pop ends.
func TestKnownObjectsPanics(t *testing.T) {
	t.Parallel()
	for name, pop := range map[string]func(f *deltafifo.Coalescing, process func()) error{
		"Pop": func(f *deltafifo.Coalescing, process func()) error {
			_, err := f.Pop(func(any, bool) error { process(); return nil })
			return err
		},
		"PopBatch": func(f *deltafifo.Coalescing, process func()) error {
			return f.PopBatch(
				func([]contract.Delta, bool) error { process(); return nil },
				func(any, bool) error { process(); return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known := &failingOnce{KeyListerGetter: cache.NewStore(cache.MetaNamespaceKeyFunc)}
			f := deltafifo.NewCoalescing(contract.FIFOConfig{KnownObjects: known}, deltafifo.Options{})
			if err := f.Add(contract.ExplicitKey("a")); err != nil {
				t.Fatal(err)
			}
			panicked := func() (p any) {
				defer func() { p = recover() }()
				return pop(f, func() {
					if err := f.Replace([]any{contract.ExplicitKey("b")}, "1"); err != nil {
						t.Error(err)
					}
				})
			}()
			if panicked != "KnownObjects fails" {
				t.Fatalf("the call ended with %v", panicked)
			}
			if err := pop(f, func() {}); err != nil {
				t.Fatal(err)
			}
			f.Close()
		})
	}
}

// TestHasSyncedInProcess: process may ask, and the answer is still no.
func TestHasSyncedInProcess(t *testing.T) {
	t.Parallel()
	f := deltafifo.NewCoalescing(contract.FIFOConfig{}, deltafifo.Options{Name: "pods"})
	if err := f.Replace([]any{contract.ExplicitKey("a")}, "1"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Pop(func(any, bool) error {
		if f.HasSynced() {
			return errors.New("HasSynced is true before process has returned")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if checker := f.HasSyncedChecker(); !cache.IsDone(checker) || checker.Name() != "pods" {
		t.Errorf("the checker %q is done: %t", checker.Name(), cache.IsDone(checker))
	}
}
