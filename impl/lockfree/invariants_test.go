//go:build race || invariants

package lockfree

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/informerbench/informerbench/contract"
)

// worn returns a store in which every mechanism is at work: objects that came, moved and
// went beside an open snapshot, with two indexes, the second added meanwhile.
func worn(t *testing.T) *view {
	t.Helper()
	s := New(contract.Indexers{"group": byPointedGroup})
	write := func(i, round int) {
		s.Update(fmt.Sprint(i), &thing{round, fmt.Sprint("g", (i*7+round)%5)})
	}
	for i := range 60 {
		write(i, 0)
	}
	s.Delete("59")
	for i := range 10 {
		s.Update(fmt.Sprint(i), &thing{0, fmt.Sprint("alone", i)})
	}
	for i := range 10 {
		write(i, 0) // leaves free ids
	}
	write(1, 1) // and spares
	write(1, 2)
	for _, key := range []string{"pair0", "pair1"} {
		s.Update(key, &thing{0, "pair"})
	}
	v := s.view.Load()
	v.readers.acquire(&v.committed)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range 30 {
		write(rnd.IntN(60), i)
	}
	if err := s.AddIndexers(contract.Indexers{"added": byPointedGroup}); err != nil {
		t.Fatal(err)
	}
	s.Update("emptied", &thing{0, "only"})
	s.Delete("emptied")
	s.Delete("pair0") // leaves a stand-in in a bucket that is over then
	s.Delete("pair1")
	for _, key := range []string{"3", "4", "5"} {
		s.Delete(key)
	}
	s.List()
	s.List() // makes copies
	return s.view.Load()
}

func byPointedGroup(obj any) ([]string, error) { return []string{obj.(*thing).group}, nil }

