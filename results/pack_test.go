package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
	"github.com/informerbench/informerbench/report"
)

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
	if _, err := report.Write(dir); err != nil {
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
	for _, name := range presets { // a run of one's own may lie beside them
		if err := filepath.Walk(name, func(_ string, info os.FileInfo, err error) error {
			if err == nil {
				size += info.Size()
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
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
