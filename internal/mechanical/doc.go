// Package mechanical makes small mistakes in the project's own packages, by rule and not by
// hand, and tests whether the importable conformance suites detect each of them. It
// measures the suites on mistakes that their authors did not think of.
//
// Thousands of mutants are not compiled one by one. Instrument rewrites a package so that
// every mutant is in it, and package active chooses one at run time (mutant schemata, Untch
// et al. 1993). The rewritten files exist only in an overlay of go build; the tree stays
// unchanged. Package judge is the program that is built so. A process for each mutant runs
// the conformance suites of the catalog's entries that use the package, clause by clause.
// It stops at the first clause that fails. A process that crashes, or allocates without
// bound, counts for the clause whose case was running.
//
// A mutant that no suite detects is either a gap in a suite or equivalent: it breaks no
// promise of the contract. The ledger (ledger.yaml) holds one reason for each equivalent
// mutant. Its key is function, source text and mutation, so that a change elsewhere in the
// file does not invalidate it.
//
// Run it with make mechanical; docs/mechanical-mutants.md is the page it writes.
package mechanical
