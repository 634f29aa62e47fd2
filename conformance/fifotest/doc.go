// Package fifotest tests a FIFO, the queue between a Reflector and a Controller, against
// the clauses FIFO-* of package contract.
//
// [Run] runs a subtest per case; [Check] returns the failures of the same cases as errors.
// Each case names its clause. The class of the FIFO ([Class]) decides which cases apply.
// Cases for an optional capability that the FIFO lacks (contract.BatchPopper,
// contract.KeyedQueue, a transformer) are skipped with the reason. So are those of
// contract.CapUnlocked unless [Unlocked] claims it. [Fuzz] turns the random histories into
// a fuzz target. A case on what must hold while process runs pops with Pop and then, where
// the FIFO has it, with PopBatch.
//
// For each clause, sequential cases come first, then random histories against a simple
// model of each class, then concurrent cases that are meant for -race too. Nothing depends
// on time: a case waits only for what a healthy FIFO always does, and gives up after a
// tenth of the case's bound.
//
// Cost: a whole run takes about a second at effort 1, and some ten seconds under -race.
package fifotest
