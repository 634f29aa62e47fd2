package workqueue

// ranked is the node of a queue with priorities.
type ranked[T comparable] = node[T, rank[T]]

// level is the ready items of one priority, first in, first out.
type level[T comparable] struct {
	priority       int
	place          int // in levels.heap
	oldest, newest *ranked[T]
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
	turn   int // 0: no node ever has a turn
	passed int // pops in a row that passed over the oldest

	of   map[int]*level[T]
	last *level[T] // the level that was looked for last; may be nil
	// heap is heap-ordered, the highest priority first, and heap[i].place == i. No
	// level in it is empty, unless it is the only one.
	heap  []*level[T]
	spare []*level[T]

	oldest, newest *ranked[T] // by age
}

// spareLevels is how many empty levels are kept for the next priority.
const spareLevels = 8

func newLevels[T comparable](turn int) levels[T] {
	return levels[T]{turn: turn, of: map[int]*level[T]{}}
}

// push adds n, which is in no list, at the end of its priority and as the youngest.
func (l *levels[T]) push(n *ranked[T]) {
	l.append(l.at(n.more.priority), n)
	n.more.older = l.newest
	if l.newest == nil {
		l.oldest = n
	} else {
		l.newest.more.newer = n
	}
	l.newest = n
}

// raise moves n to the end of another priority. It keeps its age.
func (l *levels[T]) raise(n *ranked[T], priority int) {
	from := l.at(n.more.priority)
	l.unlink(from, n)
	n.more.priority = priority
	l.append(l.at(priority), n)
	l.tidy(from)
}

// pop takes out the node that is next; there must be one.
func (l *levels[T]) pop() *ranked[T] {
	from := l.heap[0]
	n := from.oldest
	switch {
	case n == l.oldest:
		l.passed = 0
	case l.turn > 0 && l.passed >= l.turn-1:
		l.passed = 0
		n = l.oldest
		from = l.at(n.more.priority)
	default:
		l.passed++
	}
	l.unlink(from, n)
	l.tidy(from)

	if n.more.older == nil {
		l.oldest = n.more.newer
	} else {
		n.more.older.more.newer = n.more.newer
	}
	if n.more.newer == nil {
		l.newest = n.more.older
	} else {
		n.more.newer.more.older = n.more.older
	}
	n.more.older, n.more.newer = nil, nil
	return n
}

// at returns the level of a priority, and makes it if there is none.
func (l *levels[T]) at(priority int) *level[T] {
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

func (l *levels[T]) open(priority int) *level[T] {
	var lv *level[T]
	switch {
	case len(l.heap) == 1 && l.heap[0].oldest == nil:
		lv = l.heap[0] // it was kept for what comes next
		delete(l.of, lv.priority)
	case len(l.spare) > 0:
		lv = l.spare[len(l.spare)-1]
		l.spare = l.spare[:len(l.spare)-1]
		l.heap = append(l.heap, lv)
	default:
		lv = &level[T]{}
		l.heap = append(l.heap, lv)
	}
	lv.priority = priority
	l.of[priority] = lv
	l.up(len(l.heap)-1, lv)
	return lv
}

// tidy takes lv out of the heap if it is empty and not the only one.
func (l *levels[T]) tidy(lv *level[T]) {
	last := len(l.heap) - 1
	if lv.oldest != nil || last == 0 {
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

func (l *levels[T]) append(lv *level[T], n *ranked[T]) {
	n.more.prev = lv.newest
	if lv.newest == nil {
		lv.oldest = n
	} else {
		lv.newest.next = n
	}
	lv.newest = n
}

func (l *levels[T]) unlink(lv *level[T], n *ranked[T]) {
	if n.more.prev == nil {
		lv.oldest = n.next
	} else {
		n.more.prev.next = n.next
	}
	if n.next == nil {
		lv.newest = n.more.prev
	} else {
		n.next.more.prev = n.more.prev
	}
	n.next, n.more.prev = nil, nil
}

// up puts lv at place i or above.
func (l *levels[T]) up(i int, lv *level[T]) {
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
func (l *levels[T]) down(i int, lv *level[T]) int {
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

func (l *levels[T]) put(i int, lv *level[T]) {
	l.heap[i] = lv
	lv.place = i
}
