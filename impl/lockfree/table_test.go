package lockfree

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/informerbench/informerbench/contract"
)

func newest(t *table, key string) *version {
	if _, e := t.find(t.word(key), key); e != nil {
		return e.record().newest.Load()
	}
	return nil
}

// versioned returns the record of a key with one version.
func versioned(key string, n *version) *record {
	r := newRecord(key)
	r.newest.Store(n)
	return r
}

// set makes n the newest version of key.
func set(t *table, key string, n *version) {
	word := t.word(key)
	p, e := t.find(word, key)
	if e == nil {
		t.insert(word, &versioned(key, n).keyed, p, n.seq)
		return
	}
	rec := e.record()
	was, is := !rec.newest.Load().absent(), !n.absent()
	rec.newest.Store(n)
	switch {
	case was && !is:
		if t.died(p) {
			t.shrink(word)
		}
	case is && !was:
		p.live++
	}
}

// The table against a map, through growth, shrinking, tombstones and revivals.
func TestTable(t *testing.T) {
	inOneGoroutine(t)
	t.Parallel()
	const keys = 20000
	var tbl table
	tbl.init()
	tbl.shown = &shown{}
	model := map[string]uint64{}
	rnd := rand.New(rand.NewPCG(1, 2))
	seq := uint64(firstSeq)
	for phase, adds := range []int{10, 5, 1, 9, 2} { // of ten writes
		for range 3 * keys {
			seq++
			key, n := fmt.Sprint(rnd.IntN(keys)), &version{seq: seq}
			if rnd.IntN(10) < adds {
				model[key] = seq
			} else {
				if _, there := model[key]; !there {
					continue
				}
				delete(model, key)
				n.obj = absence{}
			}
			set(&tbl, key, n)
		}
		live := 0
		for i := range keys {
			key := fmt.Sprint(i)
			n := newest(&tbl, key)
			want, there := model[key]
			if there != (n != nil && !n.absent()) || there && n.seq != want {
				t.Fatalf("phase %d: %s has %+v; want number %d, there %v", phase, key, n, want, there)
			}
		}
		seen := map[*part]bool{}
		for _, p := range tbl.dir.Load().parts {
			if seen[p] {
				continue
			}
			seen[p] = true
			live += p.live
			if blockShift > 1 && len(p.entries) > 2*largestPart {
				t.Errorf("phase %d: a part has %d entries", phase, len(p.entries))
			}
		}
		if live != len(model) {
			t.Errorf("phase %d: the parts count %d keys; want %d", phase, live, len(model))
		}
	}
}

// A tombstone of the write under way survives a rebuild of its part: it leads readers
// to the version before.
func TestTombstoneOfTheWriteUnderWaySurvives(t *testing.T) {
	t.Parallel()
	var tbl table
	tbl.init()
	tbl.shown = &shown{}
	before := &version{seq: 1}
	set(&tbl, "k", before)
	dead := &version{obj: absence{}, seq: 2}
	dead.setPast(before)
	set(&tbl, "k", dead)
	for i := range 5000 {
		set(&tbl, fmt.Sprint(i), &version{seq: 2})
	}
	if n := newest(&tbl, "k"); n != dead {
		t.Errorf("the tombstone is gone: %+v", n)
	}
}

// Keys of any length are found, also those whose length does not fit into the entry's word.
func TestKeysOfAllLengths(t *testing.T) {
	t.Parallel()
	s := New(nil)
	lengths := []int{0, 1, 2, longKey - 1, longKey, longKey + 1, 2 * longKey, 100_000}
	key := func(length int, end string) string {
		return strings.Repeat("k", max(0, length-1)) + end[:min(1, length)]
	}
	for _, n := range lengths {
		s.Add(key(n, "a"), n)
	}
	for _, n := range lengths {
		if got, exists := s.Get(key(n, "a")); !exists || got != n {
			t.Errorf("the key of %d bytes: %v, %v", n, got, exists)
		}
		if _, exists := s.Get(key(n, "b")); exists && n > 0 {
			t.Errorf("another key of %d bytes is found", n)
		}
	}
	if keys := s.ListKeys(); len(keys) != len(lengths) {
		t.Errorf("%d keys, want %d", len(keys), len(lengths))
	}
	for _, n := range lengths {
		s.Delete(key(n, "a"))
		if _, exists := s.Get(key(n, "a")); exists {
			t.Errorf("the key of %d bytes is still there", n)
		}
	}
}