// plants are functions that break a rule, one or more for each.
var plants = map[rule][]func(v *view){
	ruleUsed: {
		func(v *view) { v.objects.used.Store(v.objects.n - 1) },
		func(v *view) { v.objects.reserve(int(v.objects.used.Add(mostFree + 1))) },
	},
	ruleLength: {
		func(v *view) { v.objects.n-- },
		func(v *view) { v.objects.cell(0).Store(nil) },
	},
	ruleChain: {
		func(v *view) { changed(v).seq = v.core.committed.Load() + 1 },
		func(v *view) { s := changed(v); s.setPast(&s.record) },
		func(v *view) { s := changed(v); s.of = &s.record },
	},
	ruleSpare: {
		func(v *view) { v.write.spares.standIns.free = append(v.write.spares.standIns.free, changed(v)) },
		func(v *view) {
			v.write.spares.standIns.free = append(v.write.spares.standIns.free, &standIn{of: &record{}})
		},
		func(v *view) { s := &standIn{}; v.write.spares.standIns.retired = []*standIn{s, s} },
		func(v *view) { v.write.spares.buckets.retired = []*bucket{full(v)} },
		func(v *view) { b := newBucket(); v.write.spares.buckets.retired = []*bucket{b, b} },
		func(v *view) { v.write.spares.buckets.free = []*bucket{{later: full(v)}} },
		func(v *view) { v.write.spares.buckets.retired = []*bucket{{retired: true}} },
	},
	rulePlace: {
		func(v *view) { v.retireList.changed = v.retireList.changed[1:] },
		func(v *view) { v.retireList.changed = append(v.retireList.changed, v.retireList.changed[0]) },
		func(v *view) {
			v.retireList.changed = append(v.retireList.changed, place{&v.objects.array, direct(v)})
		},
		func(v *view) { p := v.retireList.changed[0]; p.array.cell(p.pos).Store(changed(v).of) },
	},
	rulePlaceGone: {
		func(v *view) { v.buckets[bucketThatWaits(v).pos] = nil },
	},
	ruleVersions: {
		func(v *view) { v.retireList.updated[0].newest.Load().seq = v.core.committed.Load() + 1 },
		func(v *view) { n := v.retireList.updated[0].newest.Load(); n.setPast(n) },
	},
	ruleUpdated: {
		func(v *view) { v.retireList.updated = v.retireList.updated[1:] },
		func(v *view) { v.retireList.updated = append(v.retireList.updated, v.retireList.updated[0]) },
		func(v *view) {
			r := v.retireList.updated[0]
			r.newest.Load().setPast(nil)
			r.settle(&v.core.shown)
		},
	},
	ruleEmptied: {
		func(v *view) { v.retireList.emptied = nil },
		func(v *view) { v.retireList.emptied = append(v.retireList.emptied, v.retireList.emptied[0]) },
		func(v *view) { v.retireList.emptied[0].retired = false },
	},
	ruleWrite: {
		func(v *view) { v.write.emptied = v.retireList.emptied },
		func(v *view) { v.write.made++ },
		func(v *view) { v.core.shown.changed = []*entry{{}} },
	},
	ruleReclaimThreshold: {func(v *view) { v.sinceReclaim = v.reclaimThreshold + 1 }},
	ruleResourceVersion: {
		func(v *view) { v.resourceVersion.newest.Store(&stamp{seq: v.core.committed.Load() + 1}) },
		func(v *view) { v.resourceVersion.newest.Store(&stamp{in: present(v, 0)}) },
		func(v *view) { v.resourceVersion.former = v.resourceVersion.newest.Load() },
		func(v *view) { v.resourceVersion.free = &stamp{rv: "7"} },
		func(v *view) {
			v.resourceVersion.free = &stamp{}
			v.resourceVersion.former = v.resourceVersion.free
		},
	},
	rulePos: {func(v *view) { present(v, 0).pos = present(v, 1).pos }},
	rulePosting: {
		func(v *view) { v.core.postings(present(v, 0))[0].pos++ },
		func(v *view) { p := v.core.postings(present(v, 0)); p[1] = p[0] },
		func(v *view) { v.core.postings(present(v, 0))[0].bucket = uint32(len(v.buckets)) },
	},
	rulePostings: {
		func(v *view) { v.core.dropPosting(present(v, 0), 0) },
		func(v *view) { v.core.addPosting(v.core.record("3"), posting{1, 0}) },
	},
	ruleWide: {
		func(v *view) { v.wide = append(v.wide, &postings{}) },
		func(v *view) { v.freeWide = append(v.freeWide, 0) },
	},
	ruleBucket: {
		func(v *view) { full(v).pos++ },
		func(v *view) { full(v).ordinal++ },
		func(v *view) { v.core.indexes = nil },
		func(v *view) { full(v).mark = held },
		func(v *view) {
			v.buckets = append(v.buckets, &bucket{keyed: keyed{pos: uint32(len(v.buckets))}})
		},
	},
	ruleTimes: {
		func(v *view) { full(v).objects.since = v.core.committed.Load() + 1 },
		func(v *view) { full(v).later = full(v) },
		func(v *view) { full(v).prior.Store(full(v)) },
		func(v *view) { v.retireList.emptied[0].until.Store(1) },
	},
	ruleFreeID: {
		func(v *view) { v.freeIDs = append(v.freeIDs, full(v).pos) },
		func(v *view) { v.freeIDs = append(v.freeIDs, v.freeIDs[0]) },
	},
	ruleDirectory: {
		func(v *view) {
			d := v.core.keys.dir.Load()
			v.core.keys.dir.Store(
				&directory{depth: d.depth, entries: slices.Clone(d.entries), parts: slices.Clone(d.parts)})
			d = v.core.keys.dir.Load()
			d.entries[0] = newPart(0, 0).entries
		},
		func(v *view) {
			p := *v.core.keys.dir.Load().parts[0]
			p.depth++
			d := newDirectory(v.core.keys.dir.Load().depth)
			for i := range d.parts {
				d.set(i, &p)
			}
			v.core.keys.dir.Store(d)
		},
	},
	ruleSearch: {
		func(v *view) { _, e := v.core.entry("7"); e.word.Store(e.word.Load() ^ 1<<lengthBits) },
		func(v *view) { _, e := v.core.entry("7"); e.item.Store(&present(v, 1).keyed) },
	},
	ruleCounts: {
		func(v *view) { p, _ := v.core.entry("7"); p.live++ },
		func(v *view) { p, _ := v.core.entry("7"); p.used-- },
	},
	ruleLive: {func(v *view) { present(v, 0).newest.Store(&version{obj: absence{}, seq: 1}) }},
	ruleShown: {
		func(v *view) {
			_, e := v.core.entry("7")
			atomic.StorePointer(&e.data, unsafe.Pointer(&thing{}))
		},
		func(v *view) { _, e := v.core.entry("7"); atomic.StorePointer(&e.data, nil) },
	},
	ruleCopy: {
		func(v *view) { copied(v).copy.Load().objects[0] = &thing{} },
		func(v *view) { c := copied(v).copy.Load(); c.objects = c.objects[:1] },
		func(v *view) { copied(v).touched.Store(v.core.committed.Load() + 1) },
	},
}

