package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/measure/record"
)

func TestMarkdownShowsLocks(t *testing.T) {
	t.Parallel()
	r := sampleRun(6)
	const heading = "## Locks"
	render := func() string {
		var md bytes.Buffer
		if err := of(t, r).WriteMarkdown(&md); err != nil {
			t.Fatal(err)
		}
		return md.String()
	}
	if strings.Contains(render(), heading) {
		t.Error("a run without traces has a section about locks")
	}
	extra := &r.Forks[len(r.Forks)-1]
	extra.Locks = &record.Locks{Traced: 1e9, Full: true, Waits: 1416,
		Wait: record.LockTime{Ns: 60_739_520, By: "writer:update", In: "cache.(*threadSafeMap).Update"},
		Hold: record.LockTime{Ns: 52_579_072, In: "cache.(*threadSafeMap).List"}}
	md := render()
	for _, want := range []string{heading, extra.Cell.ID(), "1s (full)", "1416", "60.7ms",
		"writer:update, cache.", "<= 52.6ms", "(unmarked), cache.", "no interval"} {
		if !strings.Contains(md, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	extra.Locks = &record.Locks{Traced: 5e8}
	if md = render(); !strings.Contains(md, "500ms") || !strings.Contains(md, "none") {
		t.Error("a cell without waits is not shown as such")
	}
}
