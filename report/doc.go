// Package report formats the record of a run for people and tools: a table for the
// terminal, report.md, report.html (one page that opens offline), and bench.txt for
// benchstat.
//
// It depends on recorded files only. Everything comes from the record.Run in run.json, so
// a report can be made again at any time, anywhere (benchrun report DIR).
//
// The flow: Of evaluates the run once (package compare: tables of estimates, ratios and verdicts,
// and the answers), and escapes the result once more for Markdown (clean.go). The methods of
// Report only lay it out: text.go and terminal.go for a terminal, markdown.go, page.go with
// page.gotmpl, page.css and page.js for report.html, benchtxt.go, and machine.go as JSON. Of two
// runs, versus.go writes the comparison as text.
package report