// The sizes on which the package comment counts.
func TestSizes(t *testing.T) {
	t.Parallel()
	for name, size := range map[string][2]uintptr{
		"entry": {unsafe.Sizeof(entry{}), 32}, "record": {unsafe.Sizeof(record{}), 48},
		"version": {unsafe.Sizeof(version{}), 32},
	} {
		if wordSize := unsafe.Sizeof(uintptr(0)); wordSize == 8 && size[0] != size[1] {
			t.Errorf("%s: %d bytes, want %d", name, size[0], size[1])
		}
	}
}

// The array against a slice, with snapshots of former states.
func TestArray(t *testing.T) {
	inOneGoroutine(t)
	t.Parallel()
	type state struct {
		seq  uint64
		objs []any
	}
	var a array
	var model []any
	var states []state
	c := newCore()
	w := &c.write
	rnd := rand.New(rand.NewPCG(3, 4))
	waiting := map[place]bool{}
	// The test prunes no versions: they outlive the snapshots.
	replace := func(pos int, obj any) {
		if rec := a.cell(uint32(pos)).Load().at(w.seq); rec.newest.Load().seq != w.seq {
			rec.update(w, &c.shown, obj)
			model[pos] = obj
		}
	}
	for i := range 5000 {
		w.seq = uint64(firstSeq + 1 + i)
		for range 1 + rnd.IntN(3) { // several changes by one write
			grow := 6
			if i/500%2 == 1 {
				grow = 3
			}
			switch k := rnd.IntN(10); {
			case k < grow:
				a.push(w, versioned("", &version{obj: i, seq: w.seq}), true)
				model = append(model, i)
			case len(model) == 0:
			case k < 8:
				pos := rnd.IntN(len(model))
				last := len(model) - 1
				if moved := a.remove(w, uint32(pos)); (moved != nil) != (pos != last) {
					t.Fatalf("removing %d of %d moved %v", pos, len(model), moved)
				}
				model[pos] = model[last]
				model = model[:last]
			default:
				replace(rnd.IntN(len(model)), -i)
			}
		}
		for _, p := range w.changed {
			if waiting[p] {
				t.Fatalf("cell %d waits twice", p.pos)
			}
			waiting[p] = true
		}
		w.changed = nil
		if rnd.IntN(30) > 0 {
			continue
		}
		states = append(states, state{w.seq, append([]any(nil), model...)})
		states = states[max(0, len(states)-5):]
		var open []uint64
		for _, s := range states {
			open = append(open, s.seq)
		}
		for p := range waiting {
			if p.reclaim(w, open) {
				delete(waiting, p)
			}
		}
		for _, s := range states {
			if got := a.objects(nil, s.seq, &c.shown, nil); fmt.Sprint(got) != fmt.Sprint(s.objs) {
				t.Fatalf("write %d: snapshot %d is %v; want %v", w.seq, s.seq, got, s.objs)
			}
		}
	}
}

// The table of an index has room for the values that there are, not for all that ever were.
func TestTableOfAnIndexDoesNotGrowWithFormerValues(t *testing.T) {
	t.Parallel()
	const objects, rounds = 200, 100
	for name, write := range map[string]func(s *Store, round int){
		"one by one": func(s *Store, round int) {
			for i := range objects {
				s.Update(fmt.Sprint(i), thing{round, fmt.Sprint(round, "-", i)})
			}
		},
		"all at once": func(s *Store, round int) {
			var writes []contract.StoreTransaction
			for i := range objects {
				write := contract.StoreTransaction{Key: fmt.Sprint(i)}
				write.Type, write.Object = contract.TransactionTypeUpdate,
					thing{round, fmt.Sprint(round, "-", i)}
				writes = append(writes, write)
			}
			s.Transaction(writes...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := New(contract.Indexers{"group": byGroup})
			places := func() (n int) {
				d := s.view.Load().indexes[0].buckets.dir.Load()
				for i := 0; i < len(d.parts); i += 1 << (d.depth - d.parts[i].depth) {
					n += len(d.entries[i])
				}
				return n
			}
			for round := range rounds {
				write(s, round)
			}
			// A write of all has as many new values as former ones, and a part has room for twice
			// its values when it is made; then it is five eighths full.
			const most = 2 * (2 * objects) * 8 / 5
			if n := places(); n < objects || n > most {
				t.Errorf("%d places for %d values, want at most %d", n, objects, most)
			}
			for i := range objects - 10 {
				s.Delete(fmt.Sprint(i))
			}
			if n := places(); n > most/4 {
				t.Errorf("%d places for 10 values", n)
			}
		})
	}
}
