// Package mutants holds broken stores, FIFOs, heaps, queues, rate limiters and informers:
// each is sound but for one small, plausible mistake, and names the clauses of
// package contract that must catch it. A suite is only as good as what it
// catches; these say how good. Another measure, mistakes made by rule (a condition, a bound, a
// call changed; killed of killed and open), was last taken at 7a6b75f9: mutexmap 99.6%, the dense
// store 99.1%, delay 95.2%, deltafifo 96.8%, workqueue 97.3%.
//
// Many of the mistakes are real ones, from the history of client-go,
// controller-runtime and their kin, with a link; some are what the newest
// client-go still does. The tables are [Stores], [FIFOs], [Heaps], [Queues],
// [Limiters] and [Informers]; every clause of the contract has at least one mutant.
//
// [Try] runs the suites over mutants and [Score] sums that up. To find out
// whether a suite of your own would notice, give it the constructors:
//
//	for _, m := range mutants.Stores() {
//		if err := mySuite(m.NewStore); err == nil {
//			t.Errorf("%s goes unnoticed: %s", m.Name, m.Mistake)
//		}
//	}
//
// Cost: all of them take some tens of seconds of two cores. Those whose mistake
// is a lock left held or a goroutine left behind ([Mutant.Hangs] and some queues)
// leave goroutines behind for good: it is their mistake, and nothing can end them.
package mutants
