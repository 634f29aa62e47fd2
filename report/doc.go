// Package report turns the record of a run into what people and tools read:
// a table for the terminal, report.md, report.html (one page that opens offline),
// and bench.txt for benchstat.
//
// It knows files only: everything comes from the measure.Run that run.json
// holds, so a report can be made again at any time, anywhere (benchrun report DIR).
//
// The flow: model.go groups forks into tables of estimates, ratios and verdicts;
// text.go, markdown.go and html.go render them; benchtxt.go writes the raw values.
// scaling.go does the same along the values of a sweep, and curves.go draws them.
package report
