package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
)

// underLoads is the sample run at several numbers of listers.
func underLoads(listers ...string) *record.Run {
	r := sampleRun(6)
	cells, forks, text := r.Cells, r.Forks, r.Workloads[0]
	r.Cells, r.Forks, r.Workloads = nil, nil, nil
	for _, n := range listers {
		at := func(c record.Cell) record.Cell {
			c.Params = append(slices.Clone(c.Params), record.Param{Key: "listers", Value: n})
			return c
		}
		for _, c := range cells {
			r.Cells = append(r.Cells, at(c))
		}
		for _, f := range forks {
			f.Cell = at(f.Cell)
			f.Series = append(slices.Clone(f.Series),
				record.Series{Group: "listers", Op: "list", Values: map[string]float64{metrics.Achieved: 4321}})
			r.Forks = append(r.Forks, f)
		}
		text.Key = r.Cells[len(r.Cells)-1].WorkloadKey()
		r.Workloads = append(r.Workloads, text)
	}
	return r
}

func TestContentionIsOneTable(t *testing.T) {
	t.Parallel()
	var text, md bytes.Buffer
	r := underLoads("1", "10")
	if err := of(t, r).WriteText(&text, Terminal{Wide: true}); err != nil {
		t.Fatal(err)
	}
	if err := of(t, r).WriteMarkdown(&md); err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(md.String(), "## Under load")
	table, _, _ = strings.Cut(table, "\n## ")
	if !found {
		t.Fatal("the report has no section about loads")
	}
	for _, want := range []string{"store-ops/objects=10/listers=1 |",
		"store-ops/objects=10/listers=10 |", "writer:update at 100/s", "reference", "slow",
		"listers:list 4,321 ops/s", "delay p99"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
	if strings.Contains(table, "@aa") {
		t.Error("the second copy of the reference is shown as an implementation")
	}
	if !strings.Contains(text.String(), "store under load") ||
		strings.Count(text.String(), "writer:update at 100/s") != 2 {
		t.Errorf("the text lacks the table:\n%s", text.String())
	}
}

// A single load has its own table already.
func TestOneLoadNeedsNoContention(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	if err := of(t, underLoads("1")).WriteText(&text, Terminal{Wide: true}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "under load") {
		t.Error("a run with one load repeats its table")
	}
}
