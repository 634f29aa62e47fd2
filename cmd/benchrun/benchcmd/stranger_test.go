package benchcmd

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/mutexmap"
	"github.com/informerbench/informerbench/report"
)

// asStranger, set in the environment, turns the test binary into a program that calls Main
// with entries of its own; its value chooses among strangers.
const asStranger = "BENCHRUN_TEST_AS_STRANGER"

var strangers = map[string][]Entry{
	"sound": {Store("mystore", mutexmap.New,
		Description("a stranger's store, by the test"))},
	"taken": {Store("lockfree", mutexmap.New, Description("as it is")),
		Store("two words", mutexmap.New)},
	"panics": {Store("mystore", func(contract.Indexers) *mutexmap.Store {
		panic("out of cheese")
	}, Description("as it is"))},
	"nil": {Store("mystore", func(contract.Indexers) *mutexmap.Store {
		return nil
	}, Description("as it is"))},
}

// stranger runs a command line of such a program in a process of its own.
func stranger(t *testing.T, which string, args ...string) (code int, out, errOut string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), must(os.Executable()), args...)
	cmd.Args[0] = filepath.Join("somewhere", "mybench")
	cmd.Env = append(os.Environ(), asStranger+"="+which)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), o.String(), e.String()
}

// Entries that are wrong end the program with exit code 2 before a command does anything.
func TestWrongEntries(t *testing.T) {
	t.Parallel()
	for which, want := range map[string][]string{
		"taken": {"mybench: ", "store/lockfree", "taken", `"two words" is no name`,
			`Description("`},
		"panics": {"mybench: ", "store/mystore", "panics at", "stranger_test.go:", "out of cheese"},
		"nil":    {"mybench: ", "store/mystore", "returns nil"},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		code, out, errOut := stranger(t, which, "run", "-o", dir)
		if code != exitBadInput || out != "" {
			t.Errorf("%s: exit code %d, printed %q", which, code, out)
		}
		for _, w := range want {
			if !strings.Contains(errOut, w) {
				t.Errorf("%s: the error lacks %q: %s", which, w, errOut)
			}
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: a folder was made", which)
		}
	}
}

// A stranger's entry stands beside ours wherever implementations are named, and the program
// has its own name.
func TestEntryIsEverywhere(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	workload := write(t, "tiny.yaml", tiny)
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"list", "--component", "store"},
			[]string{"lockfree", "mystore", "a stranger's store, by the test", "keeps: the whole contract"}},
		{[]string{"verify", "--impl", "mystore", "--effort", "0.05"}, []string{"ok   store/mystore"}},
		{[]string{"__complete", "run", "--impl", "my"}, []string{"mystore\tstore: a stranger's store"}},
		{[]string{"completion", "bash"}, []string{"__start_mybench"}},
		{[]string{"run", "--help"}, []string{"mybench run [flags]",
			"\n  mybench run --preset lock-starvation"}},
		{[]string{"run", "-f", workload, "--impl", "clientgo,mystore", "--forks", "1", "--profile=false",
			"--skip-verify", "-o", dir}, []string{"mystore"}},
		{[]string{"report", dir}, []string{"mystore"}},
		{[]string{"compare", dir, dir, "--gate", "store/*/mystore/ns/op <= +1000%",
			"--inconclusive=pass"}, []string{"mystore"}},
		{[]string{"pair", "-f", workload, "--impl", "mystore", "--forks", "1", "--skip-verify",
			"--inconclusive=pass", "-o", dir + "-pair"}, []string{"mystore"}},
	} {
		code, out, errOut := stranger(t, "sound", c.args...)
		if code != 0 {
			t.Errorf("%s: exit code %d\n%s%s", c.args, code, out, errOut)
		}
		for _, w := range c.want {
			if !strings.Contains(out, w) {
				t.Errorf("%s lacks %q:\n%s%s", c.args, w, out, errOut)
			}
		}
	}
	run := read(t, dir)
	if len(run.Impls) != 2 || run.Impls[1].Name != "mystore" || run.Command[0] != "mybench" {
		t.Errorf("run.json has %+v of %q", run.Impls, run.Command)
	}
	measured := false
	for _, f := range run.Forks {
		measured = measured || f.Cell.Impl == "mystore" && len(f.Series) > 0
	}
	if !measured {
		t.Error("no fork measured the stranger's store")
	}
	for _, file := range []string{report.MarkdownFile, report.HTMLFile, report.BenchTextFile} {
		if page, err := os.ReadFile(filepath.Join(dir, file)); err != nil ||
			!bytes.Contains(page, []byte("mystore")) {
			t.Errorf("%s lacks it: %v", file, err)
		}
	}
}
