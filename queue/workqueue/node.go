package workqueue

import "time"

// number is that of a node in its table; 0 is none.
type number uint32

// node is one item that the queue holds: ready, processed or waiting for its time. A string's
// takes 32 bytes, and 48 in a queue with priorities.
type node[T comparable, L linked] struct {
	item  T
	chain number // the next of the same bucket
	mark  uint32 // the item's hash and, in the last stateBits, its state; 0 if it is free
	links L
}

type (
	plain[T comparable]  = node[T, [1]links] // of a queue without priorities
	ranked[T comparable] = node[T, [3]links] // of one with them
)

// linked is what a node has in lists, and two values that lie in the places of links.
type linked interface{ [1]links | [3]links }

const (
	inTurn = iota // in the order in which nodes are handed out
	// All ready nodes of a queue with priorities. A node that waits is in no list and keeps its
	// time there, in nanoseconds after the queue's epoch.
	byAge
	// priority is no list, but the priority that the item is ready with or will be. For an item
	// that is processed and was not added since, it is the one that it was handed out with.
	priorityAt
)

// links are the neighbours of a node in a list; at an end of it one of them says nothing.
type links struct{ prev, next number }

// value is an integer in the place of links.
func (l links) value() int64 { return int64(uint64(l.prev)<<32 | uint64(l.next)) }

func linksOf(value int64) links {
	return links{prev: number(uint64(value) >> 32), next: number(value)}
}

func (n *node[T, L]) hash() uint32     { return n.mark >> stateBits }
func (n *node[T, L]) state() state     { return state(n.mark & (1<<stateBits - 1)) }
func (n *node[T, L]) setState(s state) { n.mark = n.hash()<<stateBits | uint32(s) }

// ready reports whether a node is to be handed out now.
func (n *node[T, L]) ready() bool { return n.state()&^held == dirty }

func priorityOf[T comparable](n *ranked[T]) int { return int(n.links[priorityAt].value()) }

func setPriority[T comparable](n *ranked[T], priority int) {
	n.links[priorityAt] = linksOf(int64(priority))
}

func timeOf[T comparable](n *ranked[T]) time.Duration {
	return time.Duration(n.links[byAge].value())
}

func setTime[T comparable](n *ranked[T], at time.Duration) {
	n.links[byAge] = linksOf(int64(at))
}
