package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/metrics"
)

// A series that did too few operations for a p99 says what is judged in its place.
func TestPercentileNotes(t *testing.T) {
	t.Parallel()
	// of are the rows of a series that has some distributions and one key metric.
	of := func(series, key string, distributions ...string) (rows []compare.Row) {
		for _, d := range distributions {
			for _, metric := range []string{metrics.Usual(d), metrics.Percentile(d, 50),
				metrics.Percentile(d, 90), metrics.Percentile(d, 99), metrics.Number(d)} {
				rows = append(rows, compare.Row{Series: series, Metric: metric, Key: metric == key})
			}
		}
		return append(rows, compare.Row{Series: series, Metric: metrics.Achieved, Key: true})
	}
	g := compare.Group{Rows: slices.Concat(
		of("writer:update", "delay-p99-ns", metrics.Delay, metrics.Service),
		of("short:update", "delay-usual-p99-ns", metrics.Delay, metrics.Service),
		of("listers:list", "service-p90-ns", metrics.Service),
		of("relister:relist", "", metrics.Service),
		of("worker:get-done", "", metrics.Stale),
		of("rare:replace", "", metrics.Delay, metrics.Service),
		[]compare.Row{{Series: "get", Metric: metrics.NsPerOp, Key: true},
			{Metric: metrics.HeapPerObject, Key: true}},
	)}
	want := []string{
		"too few operations for a p99, which needs 1000 in each process: service-p90 of " +
			"listers:list is judged instead",
		"too few operations for a percentile: service of relister:relist",
		"too few operations for a percentile: stale of worker:get-done",
		"too few operations for a percentile: delay of rare:replace",
	}
	if got := percentileNotes(g); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Terminal, Markdown and page have the notes.
func TestReportsSayThatOperationsAreTooFew(t *testing.T) {
	t.Parallel()
	r := sampleRun(6)
	for i := range r.Forks {
		values := r.Forks[i].Series[1].Values
		values["delay-p90-ns"], values[metrics.Number(metrics.Delay)] = values["delay-p99-ns"], 200
	}
	var text, md, page bytes.Buffer
	if err := of(t, r).WriteText(&text, Terminal{Wide: true}); err != nil {
		t.Fatal(err)
	}
	if err := of(t, r).WriteMarkdown(&md); err != nil {
		t.Fatal(err)
	}
	if err := of(t, r).WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	for name, out := range map[string]string{"terminal": text.String(), "Markdown": md.String(),
		"page": page.String()} {
		if !strings.Contains(
			out, "too few operations for a p99, which needs 1000 in each process: delay-p90 of "+
				"writer:update is judged instead") {
			t.Errorf("%s does not say which percentile is judged", name)
		}
	}
}
