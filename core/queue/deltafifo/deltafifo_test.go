package deltafifo_test

import (
	"errors"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/core/contract"
	"github.com/informerbench/informerbench/core/queue/deltafifo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestReplaceIsAllOrNothing: client-go queues what comes before the bad object.
func TestReplaceIsAllOrNothing(t *testing.T) {
	t.Parallel()
	errBad := errors.New("bad object")
	f := deltafifo.New(contract.FIFOConfig{}, deltafifo.Options{Transformer: func(obj any) (any, error) {
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
	f := deltafifo.New(contract.FIFOConfig{}, deltafifo.Options{
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

// TestHasSyncedInProcess: process may ask, and the answer is still no.
func TestHasSyncedInProcess(t *testing.T) {
	t.Parallel()
	f := deltafifo.New(contract.FIFOConfig{}, deltafifo.Options{Name: "pods"})
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
