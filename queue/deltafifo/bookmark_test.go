package deltafifo_test

import (
	"errors"
	"slices"
	"testing"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/deltafifo"
)

// TestBookmarks: a bookmark comes out alone, in its place, as from client-go's RealFIFO,
// counts for nothing of the initial list, and has no key that a Replace could delete.
func TestBookmarks(t *testing.T) {
	t.Parallel()
	for _, atomic := range []bool{false, true} {
		f := deltafifo.NewInOrder(
			contract.FIFOConfig{KnownObjects: cache.NewStore(cache.MetaNamespaceKeyFunc)},
			deltafifo.Options{Atomic: atomic, Bookmarks: true})
		key := func(s string) any { return contract.ExplicitKey(s) }
		steps := []error{
			f.Bookmark("1"), f.Replace([]any{key("a")}, "2"), f.Add(key("b")), f.Add(key("c")),
			f.Bookmark("3"),
			f.Replace([]any{key("a"), key("b"), key("c")}, "4"),
		}
		for _, err := range steps {
			if err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		record := func(d contract.Delta) {
			line := string(d.Type)
			if info, ok := d.Object.(cache.BookmarkInfo); ok {
				line += info.ResourceVersion
			}
			got = append(got, line)
		}
		f.Close()
		for {
			size := 0
			err := f.PopBatch(func(deltas []contract.Delta, _ bool) error {
				for _, d := range deltas {
					record(d)
				}
				size = len(deltas)
				return nil
			}, func(obj any, _ bool) error {
				record(obj.(contract.Deltas)[0])
				return nil
			})
			if err != nil {
				break
			}
			if size > 1 && got[len(got)-1] == "Bookmark3" {
				t.Errorf("atomic %t: a bookmark came in a batch of %d", atomic, size)
			}
		}
		want := []string{"Bookmark1", "Replaced", "Added", "Added", "Bookmark3", "Replaced", "Replaced",
			"Replaced"}
		if atomic {
			want = []string{"Bookmark1", "ReplacedAll", "Added", "Added", "Bookmark3", "ReplacedAll"}
		}
		if len(got) != len(want) {
			t.Fatalf("atomic %t: got %v, want %v", atomic, got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("atomic %t: got %v, want %v", atomic, got, want)
				break
			}
		}
		if !f.HasSynced() {
			t.Errorf("atomic %t: not synced", atomic)
		}
	}
	silent := deltafifo.NewInOrder(contract.FIFOConfig{}, deltafifo.Options{})
	if err := silent.Bookmark("1"); err != nil {
		t.Fatal(err)
	}
	silent.Close()
	if _, err := silent.Pop(func(any, bool) error {
		return nil
	}); err != contract.ErrFIFOClosed { //nolint:errorlint // it is this very error
		t.Errorf("without Bookmarks a bookmark was queued: %v", err)
	}
}

// Waiting shows what waits, in order, and takes nothing out.
func TestWaiting(t *testing.T) {
	t.Parallel()
	f := deltafifo.NewInOrder(contract.FIFOConfig{}, deltafifo.Options{Atomic: true, Bookmarks: true})
	a := contract.ExplicitKey("a")
	if err := errors.Join(f.Replace([]any{a}, "1"), f.Add(a), f.Bookmark("2"),
		f.Delete(a)); err != nil {
		t.Fatal(err)
	}
	want := []contract.DeltaType{contract.ReplacedAll, contract.Added, contract.Bookmark,
		contract.Deleted}
	for range 2 {
		var got []contract.DeltaType
		for _, d := range f.Waiting() {
			got = append(got, d.Type)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v wait, want %v", got, want)
		}
	}
}
