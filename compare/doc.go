// Package compare sets recorded numbers against each other and judges: the
// implementations of one run against its reference (Within), two runs (Runs), and
// two files in the Go benchmark format (Files).
//
// How data flows: each of the three makes [Comparison] values, which are judged
// together as one family (judge.go), because who asks many questions at once must
// be charged for it. Gates (gate.go) turn the judged comparisons into an outcome
// that CI can act on. Package report makes tables of all of it.
//
// It knows files only, never what was measured. Nothing here may be called
// concurrently on the same values. Cost: some milliseconds a comparison, for the
// bootstrap.
package compare
