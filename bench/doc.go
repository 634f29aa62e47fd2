// Package bench measures one fork: a [Request] names a cell, [Run] measures it in this
// process. benchrun starts itself for each fork. Under go test -bench, [Store], [FIFO],
// [DelayHeap], [Queue] and [Informer] run the same loops over one implementation and
// client-go's.
//
// # Under go test -bench
//
// One line measures an implementation:
//
//	func BenchmarkStore(b *testing.B) { bench.Store(b, mystore.New) }
//
// First the conformance suites of both run, once in a process. Then each operation of the
// component is measured alone, on the objects of benchrun's default preset, by one goroutine
// and by GOMAXPROCS of them where the component allows that; ns/op is the time of an
// operation of one goroutine. Last comes the load of that preset under contention. An
// iteration of it is one run of some 0.3 s. It reports the median over the runs of each
// number that gets a verdict in benchrun's reports, with the name of its group before it.
//
//	BenchmarkStore/op=list/impl=mystore/objects=10000/goroutines=1
//	BenchmarkStore/workload=store-contended/impl=mystore/objects=10000
//
// benchstat -col /impl shows the implementations side by side. Yours has the name of its
// constructor's package, or Entry.Name if an option sets that. The options are those of
// package catalog.
//
// # How data flows
//
// Run looks up the implementation in the catalog and hands it to internal/subject, which fills
// the component and makes an actor for each operation of the workload, or to internal/replay,
// which feeds it a trace. internal/engine runs the actors, alone or groups against each other.
// internal/staleness measures until a consumer has an event, internal/profile writes the
// profiles of an extra fork. The result is a record.Fork. Package bench/runner plans the forks
// of a run and starts their processes.
package bench
