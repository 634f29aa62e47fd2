// Package history follows numbers over many runs and finds where they changed.
//
// [Read] takes a folder of runs, [Of] takes records. Each number that gets a verdict within a
// run makes a series: component x workload x series x implementation x metric, one point for
// each run that has it. Points of one series are comparable: from one class of machine
// ([Machine]), from schemas whose numbers mean the same (record.SameNumbers), and of one
// definition of the workload. Points that differ in these belong to different series.
//
// Where an implementation took turns with the reference, a point is its ratio to the reference,
// so what changed the speed of the machine from run to run cancels. Elsewhere it is the value
// itself, and a change may be the machine's; the change then says whether the reference
// changed too.
//
// The statistics are those of package stats (ChangesIn, DriftOf), and the number of series is
// corrected for: with the default alpha of 0.01, at most one history in a hundred of runs of
// equal code shows any change, in noise without memory. docs/history.md has the numbers.
//
// It depends on recorded files only, and on git where runs are ordered by commit. Nothing may
// be called concurrently on one History. Cost: reading takes most of it, some 20 ms for a
// run.json of 1 MB; the change points of a series of 200 runs take 1 ms.
package history
