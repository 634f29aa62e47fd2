package lockfree

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"unsafe"
	"weak"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informerbench/informerbench/contract"
)

// A stand-in that was taken from its cell is used again when no reader can hold it, and
// not where one may.
func TestStandInsAreUsedAgainUnlessRead(t *testing.T) {
	t.Parallel()
	s := filled()
	v := s.view.Load()
	spares := &v.write.spares.standIns
	move := func(group string) { s.Update("7", thing{1, group}) }

	move("g1")
	first := slices.Clone(spares.retired)
	if len(first) == 0 || len(spares.free) > 0 {
		t.Fatalf("a move leaves %d stand-ins retired and %d free; want some and none", len(first),
			len(spares.free))
	}
	move("g2")
	if !slices.Equal(spares.free, first) {
		t.Error("the stand-ins are not free after a write that met no reader")
	}
	for _, n := range first {
		if n.of != nil || n.past() != nil {
			t.Error("a free stand-in keeps something alive")
		}
	}
	move("g3")
	for _, n := range spares.retired {
		if !slices.Contains(first, n) {
			t.Error("a stand-in was made though one was free")
		}
	}

	// A reader who came before the slots were looked at may have found them in the cells.
	held := slices.Clone(spares.retired)
	slot, _ := v.readers.acquire(&v.committed)
	wasSeq := held[0].seq
	move("g4")
	move("g5")
	slot.release(0)
	move("g6")
	move("g7")
	for _, n := range held {
		if n.seq != wasSeq || slices.Contains(spares.free, n) || slices.Contains(spares.retired, n) {
			t.Error("a stand-in that a reader may hold was used again")
		}
	}
	wantNothingKept(t, s)
}

// An emptied bucket is used for another value once no reader can hold it, and not before.
func TestBucketsAreUsedAgainUnlessRead(t *testing.T) {
	t.Parallel()
	s := filled()
	v := s.view.Load()
	spares := &v.write.spares.buckets
	move := func(group string) *bucket {
		s.Update("7", thing{1, group})
		return v.indexes[0].bucketAt(group, v.core.committed.Load())
	}

	first := move("alone1")
	second := move("alone2")
	if !slices.Equal(spares.retired, []*bucket{first}) {
		t.Fatal("the bucket of a value that is gone is not kept")
	}
	if third := move("alone3"); third == first || third == second {
		t.Error("a bucket was used again by the write after which it is free")
	}
	if fourth := move("alone4"); fourth != first {
		t.Error("a bucket was made though one was free")
	}
	if got := s.ListIndexFuncValues("group"); slices.Contains(got, "alone1") ||
		!slices.Contains(got, "alone4") {
		t.Errorf("the values are %q", got)
	}

	// A reader who came before the slots were looked at may have found it in the table.
	held := slices.Clone(spares.retired)
	if len(held) != 1 {
		t.Fatalf("%d buckets are retired, want one", len(held))
	}
	slot, _ := v.readers.acquire(&v.committed)
	for i := range 6 {
		if i == 3 {
			slot.release(0)
		}
		if move(fmt.Sprint("beside", i)) == held[0] {
			t.Errorf("write %d used a bucket again that a reader may hold", i)
		}
	}
	wantNothingKept(t, s)
}

// A bucket of many cells is not kept: the next value has one object.
func TestLargeBucketsAreNotKept(t *testing.T) {
	t.Parallel()
	s := New(contract.Indexers{"group": byGroup})
	for round := range 3 {
		for i := range mostSpareCells + 1 {
			s.Update(fmt.Sprint(i), thing{round, fmt.Sprint("g", round)})
		}
	}
	for i := range mostSpareCells + 1 {
		s.Delete(fmt.Sprint(i))
	}
	spares := s.view.Load().write.spares.buckets
	for _, b := range slices.Concat(spares.free, spares.retired) {
		if blocks := b.objects.blocks.Load(); capacity(*blocks) > mostSpareCells {
			t.Errorf("a bucket of %d cells is kept", capacity(*blocks))
		}
	}
}

// The first write that finds no snapshot open drops all that snapshots kept, also what only the
// versions lead to that it retires.
func TestVersionsThatRetireKeepNoOthers(t *testing.T) {
	t.Parallel()
	s := New(nil)
	object := func() any { return &unstructured.Unstructured{} }
	s.Add("k", object())
	s.Add("other", object())
	v := s.view.Load()
	slot, _ := v.readers.acquire(&v.committed)
	var gone []weak.Pointer[unstructured.Unstructured]
	func() { // whose frame holds the objects no longer
		for range 50 {
			o := &unstructured.Unstructured{}
			gone = append(gone, weak.Make(o))
			s.Update("k", o)
		}
	}()
	s.Update("k", object())
	slot.release(0)
	s.Update("other", object())        // the first write that finds no snapshot open
	if kept := alive(gone); kept > 1 { // a register or a stack may hold one
		t.Errorf("%d of %d former objects are kept", kept, len(gone))
	}
	runtime.KeepAlive(s)
}

// A bucket that is used again keeps no object of its former value, in whichever cell that lay.
func TestBucketsThatGrewForgetObjects(t *testing.T) {
	t.Parallel()
	b := newBucket()
	w := &write{seq: firstSeq}
	for range mostSpareCells {
		b.push(w, newRecord("k"), true)
	}
	first := &(*bucketWithCell)(unsafe.Pointer(b)).cells[0]
	if first.Load() == nil || first == b.objects.cell(0) {
		t.Fatal("the bucket did not grow out of its first cell, and there is nothing to test")
	}
	b.reset()
	if first.Load() != nil {
		t.Error("the first cell keeps a record")
	}
}
