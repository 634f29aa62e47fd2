package workqueue

// The parts that the queues are made of, against models of a few lines.

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A table is a map: random inserts and removes, up to a flood and down again. Its nodes move as it
// shrinks, and the list that some are in follows.
func TestTableIsAMap(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	var tab table[int, [1]links]
	var ready list
	tab = newTable[int, [1]links](func(from, to number) {
		if tab.node(to).ready() {
			tab.relink(&ready, from, to)
		}
	})
	model := map[int]bool{}
	check := func(item int) {
		t.Helper()
		if _, n := tab.find(item, tab.hashOf(item)); (n != nil) != model[item] {
			t.Fatalf("find(%d) = %v, and it is there: %t", item, n, model[item])
		}
	}
	const most = 5000
	var held []int   // the model's keys
	var queued []int // those of held that are ready, the oldest first
	for _, size := range []int{10, most, 3, most / 2, 0} {
		for len(held) != size {
			// Towards the size by three steps forward and one back.
			if insert := (len(held) < size) != (rnd.IntN(4) == 0); insert {
				item := rnd.IntN(100 * most)
				at, n := tab.find(item, tab.hashOf(item))
				check(item)
				if n == nil {
					k, n := tab.insert(at, item, tab.hashOf(item))
					model[item] = true
					if n.setState(processing); rnd.IntN(2) == 0 {
						n.setState(dirty)
						tab.push(&ready, k, n)
						queued = append(queued, item)
					}
					held = append(held, item)
				}
				check(item)
			} else if last := len(held) - 1; last >= 0 {
				i := rnd.IntN(len(held))
				item := held[i]
				held[i], held = held[last], held[:last]
				at, n := tab.find(item, tab.hashOf(item))
				if n.ready() {
					tab.unlink(&ready, *at, n)
					queued = slices.DeleteFunc(queued, func(q int) bool { return q == item })
				}
				tab.remove(at, n)
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
		tab.mustHold(t, ready, queued)
	}
}

// mustHold checks that a list has just these items, from both ends.
func (t *table[T, L]) mustHold(tt *testing.T, l list, want []T) {
	tt.Helper()
	var got []T
	for k := l.first; k != 0; k = t.node(k).links[l.by].next {
		if got = append(got, t.node(k).item); k == l.last {
			break
		}
	}
	if !slices.Equal(got, want) {
		tt.Fatalf("the list holds %v, want %v", got, want)
	}
	got = nil
	for k := l.last; k != 0; k = t.node(k).links[l.by].prev {
		if got = append(got, t.node(k).item); k == l.first {
			break
		}
	}
	if slices.Reverse(got); !slices.Equal(got, want) {
		tt.Fatalf("from its end the list holds %v, want %v", got, want)
	}
}

// After a flood the memory goes: buckets and nodes follow the number of items
// down, and no single call does more than a few steps of that.
func TestTableGivesMemoryBack(t *testing.T) {
	t.Parallel()
	const flood = 100_000
	moved := 0
	tab := newTable[int, [1]links](func(number, number) { moved++ })
	for i := range flood {
		at, _ := tab.find(i, tab.hashOf(i))
		_, n := tab.insert(at, i, tab.hashOf(i))
		n.setState(processing)
	}
	if tab.buckets() < flood*2/3 || tab.buckets() > flood {
		t.Errorf("%d buckets for %d items", tab.buckets(), flood)
	}
	for i := range flood {
		before, movedBefore := tab.buckets(), moved
		tab.remove(tab.find(i, tab.hashOf(i)))
		if before-tab.buckets() > mergesAtOnce {
			t.Fatalf("one remove merged %d buckets", before-tab.buckets())
		}
		if moved-movedBefore > 2 {
			t.Fatalf("one remove moved %d nodes", moved-movedBefore)
		}
		if most := max(leastHeads, (tab.len+1)*sparse); tab.heads.Len() > most && tab.len < flood/8 {
			t.Fatalf("%d buckets for %d items", tab.buckets(), tab.len)
		}
		if tab.spares() > tab.len+leastSpares+1 {
			t.Fatalf("%d spare nodes beside %d items", tab.spares(), tab.len)
		}
	}
	if tab.buckets() != leastHeads || tab.nodes.Len() > leastSpares+2 {
		t.Errorf("%d buckets and %d nodes are left of a flood", tab.buckets(), tab.nodes.Len())
	}
	if moved == 0 {
		t.Error("no node moved, so nothing was shown")
	}
}

// Chains of one hash: the table must compare items.
func TestTableWithEqualHashes(t *testing.T) {
	t.Parallel()
	tab := newTable[int, [1]links](func(number, number) {})
	for i := range 100 {
		at, _ := tab.find(i, 7)
		_, n := tab.insert(at, i, 7)
		n.setState(processing)
	}
	for i := range 100 {
		at, n := tab.find(i, 7)
		if n == nil || n.item != i {
			t.Fatalf("item %d is not found", i)
		}
		tab.remove(at, n)
		if _, n := tab.find(i, 7); n != nil {
			t.Fatalf("item %d is found after it was removed", i)
		}
	}
}

// A node that waits keeps its time and its priority, whatever they are, beside its state.
func TestNodeKeepsTimeAndPriority(t *testing.T) {
	t.Parallel()
	var n ranked[int]
	for _, v := range []int64{0, 1, -1, 1<<32 - 1, 1 << 32, math.MinInt64, math.MaxInt64} {
		setTime(&n, time.Duration(v))
		setPriority(&n, int(^v))
		n.setState(waiting | held)
		if timeOf(&n) != time.Duration(v) || priorityOf(&n) != int(^v) || n.state() != waiting|held {
			t.Errorf("time %d and priority %d are kept as %d and %d, with state %b", v, ^v, timeOf(&n),
				priorityOf(&n), n.state())
		}
	}
}

// modelLevels is the model of levels. It looks at every node.
type modelLevels struct {
	turn, passed int
	nodes        []int // items, by age
	priority     map[int]int
	entered      map[int]int
	at           int
}

func (m *modelLevels) push(item, priority int) {
	m.nodes = append(m.nodes, item)
	m.raise(item, priority)
}

func (m *modelLevels) raise(item, priority int) {
	m.at++
	m.entered[item], m.priority[item] = m.at, priority
}

func (m *modelLevels) pop() int {
	best := slices.MinFunc(m.nodes, func(a, b int) int {
		if c := cmp.Compare(m.priority[b], m.priority[a]); c != 0 {
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
	m.nodes = slices.DeleteFunc(m.nodes, func(n int) bool { return n == best })
	return best
}

func TestLevelsAgainstAModel(t *testing.T) {
	t.Parallel()
	for _, turn := range []int{0, 1, 2, 16} {
		for _, priorities := range []int{1, 2, 5, 1000} {
			rnd := rand.New(rand.NewPCG(3, uint64(priorities)))
			var l levels[int]
			tab := newTable[int, [3]links](func(from, to number) { l.relink(from, to) })
			l = newLevels(&tab, turn)
			m := &modelLevels{turn: turn, priority: map[int]int{}, entered: map[int]int{}}
			for step := range 20_000 {
				grow := 4
				if step/1000%2 == 1 {
					grow = 2 // more pops than pushes: down to nothing now and then
				}
				switch k := rnd.IntN(10); {
				case k < grow:
					at, _ := tab.find(step, tab.hashOf(step))
					k, n := tab.insert(at, step, tab.hashOf(step))
					n.setState(dirty)
					setPriority(n, rnd.IntN(priorities)-priorities/2)
					m.push(step, priorityOf(n))
					l.push(k, n)
				case k < 6 && len(m.nodes) > 0:
					item := m.nodes[rnd.IntN(len(m.nodes))]
					at, n := tab.find(item, tab.hashOf(item))
					priority := priorityOf(n) + 1 + rnd.IntN(3)
					l.raise(*at, n, priority)
					m.raise(item, priority)
				case len(m.nodes) > 0:
					got := l.pop()
					if want := m.pop(); got.item != want {
						t.Fatalf("turn %d, %d priorities, step %d: pop gave %d of priority %d, want %d of %d",
							turn, priorities, step, got.item, priorityOf(got), want, m.priority[want])
					}
					tab.remove(tab.find(got.item, got.hash()))
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
		if lv.first == 0 && len(l.heap) > 1 {
			t.Fatalf("the level of priority %d is empty and stays", lv.priority)
		}
	}
	if (l.aged.first == 0) != (nodes == 0) || (l.aged.last == 0) != (nodes == 0) {
		t.Fatalf("%d nodes, and the list by age begins with %d and ends with %d", nodes, l.aged.first,
			l.aged.last)
	}
}
