// Package bench measures one fork: a [Request] names a cell, [Run] measures it in this
// process. benchrun starts itself for each fork. Under go test -bench, [Store], [FIFO],
// [DelayHeap], [Queue] and [Informer] run the same loops over one implementation and
// client-go's (gobench.go).
//
// How data flows: Run looks up the implementation in the catalog and hands it to
// internal/subject, which fills the component and makes an actor for each operation of the
// workload, or to internal/replay, which feeds it a trace. internal/engine runs the actors,
// alone or groups against each other. internal/staleness measures until a consumer has an
// event, internal/profile writes the profiles of an extra fork. The result is a record.Fork.
// Package bench/runner plans the forks of a run and starts their processes.
package bench
