// Package report formats the record of a run for people and tools: a table for the
// terminal, report.md, report.html (one page that opens offline), and bench.txt for
// benchstat.
//
// It depends on recorded files only. Everything comes from the record.Run in run.json, so
// a report can be made again at any time, anywhere (benchrun report DIR).
//
// The flow: package compare groups forks into tables of estimates, ratios and verdicts, and
// sums them up in answers. text.go renders them for a terminal (terminal.go: what fits it),
// markdown.go for report.md, page.go for report.html with page.gotmpl, page.css and page.js;
// benchtxt.go writes the raw values. forest.go and latency.go draw the page's pictures,
// curves.go and curvemarks.go those of the sweeps, which scaling.go evaluates. reference.go
// and reference.js show the tables against another reference. Of two runs, versus.go writes
// the comparison as text, and versuspage.go as a page with versus.gotmpl. clean.go makes the
// record's strings harmless.
package report
