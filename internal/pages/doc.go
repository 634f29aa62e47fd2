// Package pages writes the measured numbers of the pages of documentation, of the proposal to
// client-go's maintainers, and of the rules of advise. Each is taken from the runs in results/ and
// upstream/results, so no page can say what no run shows.
//
// A number in a sentence is a link to the report of its run, whose title names the number (see
// [compare.Name]) and, for a ratio, the implementation that it is a ratio to:
//
//	[0.80x](../results/stores/report.md "store/stores-get/objects=100000/get/lockfree/ns/op to clientgo")
//
// [0.80x [0.78, 0.82]](...) has the interval too. A table stands between two comments. The
// first comment lists columns and rows. A row names its numbers; each column's text takes the
// place of {} in that name.
//
//	<!-- results
//	columns: {lockfree: lockfree, dense: dense}
//	rows:
//	  Get: stores/store/stores-get/objects=100000/get/{}/ns/op to clientgo
//	-->
//	<!-- end results -->
//
// A table may say what is asked of its rows: "asked: {Get: at most 0.80, p99: at most 1ms,
// lists: at least 2}". The first column's number is held against it: "yes" where its whole
// interval meets the bound, "no" where its whole interval misses it.
//
// Ratios of the benchmarks of make turns have names that begin with the folder in-turns/:
// "in-turns/StoreInTurns/pods=1000/op=get/bare to clientgo" in a row, and in a sentence a link
// to results/in-turns/store.txt with the rest as its title. Medians of the benchmarks of make
// instruments are named alike, by NAME/UNIT: "instruments/Watch/object=pod/events/s" in a row, and
// in a sentence a link to results/instruments/apiserver.txt with "Watch/object=pod/events/s".
//
// Numbers of the benchmarks that upstream/run.sh measured have names that begin with upstream/
// and the folder in upstream/results: "upstream/contention/BENCHMARK/UNIT/off", ".../on", and
// ".../on to off" in a row; in a sentence a link to results/contention/benchstat.txt with
// "BENCHMARK/UNIT/on" as its title.
//
// A new number is written as [?](...), and as {?} in the rules of advise.
package pages

//go:generate go run ./run
