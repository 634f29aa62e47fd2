package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
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
// A row's number is that of compare.Lookup, the preset before it, {} in place of the
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
		var ratio string
		for i, of := range []string{reference, impl} {
			n, err := compare.Lookup(runs[preset], strings.Replace(name, "{}", of, 1))
			if err != nil {
				return "", err
			}
			e := n.Estimate()
			cells[i] = report.NumberText(n.Metric, e.Median)
			lo, hi := report.NumberText(n.Metric, e.Lo), report.NumberText(n.Metric, e.Hi)
			if lo != hi {
				cells[i] += fmt.Sprintf(" [%s, %s]", lo, hi)
			}
			if !uniform {
				cells[i] = of + " " + cells[i]
			}
			if i == 1 {
				to, err := n.RatioTo(reference)
				if err != nil {
					return "", err
				}
				ratio = report.RatioText(to)
			}
		}
		fmt.Fprintf(&b, "| [%s](%s%s/report.md) | %s | %s | %s |\n", label, toRuns, preset, cells[0],
			cells[1], ratio)
	}
	return b.String(), nil
}

// What pack leaves can be read and reported on, and has the profiles of each implementation once.
func TestPack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := recordtest.Run(recordtest.Spec{Forks: 6, Impls: []recordtest.Impl{{Name: "a", NsPerOp: 10},
		{Name: "b", NsPerOp: 20}}})
	if err := recordtest.AddProfiles(dir, r, func(record.Cell) []recordtest.Stack {
		return []recordtest.Stack{{Functions: []string{"main.main", "f"}, Samples: 3}}
	}); err != nil {
		t.Fatal(err)
	}
	if err := record.WriteRun(dir, r); err != nil {
		t.Fatal(err)
	}
	if err := report.Write(dir); err != nil {
		t.Fatal(err)
	}
	if err := pack(dir); err != nil {
		t.Fatal(err)
	}
	var files []string
	if err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			files = append(files, filepath.ToSlash(rel))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{"bench.txt", "profiles/store_a/allocs.pb.gz", "profiles/store_a/cpu.pb.gz",
		"profiles/store_b/allocs.pb.gz", "profiles/store_b/cpu.pb.gz", "report.md", "run.json.gz"}
	if !slices.Equal(files, want) {
		t.Errorf("kept %v, want %v", files, want)
	}
	if text, err := os.ReadFile(filepath.Join(dir, report.MarkdownFile)); err != nil ||
		!strings.Contains(string(text), "http=: profiles/store_b/cpu.pb.gz\n") ||
		strings.Contains(string(text), "_p2/") || strings.Contains(string(text), "](curves/") {
		t.Errorf("the report names other files than those kept: %v", err)
	}
	packed, err := record.ReadRun(dir)
	if err != nil || len(packed.Forks) != len(r.Forks) {
		t.Fatalf("read back: %v", err)
	}
	damaged, err := os.ReadFile(filepath.Join(dir, record.PackedFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, record.PackedFile), damaged[:len(damaged)/2],
		0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := record.ReadRun(dir); err == nil || !strings.Contains(err.Error(), record.PackedFile) {
		t.Errorf("half a record: %v", err)
	}
}

// Twelve presets at most, all there, take an hour and 10 MB at most.
func TestBounds(t *testing.T) {
	t.Parallel()
	size, took := int64(0), time.Duration(0)
	for _, name := range presets {
		_, planned, err := changed(name)
		if err != nil {
			t.Skip(err) // without its source the program cannot tell
		}
		took += planned
	}
	if err := filepath.Walk(".", func(_ string, info os.FileInfo, err error) error {
		if err == nil {
			size += info.Size()
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(presets) > 12 || took > time.Hour || size > 10<<20 {
		t.Errorf("%d presets, %s by plan, %d MB", len(presets), took, size>>20)
	}
}

// make results -n runs the command, though make itself only prints it.
func TestMakeListsWhatChanged(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip(err)
	}
	out, err := exec.Command("make", "-C", "..", "--no-print-directory", "results",
		"-n").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range presets {
		if !regexp.MustCompile("(?m)^" + name + " (stands|changed: .*)$").Match(out) {
			t.Errorf("nothing is said of %s:\n%s", name, out)
		}
	}
}
