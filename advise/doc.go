// Package advise says which store, FIFO, delay heap, workqueue and informer suit a load, what
// that rests on and what it costs, and gives the line of code that puts it in.
//
// A load is described by hand ([Load]), summed up from a trace ([OfTrace]) or taken from a run
// ([OfRun]). The rules are data, in rules.yaml: each has the ranges that were measured, though
// not in every combination. What a run measured nearest to the load comes before the rules. Where
// neither covers the load, the advice is to measure, with the commands that do so
// ([Table.Advise], [Workload]).
//
// docs/which.md is made from the same rules ([Table.WritePage]). Tests look every number of the
// rules up in its record under results/, and compile every line of code.
//
// Everything here may be used by any number of goroutines at once. Reading the table takes some
// milliseconds; an advice takes time linear in the rules.
package advise

//go:generate go test -run TestPageIsMadeFromTheRules -update .
