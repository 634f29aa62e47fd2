package evidence

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

const commit = "0123456789abcdef"

// machine stands in for the repository and for benchrun.
type machine struct {
	head     string
	headErr  error
	buildErr error
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
			return "tree", "benchrun of " + revision, m.buildErr
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

// A run that was begun with another GOGC is not removed: whoever set it can set it back.
func TestOtherSettingsAreNoOtherMachine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := recordtest.Run(recordtest.Spec{Name: "stores", Forks: 6, Impls: []recordtest.Impl{{Name: "clientgo", NsPerOp: 100}}})
	r.Environment = sysinfo.ReadEnvironment(dir)
	r.Environment.GOGC += "1"
	if err := record.WriteRun(dir, r); err != nil {
		t.Fatal(err)
	}
	if err := (Options{Out: io.Discard}).dropOthers(dir); err == nil || !strings.Contains(err.Error(), "other settings: GOGC differs") {
		t.Errorf("%v, want an error that names GOGC", err)
	}
	if _, err := record.ReadRun(dir); err != nil {
		t.Errorf("the run is gone: %v", err)
	}
}

func TestMeasureGoesOnAtItsCommit(t *testing.T) {
	t.Parallel()
	results := t.TempDir()
	m := &machine{head: commit, failAt: "stores"}
	var progress strings.Builder
	o := m.options(results, "quick", "stores", "relist")
	o.Out = &progress
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
	// recordtest's runs are of a machine that no test runs on.
	if want := `was begun on another machine (CPU differs: "Test CPU"`; !strings.Contains(progress.String(), want) {
		t.Errorf("the run of stores that was begun on another machine: want %q in\n%s", want, progress.String())
	}
	if _, err := os.Stat(filepath.Join(results, Next)); !os.IsNotExist(err) {
		t.Errorf("%s is left behind: %v", Next, err)
	}
	index, err := os.ReadFile(filepath.Join(results, IndexFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{commit, "store, quick", "twice", "0.50x", "[relist](relist/report.html)", "0 of 4", "which.md#store-many-listers"} {
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
		begun  bool // something is kept for the next call
	}{
		"changes":            {m: machine{headErr: errors.New("the work tree has changes")}, preset: "quick", want: "has changes"},
		"an unknown preset":  {m: machine{head: commit}, preset: "quik", want: "quick"},
		"no build":           {m: machine{head: commit, buildErr: errors.New("does not build")}, preset: "quick", want: "does not build"},
		"another commit":     {m: machine{head: commit, revision: "else"}, preset: "quick", want: "no whole run of " + commit, begun: true},
		"changes of its own": {m: machine{head: commit, revision: commit + "+dirty"}, preset: "quick", want: "no whole run", begun: true},
	} {
		results := t.TempDir()
		if err := Measure(t.Context(), c.m.options(results, c.preset)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if _, err := os.Stat(filepath.Join(results, Next)); (err == nil) != c.begun {
			t.Errorf("%s: the folder %s: %v, want one: %v", name, Next, err, c.begun)
		}
	}
}

// TestMachinesShareThePresets measures one preset on each of two machines. The folder of the
// first is copied to the second, which publishes both.
func TestMachinesShareThePresets(t *testing.T) {
	t.Parallel()
	first, second := t.TempDir(), t.TempDir()
	m := &machine{head: commit}
	for results, preset := range map[string]string{first: "quick", second: "relist"} {
		o := m.options(results, "quick", "relist")
		o.Only = []string{preset}
		if err := Measure(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(results, IndexFile)); !os.IsNotExist(err) {
			t.Errorf("%s alone was published: %v", preset, err)
		}
	}
	if err := os.Rename(filepath.Join(first, Next, "quick"), filepath.Join(second, Next, "quick")); err != nil {
		t.Fatal(err)
	}
	if err := Measure(t.Context(), m.options(second, "quick", "relist")); err != nil {
		t.Fatal(err)
	}
	if len(m.measured) != 2 {
		t.Errorf("measured %q, want each preset once", m.measured)
	}
	for _, preset := range []string{"quick", "relist"} {
		if !finished(filepath.Join(second, preset), commit) {
			t.Errorf("%s was not published", preset)
		}
	}
	o := m.options(first, "quick", "relist")
	o.Only = []string{"stores"}
	if err := Measure(t.Context(), o); err == nil || !strings.Contains(err.Error(), `no preset "stores"; there are quick, relist`) {
		t.Errorf("a preset that is not of the evidence: %v", err)
	}
}

var update = flag.Bool("update", false, "write the rules into results/README.md anew")

// The kept index answers with the rules as they are.
func TestKeptIndexHasTheRules(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "results", IndexFile)
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, after, begins := strings.Cut(string(kept), answerTitle)
	_, runs, ends := strings.Cut(after, runsTitle)
	if !begins || !ends {
		t.Fatalf("%s lacks %q or %q: go run ./internal/evidence/run -index", file, answerTitle, runsTitle)
	}
	want := strings.Builder{}
	want.WriteString(head)
	if err := writeAnswer(&want); err != nil {
		t.Fatal(err)
	}
	want.WriteString(runsTitle + runs)
	if *update {
		if err := os.WriteFile(file, []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want.String() != string(kept) {
		t.Errorf("%s has other rules than advise/rules.yaml: go generate ./internal/evidence", file)
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

// TestForecastKnowsWhatRunsTook begins where only the load is known, and then has one run, of
// which each process took ten times its load.
func TestForecastKnowsWhatRunsTook(t *testing.T) {
	t.Parallel()
	o := Options{Results: t.TempDir(), Presets: []string{"quick", "relist"}}
	if got := o.forecast(o.Presets); !strings.Contains(got, "load alone") {
		t.Errorf("without a run the forecast is %q, want it to say that it is the load alone", got)
	}
	load := map[string]time.Duration{}
	for _, preset := range o.Presets {
		var err error
		if load[preset], err = planLoad(preset); err != nil {
			t.Fatal(err)
		}
	}
	r := recordtest.Run(recordtest.Spec{Name: "quick", Forks: 6, Impls: []recordtest.Impl{{Name: "clientgo", NsPerOp: 100}, {Name: "twice", NsPerOp: 50}}})
	r.Preset, r.Complete = "quick", true
	for i := range r.Forks {
		r.Forks[i].Seconds = 10 * load["quick"].Seconds() / float64(len(r.Forks))
	}
	dir := filepath.Join(o.Results, "quick")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := record.WriteRun(dir, r); err != nil {
		t.Fatal(err)
	}
	for _, preset := range o.Presets {
		if got, want := o.forecast([]string{preset}), "some "+(10*load[preset]).Round(time.Minute).String(); got != want {
			t.Errorf("the forecast of %s is %q, want %q", preset, got, want)
		}
	}
}
