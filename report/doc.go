// Package report formats the record of a run for people and tools: a table for the
// terminal, report.md, report.html (one page that opens offline), and bench.txt for
// benchstat.
//
// It depends on recorded files only. Everything comes from the record.Run in run.json, so
// a report can be made again at any time, anywhere (benchrun report DIR).
//
// The flow: package compare groups forks into tables of estimates, ratios and verdicts;
// text.go, markdown.go and html.go render them; benchtxt.go writes the raw values.
// scaling.go evaluates the sweeps, and curves.go draws them.
package report
