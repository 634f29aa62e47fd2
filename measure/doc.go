// Package measure contains everything around a measurement that holds for any component:
// histograms, process counters, the environment, child processes, the order of forks, the
// run's record on disk, statistics and verdicts.
//
// The words, from the outside in:
//
//   - A run is one call of benchrun, kept in one folder (run.json).
//   - A cell is component x implementation x workload x GOMAXPROCS.
//   - A fork is one measurement of one cell in a process of its own.
//   - A series is one operation or one group of actors within a fork; each fork
//     gives one value per metric and series, so forks are the samples.
//   - A block is one fork of every cell, in shuffled order: a drift of the machine
//     affects all cells alike.
//
// The package does not depend on a store or a queue; package bench does the measured work.
package measure
