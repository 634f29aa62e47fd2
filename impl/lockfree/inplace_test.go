package lockfree

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"weak"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informerbench/informerbench/contract"
)

// An Update makes a version exactly if a snapshot is open, something waits for one that was, an
// index value changes, or the object is of another type than the store's first one.
func TestWhenAnUpdateIsInPlace(t *testing.T) {
	t.Parallel()
	type other thing
	s := New(contract.Indexers{"group": func(obj any) ([]string, error) {
		if o, is := obj.(other); is {
			return []string{o.group}, nil
		}
		return byGroup(obj)
	}})
	s.Add("7", thing{0, "g1"})
	s.Add("8", thing{0, "g1"})
	v := s.view.Load()
	// made reports whether the last write made a version, which is the newest one or was retired.
	made := func() bool {
		_, e := v.keys.find(v.keys.word("7"), "7")
		return e.record().newest.Load() != nil || len(v.write.spares.versions.retired) > 0
	}
	var open *slot
	for _, step := range []struct {
		name    string
		before  func()
		obj     any
		inPlace bool
	}{
		{"nobody reads", func() {}, thing{1, "g1"}, true},
		{"a snapshot is open", func() {
			open, _ = v.readers.acquire(&v.committed)
		}, thing{2, "g1"}, false},
		{"the version before waits for the next write", func() {
			open.release(0)
		}, thing{3, "g1"}, false},
		{"nobody reads again", func() {}, thing{4, "g1"}, true},
		{"another group", func() {}, thing{5, "g2"}, false},
		{"the same group", func() {}, thing{6, "g2"}, true},
		{"another type", func() {}, other{7, "g2"}, false},
		{"that type again", func() {}, other{8, "g2"}, false},
		{"the first type again", func() {}, thing{9, "g2"}, false},
		{"and again", func() {}, thing{10, "g2"}, true},
	} {
		step.before()
		s.Update("7", step.obj)
		if inPlace := !made(); inPlace != step.inPlace {
			t.Errorf("%s: an Update in place is %v, want %v", step.name, inPlace, step.inPlace)
		}
		if got, _ := s.Get("7"); got != step.obj {
			t.Errorf("%s: Get returns %v, want %v", step.name, got, step.obj)
		}
		if list := s.List(); !slices.Contains(list, step.obj) {
			t.Errorf("%s: List does not return %v", step.name, step.obj)
		}
	}
}

// Writes in place leave few blocks without a copy, which lists go through object by object, and
// none after a list has met one.
func TestFewBlocksWaitForACommit(t *testing.T) {
	inOneGoroutine(t)
	t.Parallel()
	s := storeOf(30_000)
	v := s.view.Load()
	blocks := *v.objects.copies.blocks.Load()
	waiting := func() (n int) {
		for _, b := range blocks {
			if b.touched.Load() > v.core.committed.Load() {
				n++
			}
		}
		return n
	}
	for i := range 30_000 {
		s.Update(fmt.Sprint(i*7_919%30_000), &apple{n: i})
		if i%100 == 0 && waiting() > mostWaiting {
			t.Fatalf("%d of %d blocks wait for a commit", waiting(), len(blocks))
		}
	}
	s.Update("1", &apple{})
	s.Update("29999", &apple{})
	s.List()
	s.Update("2", &apple{})
	if n := waiting(); n > 0 {
		t.Errorf("%d blocks wait for a commit, though a list has met one", n)
	}
}

// Neither entries nor versions nor the resource version keep an object that an Update in place
// has replaced, or that was deleted after it.
func TestWritesInPlaceForgetObjects(t *testing.T) {
	t.Parallel()
	const n = 50
	s := New(nil)
	var gone []weak.Pointer[unstructured.Unstructured]
	object := func(version int) any {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetResourceVersion(fmt.Sprint(version))
		gone = append(gone, weak.Make(o))
		return o
	}
	func() { // whose frame holds the objects no longer
		for round := range 3 {
			for i := range n {
				s.Update(fmt.Sprint(i), object(round*n+i))
			}
		}
		for i := range n {
			s.Delete(fmt.Sprint(i))
		}
	}()
	kept := alive(gone)
	if kept > 1 { // a register or a stack may hold one
		t.Errorf("%d of %d objects are kept", kept, len(gone))
	}
	if got, want := s.LastStoreSyncResourceVersion(), fmt.Sprint(3*n-1); got != want {
		t.Errorf("the resource version is %s, want %s", got, want)
	}
	runtime.KeepAlive(s)
}