// changed returns the stand-in of the first cell of the array of all objects that is on the
// retire list and not empty.
func changed(v *view) *standIn {
	for _, p := range v.retireList.changed {
		if s := p.array.cell(p.pos).Load().standIn(); p.array == &v.objects.array && s.of != nil {
			return s
		}
	}
	panic("no cell of an object waits")
}

// direct returns a cell of the array of all objects that points to a record.
func direct(v *view) uint32 {
	for pos := range v.objects.n {
		if v.objects.cell(pos).Load().standIn() == nil {
			return pos
		}
	}
	panic("all cells have a stand-in")
}

func (c *core) entry(key string) (*part, *entry) { return c.keys.find(c.keys.word(key), key) }

func (c *core) record(key string) *record {
	_, e := c.entry(key)
	return e.record()
}

// present returns the record of one of the keys that are present.
func present(v *view, i int) *record { return v.core.record([]string{"7", "8"}[i]) }

func full(v *view) *bucket { return v.indexes[0].bucketAt("g1", v.core.committed.Load()) }

// bucketThatWaits returns an empty bucket with a cell on the retire list.
func bucketThatWaits(v *view) *bucket {
	for _, b := range v.retireList.emptied {
		for _, p := range v.retireList.changed {
			if p.array == &b.objects {
				return b
			}
		}
	}
	panic("no cell of an empty bucket waits")
}

func copied(v *view) *blockCopy {
	for _, b := range *v.objects.copies.blocks.Load() {
		if b.copy.Load() != nil {
			return b
		}
	}
	panic("no block is copied")
}

// The test breaks each rule in a store that keeps all of them. The checker names the breach.
func TestBrokenInvariantsAreReported(t *testing.T) {
	t.Parallel()
	for _, r := range rules {
		if len(plants[r]) == 0 {
			t.Errorf("no breach is planted of the rule: %s", r)
		}
		for i, plant := range plants[r] {
			t.Run(fmt.Sprintf("%.40s/%d", r, i), func(t *testing.T) {
				t.Parallel()
				v := worn(t)
				if breaches := v.breaches(); len(breaches) > 0 {
					t.Fatalf("a sound store breaks rules:\n%s", strings.Join(breaches, "\n"))
				}
				plant(v)
				breaches := v.breaches()
				if !slices.ContainsFunc(breaches, func(b string) bool {
					return strings.HasPrefix(b, string(r)+": ")
				}) {
					t.Errorf("the breach is not reported:\n%s", strings.Join(breaches, "\n"))
				}
			})
		}
	}
	if len(plants) != len(rules) {
		t.Errorf("%d rules are broken, of %d", len(plants), len(rules))
	}
}

// A write after the breach panics, in a large store one of the next few.
func TestABreachEndsInAPanic(t *testing.T) {
	t.Parallel()
	for _, objects := range []int{50, 5000} {
		s := New(contract.Indexers{"group": byPointedGroup})
		for i := range objects {
			s.Add(fmt.Sprint(i), &thing{0, "g"})
		}
		s.view.Load().reclaimThreshold = -1
		writes, broken := 0, any(nil)
		for ; broken == nil && writes <= 2*objects/checkedPerWrite+1; writes++ {
			func() {
				defer func() { broken = recover() }()
				s.Bookmark("8")
			}()
		}
		if !strings.Contains(fmt.Sprint(broken), string(ruleReclaimThreshold)) {
			t.Errorf("%d objects: after %d writes: %v", objects, writes, broken)
		}
		if reflect.TypeOf(broken) != reflect.TypeOf("") {
			t.Errorf("the panic is a %T", broken)
		}
	}
}
