package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/informerbench/informerbench/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// strictly decodes JSON that has no field beside those of into.
func strictly(t *testing.T, text []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		t.Errorf("more follows: %v", err)
	}
}

// bmf is the schema https://bencher.dev/bmf.json, written as Go types from its text: an object
// by benchmark of objects by measure, each with a number "value", which is required, and the
// numbers "lower_value" and "upper_value".
type bmf map[string]map[string]struct {
	Value      *float64 `json:"value"`
	LowerValue *float64 `json:"lower_value"`
	UpperValue *float64 `json:"upper_value"`
}

func TestBencherMetricFormat(t *testing.T) {
	t.Parallel()
	r := sampleRun(6)
	var out bytes.Buffer
	if err := WriteBencher(&out, r); err != nil {
		t.Fatal(err)
	}
	var read bmf
	strictly(t, out.Bytes(), &read)
	numbers := 0
	for name, measures := range read {
		// BenchmarkName and ResourceName of Bencher: 1 to 1024 and 1 to 64 characters.
		if n := utf8.RuneCountInString(name); n == 0 || n > 1024 {
			t.Errorf("a benchmark of %d characters", n)
		}
		for measure, m := range measures {
			numbers++
			if n := utf8.RuneCountInString(measure); n == 0 || n > 64 {
				t.Errorf("a measure of %d characters", n)
			}
			if m.Value == nil || m.LowerValue != nil && (*m.LowerValue > *m.Value || *m.UpperValue < *m.Value) {
				t.Errorf("%s, %s: %+v", name, measure, m)
			}
		}
	}
	if numbers != 14 { // seven of each implementation, without the copy of the reference
		t.Errorf("%d numbers", numbers)
	}
	c := r.Cells[1]
	get := read[fmt.Sprintf("Store/workload=%s/objects=10/op=get/impl=%s-2", c.Workload, c.Impl)]["latency"]
	if want := compare.EstimateOf(r, c, "get", metrics.NsPerOp); get.Value == nil || *get.Value != want.Median || *get.LowerValue != want.Lo || *get.UpperValue != want.Hi {
		t.Errorf("latency of get: %+v, want %+v", get, want)
	}
}

// perfDataSchema is PerfData of k8s.io/perf-tests (clusterloader2/pkg/measurement/util/perftype.go),
// written anew field for field.
type perfDataSchema struct {
	Version   string `json:"version"`
	DataItems []struct {
		Data   map[string]float64 `json:"data"`
		Unit   string             `json:"unit"`
		Labels map[string]string  `json:"labels"`
	} `json:"dataItems"`
	Labels map[string]string `json:"labels"`
}

func TestPerfDash(t *testing.T) {
	t.Parallel()
	r := sampleRun(6)
	var out bytes.Buffer
	if err := WritePerfDash(&out, r); err != nil {
		t.Fatal(err)
	}
	var read perfDataSchema
	strictly(t, out.Bytes(), &read)
	if read.Version == "" || read.Labels["run"] != r.Name {
		t.Errorf("version %q, labels %v", read.Version, read.Labels)
	}
	c := r.Cells[1]
	seen, delays := map[string]bool{}, 0
	for _, item := range read.DataItems {
		key := fmt.Sprint(item.Labels)
		if seen[key] {
			t.Errorf("two items of the labels %s", key)
		}
		seen[key] = true
		if len(item.Data) == 0 || item.Labels["Count"] != "" { // perf-dash removes Count
			t.Errorf("%+v", item)
		}
		if item.Labels["Metric"] == metrics.Delay && item.Labels["Implementation"] == c.Impl && item.Labels["Param-objects"] == "10" {
			delays++
			want := compare.EstimateOf(r, c, "writer:update", metrics.Percentile(metrics.Delay, 99)).Median / 1e6
			if item.Unit != "ms" || math.Abs(item.Data["Perc99"]-want) > 1e-12 {
				t.Errorf("the delay is %+v, want %g ms", item, want)
			}
		}
	}
	if delays != 1 || len(seen) != 14 {
		t.Errorf("%d items, %d delays", len(seen), delays)
	}
}

func TestRunJSON(t *testing.T) {
	t.Parallel()
	r := sampleRun(6)
	var out bytes.Buffer
	if err := WriteRunJSON(&out, r); err != nil {
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
	if err := WriteRunJSON(&out, r); err != nil {
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
		r := with(run, map[string]string{run.Name: text, run.Impls[1].Name: text, run.Cells[0].Workload: text, run.Preset: text, run.Environment.Revision: text})
		for name, write := range map[string]func(io.Writer, *record.Run) error{"bencher": WriteBencher, "perfdash": WritePerfDash, "json": WriteRunJSON} {
			var out bytes.Buffer
			if err := write(&out, r); err != nil {
				t.Fatalf("%q: %s: %v", text, name, err)
			}
			if !json.Valid(out.Bytes()) {
				t.Errorf("%q: %s is no JSON", text, name)
			}
			plainText(t, fmt.Sprintf("%q: %s", text, name), out.String())
		}
	}
}
