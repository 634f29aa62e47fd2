package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/stats"
)

func TestRunJSON(t *testing.T) {
	t.Parallel()
	r := sampleRun(6)
	var out bytes.Buffer
	if err := of(t, r).WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	var read struct {
		Schema  int
		Run     string
		Numbers []struct {
			Name     compare.Name
			Estimate stats.Estimate
			Against  *compare.Comparison
		}
	}
	if err := json.Unmarshal(out.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	judged := 0
	for _, n := range read.Numbers {
		if n.Against != nil && n.Against.Verdict != stats.NotComparable {
			judged++
		}
	}
	if read.Schema != RunSchema || read.Run != r.Name || len(read.Numbers) != 21 || judged == 0 {
		t.Errorf("%d numbers, %d judged: %s", len(read.Numbers), judged, out.String()[:200])
	}
}

// Where the reference has no value, such as an operation that it does not support, the others
// are written without a comparison that JSON could not hold.
func TestRunJSONWithoutAReference(t *testing.T) {
	t.Parallel()
	r := sampleRun(6)
	reference := r.ReferenceOf(r.Cells)
	for i := range r.Forks {
		if f := &r.Forks[i]; f.Cell.Impl == reference.Impl {
			f.Series = nil
		}
	}
	var out bytes.Buffer
	if err := of(t, r).WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out.Bytes()) || !strings.Contains(out.String(), `"no values"`) {
		t.Error(out.String())
	}
}

// Hostile names stay text in the forms for programs.
func TestHostileMachineForms(t *testing.T) {
	t.Parallel()
	run := rich()
	for _, text := range hostile {
		r := with(run, map[string]string{run.Name: text, run.Impls[1].Name: text,
			run.Cells[0].Workload: text, run.Preset: text, run.Environment.Revision: text})
		for name, write := range map[string]func(*Report, io.Writer) error{"json": (*Report).WriteJSON} {
			var out bytes.Buffer
			if err := write(of(t, r), &out); err != nil {
				t.Fatalf("%q: %s: %v", text, name, err)
			}
			if !json.Valid(out.Bytes()) {
				t.Errorf("%q: %s is no JSON", text, name)
			}
			plainText(t, fmt.Sprintf("%q: %s", text, name), out.String())
		}
	}
}
