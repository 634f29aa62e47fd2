package workqueue

// level is the ready items of one priority, first in, first out.
type level struct {
	list
	priority int
	place    int // in levels.heap
}

// levels holds what is ready in a queue with priorities. Every ready node is in two
// lists: that of its level, and that of all ready nodes by age. Both are linked
// through the nodes, so a node leaves either from any place in O(1).
//
// Costs, with p different priorities ready: push, raise and pop take O(1) if no level comes
// or goes, and O(log p) otherwise.
//
// Fairness: pop returns a node of the highest priority. But after turn-1 pops in a row that
// passed over the node that has been ready longest, pop returns that node. So a node leaves
// after at most turn pops for itself and turn pops for each older node.
type levels[T comparable] struct {
	items *table[T, [3]links]

	turn   int // 0: no node ever has a turn
	passed int // pops in a row that passed over the oldest

	of   map[int]*level
	last *level // the level that was looked for last; may be nil
	// heap is heap-ordered, the highest priority first, and heap[i].place == i. No
	// level in it is empty, unless it is the only one.
	heap  []*level
	spare []*level

	aged list // all, the oldest first
}

// spareLevels is how many empty levels are kept for the next priority.
const spareLevels = 8

func newLevels[T comparable](items *table[T, [3]links], turn int) levels[T] {
	return levels[T]{items: items, turn: turn, of: map[int]*level{}, aged: list{by: byAge}}
}

// push adds node k, which is in no list, at the end of its priority and as the youngest.
func (l *levels[T]) push(k number, n *ranked[T]) {
	l.items.push(&l.at(priorityOf(n)).list, k, n)
	l.items.push(&l.aged, k, n)
}

// raise moves node k to the end of another priority. It keeps its age.
func (l *levels[T]) raise(k number, n *ranked[T], priority int) {
	from := l.at(priorityOf(n))
	l.items.unlink(&from.list, k, n)
	setPriority(n, priority)
	l.items.push(&l.at(priority).list, k, n)
	l.tidy(from)
}

// pop takes out the node that is next; there must be one.
func (l *levels[T]) pop() *ranked[T] {
	from := l.heap[0]
	k := from.first
	switch {
	case k == l.aged.first:
		l.passed = 0
	case l.turn > 0 && l.passed >= l.turn-1:
		l.passed = 0
		k = l.aged.first
		from = l.at(priorityOf(l.items.node(k)))
	default:
		l.passed++
	}
	n := l.items.node(k)
	l.items.unlink(&from.list, k, n)
	l.tidy(from)
	l.items.unlink(&l.aged, k, n)
	return n
}

// relink has the lists know a node that moved.
func (l *levels[T]) relink(from, to number) {
	l.items.relink(&l.at(priorityOf(l.items.node(to))).list, from, to)
	l.items.relink(&l.aged, from, to)
}

// at returns the level of a priority, and makes it if there is none.
func (l *levels[T]) at(priority int) *level {
	if l.last != nil && l.last.priority == priority {
		return l.last
	}
	lv := l.of[priority]
	if lv == nil {
		lv = l.open(priority)
	}
	l.last = lv
	return lv
}

func (l *levels[T]) open(priority int) *level {
	var lv *level
	switch {
	case len(l.heap) == 1 && l.heap[0].first == 0:
		lv = l.heap[0] // it was kept for what comes next
		delete(l.of, lv.priority)
	case len(l.spare) > 0:
		lv = l.spare[len(l.spare)-1]
		l.spare = l.spare[:len(l.spare)-1]
		l.heap = append(l.heap, lv)
	default:
		lv = &level{}
		l.heap = append(l.heap, lv)
	}
	lv.priority = priority
	l.of[priority] = lv
	l.up(len(l.heap)-1, lv)
	return lv
}

// tidy takes lv out of the heap if it is empty and not the only one.
func (l *levels[T]) tidy(lv *level) {
	last := len(l.heap) - 1
	if lv.first != 0 || last == 0 {
		return
	}
	delete(l.of, lv.priority)
	if l.last == lv {
		l.last = nil
	}
	moved, place := l.heap[last], lv.place
	l.heap[last] = nil
	l.heap = l.heap[:last]
	if moved != lv {
		l.up(l.down(place, moved), moved)
	}
	if len(l.spare) < spareLevels {
		l.spare = append(l.spare, lv)
	}
}

// up puts lv at place i or above.
func (l *levels[T]) up(i int, lv *level) {
	for i > 0 {
		parent := (i - 1) / 2
		if l.heap[parent].priority >= lv.priority {
			break
		}
		l.put(i, l.heap[parent])
		i = parent
	}
	l.put(i, lv)
}

// down puts lv at place i or below, and returns where.
func (l *levels[T]) down(i int, lv *level) int {
	for {
		child := 2*i + 1
		if child >= len(l.heap) {
			break
		}
		if right := child + 1; right < len(l.heap) && l.heap[right].priority > l.heap[child].priority {
			child = right
		}
		if l.heap[child].priority <= lv.priority {
			break
		}
		l.put(i, l.heap[child])
		i = child
	}
	l.put(i, lv)
	return i
}

func (l *levels[T]) put(i int, lv *level) {
	l.heap[i] = lv
	lv.place = i
}
