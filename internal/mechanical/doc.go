// Package mechanical makes small mistakes in the project's own packages, by rule and not
// by hand, and asks whether the importable conformance suites notice each of them. It says
// how good the suites are where nobody thought of a mistake.
//
// Thousands of mutants are not compiled one by one. Instrument rewrites a package so that
// every mutant is in it and package active chooses one at run time (mutant schemata, Untch
// et al. 1993). The rewritten files exist only in an overlay of go build; the tree is not
// touched. Package judge is the program that is built so: a process for each mutant runs
// the conformance suites of the catalog's entries that stand on the package, clause by
// clause, and stops at the first that accuses it. A process that crashes, or
// allocates without bound, counts for the clause whose case was running.
//
// A mutant that no suite notices is either a gap in a suite or equivalent: nothing that
// the contract promises depends on it. The ledger (ledger.yaml) holds one reason for each
// equivalent mutant, keyed by function, source text and mutation, so that a change
// elsewhere in the file does not invalidate it.
//
// Run it with make mechanical; docs/mechanical-mutants.md is the page it writes.
package mechanical
