// Package compare compares recorded numbers and judges the differences: the implementations
// of one run against its reference (Within), two runs (Runs), and two files in the Go
// benchmark format (Files).
//
// How data flows: each of the three finds pairs of samples, base's and head's, and the ratio of
// turns where the two took any (number.go). newComparison makes a [Comparison] of each pair, with
// a ratio and its interval by package stats. Those of a run, or of two, are judged together as
// one family (comparison.go), because many tests at once must be corrected for their number.
// Gates (gate.go) turn the judged comparisons into an outcome that CI can act on. Package
// report makes tables of all of it.
//
// It depends on recorded files only, never on the measured components. No function may be
// called concurrently on the same values. Cost: some milliseconds per comparison, for the
// bootstrap.
package compare
