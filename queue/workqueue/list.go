package workqueue

// list is a list of a table's nodes, linked through them, so that a node leaves it from any place
// in O(1).
type list struct {
	first, last number // 0 while it is empty
	by          uint8  // which of a node's links are the list's
}

// push puts node k at the end of a list. It must be in none by the same links.
func (t *table[T, L]) push(l *list, k number, n *node[T, L]) {
	if l.first == 0 {
		l.first = k
	} else {
		t.links(l, l.last).next = k
		n.links[l.by].prev = l.last
	}
	l.last = k
}

// unlink takes node k out of its list.
func (t *table[T, L]) unlink(l *list, k number, n *node[T, L]) {
	switch of := &n.links[l.by]; {
	case l.first == l.last:
		l.first, l.last = 0, 0
	case k == l.first:
		l.first = of.next
	case k == l.last:
		l.last = of.prev
	default:
		t.links(l, of.prev).next = of.next
		t.links(l, of.next).prev = of.prev
	}
}

// relink puts a node that moved in its old place.
func (t *table[T, L]) relink(l *list, from, to number) {
	of := t.links(l, to)
	if l.first == from {
		l.first = to
	} else {
		t.links(l, of.prev).next = to
	}
	if l.last == from {
		l.last = to
	} else {
		t.links(l, of.next).prev = to
	}
}

func (t *table[T, L]) links(l *list, k number) *links { return &t.node(k).links[l.by] }
