package record

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func anyMachine(*Run) error { return nil }

// The state that a kill leaves at any step of a run's life can be resumed.
func TestHalfDoneStates(t *testing.T) {
	t.Parallel()
	touch := func(t *testing.T, path ...string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(path...), []byte("{"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("before run.json", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		touch(t, dir, ".run.json8674665223082153551")
		if _, err := CreateJournal(dir, sampleRun()); err != nil {
			t.Error(err)
		}
		wantFiles(t, dir, RunFile)
	})
	t.Run("while a fork is written", func(t *testing.T) {
		t.Parallel()
		dir := begun(t, 1)
		touch(t, dir, forksDir, ".x_1.json8674665223082153551")
		touch(t, dir, ".report.html8674665223082153551")
		j, err := OpenJournal(dir, anyMachine)
		if err != nil {
			t.Fatal(err)
		}
		if len(j.Run().Forks) != 1 {
			t.Errorf("%d forks, want 1", len(j.Run().Forks))
		}
		wantFiles(t, dir, forksDir, RunFile)
		wantFiles(t, filepath.Join(dir, forksDir), j.Run().Cells[0].FileName()+"_0.json")
	})
	t.Run("merged but not called complete", func(t *testing.T) {
		t.Parallel()
		dir := begun(t, 2)
		r, err := ReadRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := WriteRun(dir, r); err != nil {
			t.Fatal(err)
		}
		if r, err = ReadRun(dir); err != nil || len(r.Forks) != 2 {
			t.Errorf("%d forks, want each once: %v", len(r.Forks), err)
		}
	})
	t.Run("complete, the forks' own files still there", func(t *testing.T) {
		t.Parallel()
		dir := begun(t, 2)
		j, err := OpenJournal(dir, anyMachine)
		if err != nil {
			t.Fatal(err)
		}
		j.Run().Complete = true
		if err := j.Save(); err != nil {
			t.Fatal(err)
		}
		if j, err = OpenJournal(dir, anyMachine); err != nil {
			t.Fatalf("its reports may be missing, and it cannot be resumed: %v", err)
		}
		if len(j.Run().Forks) != 2 {
			t.Errorf("%d forks, want each once", len(j.Run().Forks))
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenJournal(dir, anyMachine); err == nil {
			t.Error("nothing is left to do, and it was resumed")
		}
	})
	t.Run("complete, but a cell was given up", func(t *testing.T) {
		t.Parallel()
		dir := begun(t, 1)
		j, err := OpenJournal(dir, anyMachine)
		if err != nil {
			t.Fatal(err)
		}
		j.Run().Complete = true
		if err := errors.Join(j.Warn("the other fork was given up"), j.Close()); err != nil {
			t.Fatal(err)
		}
		if j, err = OpenJournal(dir, anyMachine); err != nil ||
			j.Done(Planned{Cell: j.Run().Cells[0], Index: 1}) {
			t.Errorf("what was given up cannot be measured again: %v", err)
		}
	})
}

// begun returns the folder of a run of two forks that was killed after the given number.
func begun(t *testing.T, forks int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	j, err := CreateJournal(dir, sampleRun())
	if err != nil {
		t.Fatal(err)
	}
	for i := range forks {
		if err := j.Keep(sampleFork(j.Run(), i)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range entries {
		if i >= len(want) || e.Name() != want[i] {
			t.Errorf("%s holds %v, want %v", dir, entries, want)
			return
		}
	}
	if len(entries) != len(want) {
		t.Errorf("%s holds %v, want %v", dir, entries, want)
	}
}

// TestForksOfOddFolders: the forks of an interrupted run are read from a folder whose name
// has a meaning in a pattern, and through a file system that is no path.
func TestForksOfOddFolders(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "[a]")
	run := sampleRun()
	j, err := CreateJournal(dir, run)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Keep(sampleFork(run, 0)); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	for name, read := range map[string]func() (*Run, error){
		"path": func() (*Run, error) { return ReadRun(dir) },
		"root": func() (*Run, error) { return ReadRunFS(root.FS(), "a run") },
	} {
		got, err := read()
		if err != nil || len(got.Forks) != 1 {
			t.Errorf("%s: %+v, %v; want the one fork", name, got, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, RunFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRunFS(root.FS(), "a run"); err == nil ||
		!strings.HasPrefix(err.Error(), filepath.Join("a run", RunFile)) {
		t.Errorf("%v, want an error that names the run's file", err)
	}
}

func TestShellWord(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"pods.trace": "pods.trace", "": "''", "a b": "'a b'",
		"$(x)": "'$(x)'", "it's": `'it'\''s'`} {
		if got := ShellWord(word); got != want {
			t.Errorf("%q became %s, want %s", word, got, want)
		}
	}
}
