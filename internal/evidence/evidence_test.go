package evidence

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
)

const commit = "0123456789abcdef"

// machine stands in for the repository and for benchrun.
type machine struct {
	head     string
	headErr  error
	failAt   string // a preset whose run ends early
	revision string // of what the program measures; default that which was built
	built    []string
	measured []string
}

func (m *machine) options(results string, presets ...string) Options {
	return Options{
		Results: results, Presets: presets, Out: &strings.Builder{},
		Head: func(context.Context) (string, error) { return m.head, m.headErr },
		Program: func(_ context.Context, revision string) (dir, program string, err error) {
			m.built = append(m.built, revision)
			return "tree", "benchrun of " + revision, nil
		},
		Run: func(_ context.Context, _, program string, args ...string) error {
			out, preset := args[slices.Index(args, "-o")+1], args[slices.Index(args, "--preset")+1]
			m.measured = append(m.measured, preset)
			r := recordtest.Run(recordtest.Spec{Name: preset, Forks: 6, Impls: []recordtest.Impl{{Name: "clientgo", NsPerOp: 100}, {Name: "twice", NsPerOp: 50}}})
			r.Preset, r.Environment.Revision = preset, strings.TrimPrefix(program, "benchrun of ")
			if m.revision != "" {
				r.Environment.Revision = m.revision
			}
			r.Complete = preset != m.failAt
			if err := os.MkdirAll(out, 0o777); err != nil {
				return err
			}
			if err := record.WriteRun(out, r); err != nil {
				return err
			}
			if !r.Complete {
				return errors.New("interrupted")
			}
			return nil
		},
	}
}

func TestMeasureGoesOnAtItsCommit(t *testing.T) {
	t.Parallel()
	results := t.TempDir()
	m := &machine{head: commit, failAt: "stores"}
	o := m.options(results, "quick", "stores", "relist")
	if err := Measure(t.Context(), o); !errors.Is(err, ErrUnfinished) || !strings.Contains(err.Error(), "stores") {
		t.Fatalf("the run of stores ended early: %v", err)
	}
	if _, err := os.Stat(filepath.Join(results, "quick")); !os.IsNotExist(err) {
		t.Errorf("quick is among the results before all are finished: %v", err)
	}
	m.head, m.failAt = "another commit", ""
	// As if Measure had been killed while it put the runs into their places.
	if err := os.Rename(filepath.Join(results, Next, "quick"), filepath.Join(results, "quick")); err != nil {
		t.Fatal(err)
	}
	if err := Measure(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if want := []string{"quick", "stores", "stores", "relist"}; !slices.Equal(m.measured, want) {
		t.Errorf("measured %q, want %q", m.measured, want)
	}
	if want := []string{commit, commit}; !slices.Equal(m.built, want) {
		t.Errorf("built commits %q, want %q: the one that was begun", m.built, want)
	}
	if _, err := os.Stat(filepath.Join(results, Next)); !os.IsNotExist(err) {
		t.Errorf("%s is left behind: %v", Next, err)
	}
	index, err := os.ReadFile(filepath.Join(results, IndexFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{commit, "store, quick", "twice", "0.50x", "[relist](relist/report.html)", "0 of 4"} {
		if !strings.Contains(string(index), want) {
			t.Errorf("the index lacks %q:\n%s", want, index)
		}
	}
	// A later Measure replaces the runs by those of its own commit.
	if err := Measure(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if r, err := record.ReadRun(filepath.Join(results, "relist")); err != nil || r.Environment.Revision != m.head {
		t.Errorf("relist is of %v, %v; want %s", r, err, m.head)
	}
}

func TestMeasureRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		m      machine
		preset string
		want   string
	}{
		"changes":            {machine{headErr: errors.New("the work tree has changes")}, "quick", "has changes"},
		"an unknown preset":  {machine{head: commit}, "quik", "quick"},
		"another commit":     {machine{head: commit, revision: "else"}, "quick", "no whole run of " + commit},
		"changes of its own": {machine{head: commit, revision: commit + "+dirty"}, "quick", "no whole run"},
	} {
		if err := Measure(t.Context(), c.m.options(t.TempDir(), c.preset)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestIndexIsOfOneCommit(t *testing.T) {
	t.Parallel()
	results := t.TempDir()
	m := &machine{head: commit}
	if err := Measure(t.Context(), m.options(results, "quick")); err != nil {
		t.Fatal(err)
	}
	m.head = "another"
	if err := Measure(t.Context(), m.options(results, "relist")); err != nil {
		t.Fatal(err)
	}
	if err := WriteIndex(&strings.Builder{}, results, []string{"quick", "relist"}); err == nil || !strings.Contains(err.Error(), "one commit") {
		t.Errorf("runs of two commits: %v", err)
	}
	if err := WriteIndex(&strings.Builder{}, results, []string{"quick", "stores"}); err == nil {
		t.Error("a run is missing, and the index was written")
	}
}
