// Package evidence measures every preset at one commit and keeps the runs, a folder for each
// preset, with an index that says first what to use. The pages of docs/ stand on these runs.
//
// All presets take hours. So Measure can be interrupted at any time, and goes on where it was
// when it is called again, with the same commit, whatever the work tree holds by then. What is
// not finished lies in the folder Next. The finished runs take the place of the former ones
// when all are there, so the folder of the results never holds runs of two commits.
package evidence

//go:generate go test -run TestKeptIndexHasTheRules -update .
