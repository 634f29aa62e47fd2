// Package record keeps what a run has measured: its forks in memory and on disk, the order
// in which they are measured, and the checks of files that are read back.
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
// A run begins with [CreateJournal], which writes each fork to a file of its own as soon as
// it is measured, and ends with [WriteRun]. [ReadRun] reads either.
package record
