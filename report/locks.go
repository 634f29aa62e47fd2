package report

import (
	"cmp"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/informerbench/informerbench/measure/record"
)

// writeLocks writes a row for each cell whose extra fork was traced.
func writeLocks(w *writer, r *record.Run) {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"cell", "traced", "waits", "longest wait", "who waited", "longest hold",
		"who held"})
	for _, f := range r.Forks {
		l := f.Locks
		if l == nil {
			continue
		}
		traced, wait := time.Duration(l.Traced).Round(time.Millisecond).String(), "none"
		if l.Full {
			traced += " (full)"
		}
		if l.Waits > 0 {
			wait = duration(l.Wait.Ns)
		}
		hold := "none"
		if l.Hold.Ns > 0 {
			hold = "<= " + duration(l.Hold.Ns)
		}
		t.AppendRow(table.Row{f.Cell.ID(), traced, l.Waits, wait, lockedBy(l.Wait), hold,
			lockedBy(l.Hold)})
	}
	if t.Length() == 0 {
		return
	}
	w.printf("## Locks: the longest single wait and hold\n\n")
	w.printf("From the execution trace of one more process per cell, so these numbers have no " +
		"interval and no verdict rests on them. " +
		"Counted are sync.Mutex and sync.RWMutex, the component's and the harness's; the function " +
		"tells which. " +
		"Unmarked are goroutines that the component runs itself, and operations begun before the trace. " +
		"A hold shows only if somebody waited for it, as an upper bound. 0 waits: no goroutine had to " +
		"wait for a lock.\n\n")
	w.printf("%s\n\n", t.RenderMarkdown())
}

// lockedBy names the series and the function.
func lockedBy(l record.LockTime) string {
	if l.Ns == 0 {
		return ""
	}
	return cmp.Or(l.By, "(unmarked)") + ", " + cmp.Or(l.In, "before the trace")
}
