package delay

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// The table against a map, with tags as few as the directory can hardly part and as many as there
// are; after each phase the parts must fit together.
func TestTable(t *testing.T) {
	if testing.Short() { // as make race runs tests
		t.Skip("one goroutine, and slow")
	}
	t.Parallel()
	for name, mask := range map[string]uint32{"any tag": ^uint32(0), "few tags": 0xfff000ff,
		"first bits alike": 0x000fffff, "last bits alike": 0xfffff000} {
		rnd, table := rand.New(rand.NewPCG(1, 2)), newTable()
		model := map[uint32]uint32{} // slot -> tag
		for _, size := range []int{10, 3000, 100, 20_000, 1000, 0, 500} {
			for slot := uint32(0); len(model) < size; slot++ {
				if _, ok := model[slot]; !ok {
					model[slot] = rnd.Uint32() & mask
					table.insert(model[slot], slot)
				}
			}
			slots := slices.Sorted(maps.Keys(model))
			rnd.Shuffle(len(slots), func(i, k int) { slots[i], slots[k] = slots[k], slots[i] })
			for _, slot := range slots {
				if len(model) <= size {
					break
				}
				table.remove(model[slot], slot)
				delete(model, slot)
			}
			checkTable(t, name, &table, model)
		}
	}
}

func checkTable(t *testing.T, name string, table *table, model map[uint32]uint32) {
	t.Helper()
	if len(table.dir) != 1<<table.depth {
		t.Fatalf("%s: %d pointers at depth %d", name, len(table.dir), table.depth)
	}
	found, deepest := 0, 0
	seen := map[*segment]bool{}
	for i, s := range table.dir {
		if s.depth > table.depth {
			t.Fatalf("%s: a segment's depth is %d, the table's %d", name, s.depth, table.depth)
		}
		if seen[s] {
			continue
		}
		seen[s] = true
		if s.depth == table.depth {
			deepest++
		}
		used := 0
		for at, cell := range s.cells {
			if cell == 0 {
				continue
			}
			used++
			tag, slot := tagIn(cell), uint32(cell)-1
			if want, ok := model[slot]; !ok || want != tag {
				t.Fatalf("%s: slot %d with tag %x is there; want %x, %v", name, slot, tag, want, ok)
			}
			if s.find(cell) != uint32(at) || table.segment(tag) != s {
				t.Fatalf("%s: slot %d is not where its tag leads", name, slot)
			}
		}
		if used != s.used || used == len(s.cells) {
			t.Fatalf("%s: segment %d has %d cells in use of %d, and counts %d", name, i, used, len(s.cells),
				s.used)
		}
		found += used
	}
	if found != len(model) || deepest != table.deepest {
		t.Fatalf("%s: %d slots, want %d; %d deepest segments, it counts %d", name, found, len(model),
			deepest, table.deepest)
	}
	if len(model) == 0 && len(table.dir) != 1 && name == "any tag" {
		t.Errorf("%s: an empty table keeps %d segments", name, len(seen))
	}
}
