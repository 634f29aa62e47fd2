package workqueue

// The parts that the queues are made of, against models of a few lines.

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// A table is a map: random inserts and removes, up to a flood and down again.
func TestTableIsAMap(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	tab := newTable[int, struct{}]()
	model := map[int]*plain[int]{}
	check := func(item int) {
		t.Helper()
		if got := *tab.find(item, tab.hashOf(item)); got != model[item] {
			t.Fatalf("find(%d) = %p, want %p", item, got, model[item])
		}
	}
	const most = 5000
	var held []int // the model's keys
	for _, size := range []int{10, most, 3, most / 2, 0} {
		for len(held) != size {
			// Towards the size by three steps forward and one back.
			if insert := (len(held) < size) != (rnd.IntN(4) == 0); insert {
				item := rnd.IntN(100 * most)
				at := tab.find(item, tab.hashOf(item))
				check(item)
				if *at == nil {
					model[item] = tab.insert(at, item, tab.hashOf(item))
					held = append(held, item)
				}
				check(item)
			} else if last := len(held) - 1; last >= 0 {
				i := rnd.IntN(len(held))
				item := held[i]
				held[i], held = held[last], held[:last]
				tab.remove(tab.find(item, tab.hashOf(item)))
				delete(model, item)
				check(item)
			}
			if tab.len != len(held) {
				t.Fatalf("len is %d, want %d", tab.len, len(held))
			}
		}
		for _, item := range held {
			check(item)
		}
	}
}

// After a flood the memory goes: buckets and spare nodes follow the number of items
// down, and no single call does more than a few steps of that.
func TestTableGivesMemoryBack(t *testing.T) {
	t.Parallel()
	const flood = 100_000
	tab := newTable[int, struct{}]()
	for i := range flood {
		tab.insert(tab.find(i, tab.hashOf(i)), i, tab.hashOf(i))
	}
	if tab.buckets < flood*2/3 || tab.buckets > flood {
		t.Errorf("%d buckets for %d items", tab.buckets, flood)
	}
	for i := range flood {
		before := tab.buckets
		tab.remove(tab.find(i, tab.hashOf(i)))
		if before-tab.buckets > mergesAtOnce {
			t.Fatalf("one remove merged %d buckets", before-tab.buckets)
		}
		if most := uint64(max(leastHeads, (tab.len+1)*sparse)); tab.buckets > most && tab.len < flood/8 {
			t.Fatalf("%d buckets for %d items", tab.buckets, tab.len)
		}
		if tab.spares > tab.len+leastSpares+1 {
			t.Fatalf("%d spare nodes beside %d items", tab.spares, tab.len)
		}
	}
	if tab.buckets != leastHeads || len(tab.pages) != 1 {
		t.Errorf("%d buckets in %d pages are left of a flood", tab.buckets, len(tab.pages))
	}
}

// Chains of one hash: the table must compare items.
func TestTableWithEqualHashes(t *testing.T) {
	t.Parallel()
	tab := newTable[int, struct{}]()
	for i := range 100 {
		tab.insert(tab.find(i, 7), i, 7)
	}
	for i := range 100 {
		at := tab.find(i, 7)
		if *at == nil || (*at).item != i {
			t.Fatalf("item %d is not found", i)
		}
		tab.remove(at)
		if *tab.find(i, 7) != nil {
			t.Fatalf("item %d is found after it was removed", i)
		}
	}
}

// modelLevels is the model of levels. It looks at every node.
type modelLevels struct {
	turn, passed int
	nodes        []*ranked[int] // by age
	entered      map[*ranked[int]]int
	at           int
}

func (m *modelLevels) push(n *ranked[int]) {
	m.nodes = append(m.nodes, n)
	m.at++
	m.entered[n] = m.at
}

func (m *modelLevels) raise(n *ranked[int]) { m.at++; m.entered[n] = m.at }

func (m *modelLevels) pop() *ranked[int] {
	best := slices.MinFunc(m.nodes, func(a, b *ranked[int]) int {
		if c := cmp.Compare(b.more.priority, a.more.priority); c != 0 {
			return c
		}
		return cmp.Compare(m.entered[a], m.entered[b])
	})
	switch {
	case best == m.nodes[0]:
		m.passed = 0
	case m.turn > 0 && m.passed >= m.turn-1:
		best, m.passed = m.nodes[0], 0
	default:
		m.passed++
	}
	m.nodes = slices.DeleteFunc(m.nodes, func(n *ranked[int]) bool { return n == best })
	return best
}

func TestLevelsAgainstAModel(t *testing.T) {
	t.Parallel()
	for _, turn := range []int{0, 1, 2, 16} {
		for _, priorities := range []int{1, 2, 5, 1000} {
			rnd := rand.New(rand.NewPCG(3, uint64(priorities)))
			l := newLevels[int](turn)
			m := &modelLevels{turn: turn, entered: map[*ranked[int]]int{}}
			for step := range 20_000 {
				grow := 4
				if step/1000%2 == 1 {
					grow = 2 // more pops than pushes: down to nothing now and then
				}
				switch k := rnd.IntN(10); {
				case k < grow:
					n := &ranked[int]{item: step}
					n.more.priority = rnd.IntN(priorities) - priorities/2
					l.push(n)
					m.push(n)
				case k < 6 && len(m.nodes) > 0:
					n := m.nodes[rnd.IntN(len(m.nodes))]
					l.raise(n, n.more.priority+1+rnd.IntN(3))
					m.raise(n)
				case len(m.nodes) > 0:
					if got, want := l.pop(), m.pop(); got != want {
						t.Fatalf("turn %d, %d priorities, step %d: pop gave %d of priority %d, want %d of %d",
							turn, priorities, step, got.item, got.more.priority, want.item, want.more.priority)
					}
				}
				l.mustBeSound(t, len(m.nodes))
			}
		}
	}
}

// mustBeSound checks the invariants of levels' heap.
func (l *levels[T]) mustBeSound(t *testing.T, nodes int) {
	t.Helper()
	if len(l.of) != len(l.heap) || len(l.spare) > spareLevels {
		t.Fatalf("%d levels by priority, %d in the heap, %d spare", len(l.of), len(l.heap), len(l.spare))
	}
	for i, lv := range l.heap {
		if lv.place != i || i > 0 && l.heap[(i-1)/2].priority < lv.priority || l.of[lv.priority] != lv {
			t.Fatalf("level %d of priority %d is out of its place", i, lv.priority)
		}
		if lv.oldest == nil && len(l.heap) > 1 {
			t.Fatalf("the level of priority %d is empty and stays", lv.priority)
		}
	}
	if (l.oldest == nil) != (nodes == 0) || (l.newest == nil) != (nodes == 0) {
		t.Fatalf("%d nodes, and the list by age begins with %v and ends with %v", nodes, l.oldest,
			l.newest)
	}
}
