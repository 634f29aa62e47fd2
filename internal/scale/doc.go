// Package scale says by simulation what many machines would give a run: how small a difference
// shards find in ten minutes, and how many shards one percent takes. It writes docs/scale.md.
//
// The plan is the real one: every preset over the whole catalog, divided by record.Divide. The
// noise is what was measured: the records in results/, and of operations in turns the table in
// docs/log/decisions.md. The tests are those of benchrun merge. What is assumed stands on the page.
package scale

//go:generate go run ./run ../../results ../../docs/scale.md
