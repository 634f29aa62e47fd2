package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
)

// The command of a row measures it anywhere: it has nothing of where the run was measured.
func TestAgainLeavesOutWhereTheRunWas(t *testing.T) {
	t.Parallel()
	r := &record.Run{Command: strings.Fields(
		"benchrun run --continue --preset quick -o there -oelsewhere --shard 3/16 --machine=m --impl *")}
	if got, want := again(r, "store", "clientgo", "lockfree"),
		"benchrun run --preset quick --component store --impl clientgo,lockfree"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// A workload cannot take an id that the page's own scripts look for.
func TestWorkloadsTakeNoIDOfThePage(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"filter", "answer", "flame-data"} {
		r := recordtest.Run(
			recordtest.Spec{Forks: 6, Impls: []recordtest.Impl{{Name: "clientgo", NsPerOp: 100},
				{Name: "lockfree", NsPerOp: 50}}})
		for i := range r.Cells {
			r.Cells[i].Workload, r.Cells[i].Params = name, nil
		}
		for i := range r.Forks {
			r.Forks[i].Cell.Workload, r.Forks[i].Cell.Params = name, nil
		}
		for i := range r.Workloads {
			r.Workloads[i].Key = r.Cells[0].WorkloadKey()
		}
		var page bytes.Buffer
		if err := of(t, r).WriteHTML(&page); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(page.String(), `id="`+name+`"`); n > 1 {
			t.Errorf("%d elements have the id %q", n, name)
		}
		if !strings.Contains(page.String(), `id="`+name+`-2"`) {
			t.Errorf("the workload %q has no id of its own", name)
		}
	}
}

// Headings and pictures of a part have ids and links to themselves.
func TestPartsHavePermalinks(t *testing.T) {
	t.Parallel()
	body, err := fragment([]byte("### list over listers\n\n![list over listers](curves/a.svg)\n"),
		map[string][]byte{"curves/a.svg": []byte("<svg/>")}, place{"scaling", anchors{"scaling": true}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<h3 id="scaling-list-over-listers">`,
		`href="#scaling-list-over-listers"`, `<img id="scaling-list-over-listers-2"`,
		`href="#scaling-list-over-listers-2"`} {
		if !strings.Contains(string(body), want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}
