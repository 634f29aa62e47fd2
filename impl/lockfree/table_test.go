package lockfree

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// The table against a map, through growth, shrinking, tombstones and revivals.
func TestTable(t *testing.T) {
	t.Parallel()
	const keys = 20000
	tbl, model := newTable(), map[string]uint64{}
	rnd := rand.New(rand.NewPCG(1, 2))
	seq := uint64(firstSeq)
	for phase, adds := range []int{10, 5, 1, 9, 2} { // of ten writes
		for range 3 * keys {
			seq++
			n := &node{key: fmt.Sprint(rnd.IntN(keys)), seq: seq}
			if rnd.IntN(10) < adds {
				n.rec = &record{key: n.key}
				model[n.key] = seq
			} else {
				if _, there := model[n.key]; !there {
					continue
				}
				delete(model, n.key)
			}
			tbl.put(tbl.hash(n.key), n)
		}
		live := 0
		for i := range keys {
			key := fmt.Sprint(i)
			n := tbl.get(key)
			want, there := model[key]
			if there != (n != nil && n.rec != nil) || there && n.seq != want {
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
			if chunkShift > 1 && len(p.entries) > 2*largestPart {
				t.Errorf("phase %d: a part has %d entries", phase, len(p.entries))
			}
		}
		if live != len(model) {
			t.Errorf("phase %d: the parts count %d keys; want %d", phase, live, len(model))
		}
	}
}

// A tombstone of the write under way survives a rebuild of its part: it leads readers
// to the node before.
func TestTombstoneOfTheWriteUnderWaySurvives(t *testing.T) {
	t.Parallel()
	tbl := newTable()
	before := &node{key: "k", seq: 1, rec: &record{}}
	tbl.put(tbl.hash("k"), before)
	dead := &node{key: "k", seq: 2}
	dead.prev.Store(before)
	tbl.put(tbl.hash("k"), dead)
	for i := range 5000 {
		key := fmt.Sprint(i)
		tbl.put(tbl.hash(key), &node{key: key, seq: 2, rec: &record{}})
	}
	if n := tbl.get("k"); n != dead {
		t.Errorf("the tombstone is gone: %+v", n)
	}
}

// The array against a slice, with snapshots of former states.
func TestArray(t *testing.T) {
	t.Parallel()
	type state struct {
		seq  uint64
		objs []any
	}
	var a array
	var model []any
	var states []state
	c := newCore()
	rnd := rand.New(rand.NewPCG(3, 4))
	w := &c.write
	var changed []place
	for i := range 5000 {
		w.seq = uint64(firstSeq + 1 + i)
		for range 1 + rnd.IntN(3) { // several changes by one write
			grow := 6
			if i/500%2 == 1 {
				grow = 3
			}
			switch k := rnd.IntN(10); {
			case k < grow:
				a.push(w, i, &record{})
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
				pos := rnd.IntN(len(model))
				a.set(w, uint32(pos), -i)
				model[pos] = -i
			}
		}
		changed = append(changed, w.changed...)
		w.changed = nil
		if rnd.IntN(50) == 0 {
			states = append(states, state{w.seq, append([]any(nil), model...)})
		}
		if rnd.IntN(20) == 0 {
			if len(states) > 5 {
				states = states[1:]
			}
			var open []uint64
			for _, s := range states {
				open = append(open, s.seq)
			}
			var left []place
			for _, p := range changed {
				if p.array.prune(p.chunk, open) {
					left = append(left, p)
				}
			}
			changed = left
			states = append(states, state{w.seq, append([]any(nil), model...)})
			for _, s := range states {
				if got := a.objects(s.seq); fmt.Sprint(got) != fmt.Sprint(s.objs) {
					t.Fatalf("write %d: snapshot %d is %v; want %v", w.seq, s.seq, got, s.objs)
				}
			}
		}
	}
}
