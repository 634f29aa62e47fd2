// Package fifotest tests a FIFO, the queue between a Reflector and a Controller,
// against the clauses FIFO-* of package contract.
//
// [Run] gives a subtest per case, [Check] the same cases as errors; each case names
// its clause. The class of the FIFO ([Class]) decides which cases apply; cases for a
// power that it lacks (contract.BatchPopper, contract.KeyedQueue, a transformer)
// are skipped with the reason, and so are those of contract.CapUnlocked unless
// [Unlocked] claims it. [Fuzz] turns the random histories into a fuzz target.
//
// Sequential cases come first for each clause, then random histories against a
// simple model of each class, then concurrent ones that are meant for -race too.
// Nothing depends on time: a case waits only for what a healthy FIFO always does,
// and gives up after a tenth of the case's bound.
//
// Cost: a whole run takes about a second at effort 1, and some ten under -race.
package fifotest
