package mutants

// Queues with priorities that are wrong in just that.

import (
	"cmp"
	"time"

	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
)

// rankedOf makes a mutant of a queue with priorities.
func rankedOf(name, mistake, clauses string, change func(q *ranked)) Mutant {
	m := mutant(contract.ComponentQueue, name, mistake, clauses)
	m.NewQueue = func(c clock.WithTicker) contract.DelayingQueue[string] {
		q := newRanked(c)
		change(q)
		return q
	}
	return m
}

// priorityQueues are wrong in what has which priority, and what that is worth.
func priorityQueues() []Mutant {
	return []Mutant{
		rankedOf("priorities are not looked at", "Get takes the oldest", "QUEUE-31", func(q *ranked) {
			q.next = func([]*rankedItem) int { return 0 }
		}),
		rankedOf("the next is chosen too soon",
			"who comes next is settled when the one before goes, and not asked again for what is added "+
				"since", "QUEUE-31", func(q *ranked) {
				q.early = true
			}).real(inControllerRuntime, "3363"),
		rankedOf("last in, first out within a priority", "among equals the one that came last is taken",
			"QUEUE-31", func(q *ranked) {
				q.next = func(ready []*rankedItem) (best int) {
					for i, it := range ready {
						if b := ready[best]; it.priority > b.priority || it.priority == b.priority &&
							it.place > b.place {
							best = i
						}
					}
					return best
				}
			}),
		rankedOf("low numbers first", "a low number is taken for a high priority", "QUEUE-31",
			func(q *ranked) {
				q.next = func(ready []*rankedItem) (best int) {
					for i, it := range ready {
						if b := ready[best]; it.priority < b.priority || it.priority == b.priority &&
							it.place < b.place {
							best = i
						}
					}
					return best
				}
			}),
		rankedOf("the turn by age comes too often", "every second Get takes the oldest", "QUEUE-31",
			func(q *ranked) {
				q.turn = 2
			}),
		rankedOf("the priority is not told", "GetWithPriority forgets to fill in the priority",
			"QUEUE-32", func(q *ranked) {
				q.shown = func(int) int { return 0 }
			}).real(inControllerRuntime, "3157"),
		rankedOf("the last priority wins", "an item that is added again takes the new priority",
			"QUEUE-32 QUEUE-33", func(q *ranked) {
				q.merge = func(_, given int) int { return given }
			}),
		rankedOf("a raise is lost", "the priority of an item that is added again is computed from "+
			"what it was before the lock was taken", "QUEUE-32", func(q *ranked) {
			q.stale = true
		}),
		rankedOf("the first priority stays",
			"an item that is added again keeps its priority, also if the new one is higher", "QUEUE-33",
			func(q *ranked) {
				q.merge = func(held, _ int) int { return held }
			}),
		rankedOf("a raised item keeps its place",
			"an item that is raised goes before what had its new priority already", "QUEUE-33",
			func(q *ranked) {
				q.reenter = func(*rankedItem, bool) {}
			}),
		rankedOf("every Add moves to the end", "an item that is added again loses its place", "QUEUE-33",
			func(q *ranked) {
				q.reenter = func(it *rankedItem, _ bool) { it.place = q.newPlace() }
			}),
		rankedOf("the later of two times", "an item that is added again with a later time is put off",
			"QUEUE-34", func(q *ranked) {
				q.earlier = func(held, given time.Time) time.Time {
					if given.After(held) {
						return given
					}
					return held
				}
			}),
		rankedOf("added at once, it comes again", "Add of an item that waits leaves it waiting",
			"QUEUE-34", func(q *ranked) {
				q.comesAgain = true
			}),
		rankedOf("an old time counts",
			"a time that is over is taken for the one that the item waits for now", "QUEUE-34",
			func(q *ranked) {
				q.forgetful = true
			}),
		rankedOf("urgent once, urgent for ever",
			"an item that is added while it is processed keeps the priority that it had", "QUEUE-35",
			func(q *ranked) {
				q.sticky = true
			}),
		rankedOf("the delay hides the limiter's",
			"After is taken if it is given, also where the limiter's delay is shorter", "QUEUE-36",
			func(q *ranked) {
				right := q.delay
				q.delay = func(item string, o contract.AddOptions) time.Duration {
					if d := right(item, o); o.After <= 0 {
						return d
					}
					return o.After
				}
			}),
		rankedOf("a delay that is over hides nothing",
			"After below zero counts as none, so the limiter's delay is waited for", "QUEUE-36",
			func(q *ranked) {
				right := q.delay
				q.delay = func(item string, o contract.AddOptions) time.Duration {
					o.After = max(0, o.After)
					return right(item, o)
				}
			}),
		rankedOf("the limiter is asked for each name twice",
			"AddWithOpts asks the limiter once more to compare", "QUEUE-36", func(q *ranked) {
				right := q.delay
				q.delay = func(item string, o contract.AddOptions) time.Duration {
					if o.RateLimited {
						q.limiter.When(item)
					}
					return right(item, o)
				}
			}),
		rankedOf("only the first is added", "AddWithOpts returns after the first of its items",
			"QUEUE-37", func(q *ranked) {
				q.only = func(items []string) []string { return items[:min(1, len(items))] }
			}),
		rankedOf("due at one instant, in any order",
			"what has come due becomes ready as a heap or a map gives it", "QUEUE-40", func(q *ranked) {
				q.sooner = func(a, b *rankedItem) int {
					return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.item, b.item))
				}
			}),
		rankedOf("low priorities starve", "Get always takes the highest priority", "QUEUE-38",
			func(q *ranked) {
				q.turn = 0
			}),
		rankedOf("low priorities wait too long", "Get goes by age every 150 times", "QUEUE-38",
			func(q *ranked) {
				q.turn = 150
			}),
	}
}
