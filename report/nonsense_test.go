package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// Whatever replaces a single value of run.json, reading it fails with the name of the file,
// or the reports can be made from it.
func TestEditedRecordIsRefusedOrReported(t *testing.T) {
	t.Parallel()
	text := smallRecord(t)
	var root any
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	// An older schema has no checksum, which would refuse every edit.
	fields := root.(map[string]any)
	fields["schema"] = 3
	delete(fields, "checksum")
	leaves, read := 0, 0
	refused := map[string]int{}
	dir := t.TempDir()
	path := filepath.Join(dir, record.RunFile)
	each(root, "", func(at string, set func(any)) {
		leaves++
		for _, nonsense := range []any{nil, "nonsense", "", -1, 1e300, 9e15, true, []any{},
			map[string]any{}} {
			set(nonsense)
			b, err := json.Marshal(root)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("%s = %#v", at, nonsense)
			r, err := record.ReadRun(dir)
			if err != nil {
				refused[fmt.Sprint(nonsense)]++
				if !strings.Contains(err.Error(), path) {
					t.Errorf("%s: the error does not name the file: %v", what, err)
				}
				continue
			}
			read++
			func() {
				defer func() {
					if p := recover(); p != nil {
						t.Errorf("%s: the reports panic: %v", what, p)
					}
				}()
				if err := errors.Join(write(dir), of(t, r).WriteText(io.Discard, Terminal{})); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}()
		}
	})
	t.Logf("%d leaves; %d edits read, refused %v", leaves, read, refused)
	if leaves < 80 || read < 50 || len(refused) < 9 {
		t.Errorf("%d leaves, %d edits read, refused %v: this tests little", leaves, read, refused)
	}
}

// smallRecord is the run.json of a small run that has every part, as the journal leaves it.
func smallRecord(t *testing.T) []byte {
	t.Helper()
	h := stats.NewHistogram()
	h.Record(time.Millisecond)
	encoded, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	run := sampleRun(1)
	forks := run.Forks
	run.Forks, run.Cells = nil, run.Cells[:2]
	dir := filepath.Join(t.TempDir(), "run")
	j, err := record.CreateJournal(dir, run)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range forks[:2] {
		f.Started, f.Seconds = run.Started, 1
		f.Series[0].Passes, f.Series[0].Histograms = []float64{1}, map[string]string{"delay": encoded}
		if err := j.Keep(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, record.RunFile))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// each visits every leaf of a decoded JSON text, and restores the leaf after the visit.
func each(v any, at string, visit func(at string, set func(any))) {
	child := func(at string, now any, set func(any)) {
		switch now.(type) {
		case map[string]any, []any:
			each(now, at, visit)
		default:
			visit(at, set)
			set(now)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			child(at+"."+k, v[k], func(x any) { v[k] = x })
		}
	case []any:
		for i := range v {
			child(fmt.Sprintf("%s[%d]", at, i), v[i], func(x any) { v[i] = x })
		}
	}
}
