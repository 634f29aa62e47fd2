package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/report"
)

var writeTables = flag.Bool("update", false, "write the tables of Markdown from the runs")

// A table is written between these marks. Its lines say what its rows are:
//
//	<!-- table: runs -->
//	<!-- table
//	Get by one goroutine: stores/store/stores-get/objects=100000/get/{}/ns/op | lockfree to clientgo
//	-->
//
// A row's number is named as gates name it, the preset before it, {} in place of the
// implementation. The rows follow, up to <!-- end of table -->.
var tableMark = regexp.MustCompile(
	`(?s)<!-- table(: runs|\n.*?\n)\s*-->\n(.*?)<!-- end of table -->`)

// TestTables fails where a table is not what the runs say.
func TestTables(t *testing.T) {
	docs, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]*record.Run{}
	for _, name := range presets {
		if runs[name], err = record.ReadRun(name); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range append(docs, "README.md", "../README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		toRuns := map[bool]string{true: "", false: "../results/"}[filepath.Dir(file) == "."]
		if file == "../README.md" {
			toRuns = "results/"
		}
		want := tableMark.ReplaceAllFunc(text, func(table []byte) []byte {
			m := tableMark.FindSubmatch(table)
			rows, err := rowsOf(runs, strings.TrimSpace(string(m[1])), toRuns)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				return table
			}
			return bytes.Replace(table, []byte("-->\n"+string(m[2])+"<!-- end"),
				[]byte("-->\n"+rows+"<!-- end"), 1)
		})
		switch {
		case bytes.Equal(text, want) || t.Failed():
		case *writeTables:
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("a table of %s is not what results/ says: go test ./results -run Tables -update", file)
		}
	}
}

func rowsOf(runs map[string]*record.Run, spec, toRuns string) (string, error) {
	var b strings.Builder
	if spec == ": runs" {
		fmt.Fprint(&b, "| run | commit | begun | processes | took |\n|---|---|---|---:|---:|\n")
		for _, name := range presets {
			r := runs[name]
			took := 0.0
			for _, f := range r.Forks {
				took += f.Seconds
			}
			fmt.Fprintf(&b, "| [%s](%s%s/report.md) | %.12s | %s | %d | %s |\n", name, toRuns, name,
				r.Environment.Revision, r.Started.UTC().Format(time.DateOnly), len(r.Forks),
				time.Duration(took*float64(time.Second)).Round(time.Minute))
		}
		return b.String(), nil
	}
	lines := strings.Split(spec, "\n")
	_, sides, _ := strings.Cut(lines[0], " | ")
	uniform := !slices.ContainsFunc(lines, func(l string) bool {
		_, s, _ := strings.Cut(l, " | ")
		return s != sides
	})
	impl, reference, _ := strings.Cut(sides, " to ")
	if !uniform {
		impl, reference = "candidate", "reference"
	}
	fmt.Fprintf(&b, "| | %s | %s | ratio |\n|---|---|---|---|\n", reference, impl)
	for _, line := range lines {
		label, rest, ok := strings.Cut(line, ": ")
		number, sides, ok2 := strings.Cut(rest, " | ")
		preset, name, ok3 := strings.Cut(number, "/")
		impl, reference, ok4 := strings.Cut(sides, " to ")
		if r := runs[preset]; r == nil || !ok || !ok2 || !ok3 || !ok4 {
			return "", fmt.Errorf("%q: want LABEL: PRESET/NUMBER | CANDIDATE to REFERENCE, of %v", line,
				presets)
		}
		var cells [2]string
		var values [2][]float64
		var ratio *stats.Ratio
		for i, of := range []string{reference, impl} {
			n, err := find(runs[preset], name, reference, of)
			if err != nil {
				return "", fmt.Errorf("%s: %w", line, err)
			}
			cells[i] = report.NumberText(n.metric, n.Estimate.Median)
			lo, hi := report.NumberText(n.metric, n.Estimate.Lo), report.NumberText(n.metric, n.Estimate.Hi)
			if lo != hi {
				cells[i] += fmt.Sprintf(" [%s, %s]", lo, hi)
			}
			if !uniform {
				cells[i] = of + " " + cells[i]
			}
			values[i] = n.values
			if n.Against != nil {
				ratio = n.Against.Ratio
			}
		}
		if ratio == nil { // a row without a verdict
			r, err := stats.RatioOf(values[0], values[1])
			if err != nil {
				return "", fmt.Errorf("%s: %w", line, err)
			}
			ratio = &r
		}
		fmt.Fprintf(&b, "| [%s](%s%s/report.md) | %s | %s | %s |\n", label, toRuns, preset, cells[0],
			cells[1], report.RatioText(*ratio))
	}
	return b.String(), nil
}

// found is a number of a run: that of one implementation in a row, with the values of its forks.
type found struct {
	compare.Value
	metric string
	values []float64
}

// evaluated holds the comparisons of a run with a reference, which are computed once.
var evaluated = map[string][]compare.Group{}

// find returns a number, whose name has {} in place of the implementation.
func find(r *record.Run, name, reference, impl string) (found, error) {
	component, _, _ := strings.Cut(name, "/")
	key := r.Preset + " " + component + "=" + reference
	if evaluated[key] == nil {
		against, err := compare.AgainstReference(r, component, reference)
		if err != nil {
			return found{}, err
		}
		evaluated[key] = compare.Within(against)
	}
	for _, g := range evaluated[key] {
		rest, ok := strings.CutPrefix(name, component+"/"+g.Title+"/")
		series, metric, ok2 := strings.Cut(rest, "/{}/")
		if !ok || !ok2 || string(g.Cells[0].Component) != component {
			continue
		}
		series = strings.TrimPrefix(series, compare.ProcessSeries)
		for _, row := range g.Rows {
			for _, v := range row.Values {
				if row.Series == series && row.Metric == metric && v.Impl == impl {
					n := found{Value: v, metric: metric}
					for _, fork := range compare.ValuesOf(r, g.Cells[v.Cell:v.Cell+1], series) {
						n.values = append(n.values, fork[metric])
					}
					return n, nil
				}
			}
		}
	}
	return found{}, fmt.Errorf("the run has no number %s of %s", name, impl)
}
