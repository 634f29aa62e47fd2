package benchcmd

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/bench/runner"
	"github.com/informerbench/informerbench/internal/testscript"
	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/report"
)

// aRun writes a made-up run of the store "mine" beside a reference.
func aRun(t *testing.T, seed uint64, forks int, ns float64, change ...func(*record.Run)) string {
	t.Helper()
	r := recordtest.Run(
		recordtest.Spec{Name: "run", Forks: forks, Seed: seed,
			Impls: []recordtest.Impl{{Name: "reference", NsPerOp: 100}, {Name: "mine", NsPerOp: ns}}})
	for _, c := range change {
		c(r)
	}
	dir := t.TempDir()
	if err := record.WriteRun(dir, r); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestCompareExitCodes(t *testing.T) {
	t.Parallel()
	base, same, slower, few := aRun(t, 1, 12, 100), aRun(t, 2, 12, 100), aRun(t, 3, 12, 115),
		aRun(t, 4, 3, 115)
	gates := write(t, "gates.txt",
		"# all stores\nstore/*/mine/ns/op <= +5%\nstore/*/mine/p99 <= +5%\n")
	widgets := strings.Repeat("BenchmarkX 1 100 widgets\n", 6)
	for _, c := range []struct {
		name string
		args []string
		code int
		want []string
	}{
		{"the same", []string{base, same}, 0, []string{"pass", "same"}},
		{"slower", []string{base, slower}, exitBroken, []string{"regression", "worse", "get/mine/ns/op"}},
		{"slower within the gate", []string{base, slower, "--gate", "store/*/mine/ns/op <= +25%"}, 0,
			[]string{"pass"}},
		{"slower beyond the gate", []string{base, slower, "--gates", gates}, exitBroken,
			[]string{"regression", "store/*/mine/p99 <= +5%"}},
		{"too few forks", []string{base, few}, exitInconclusive,
			[]string{"inconclusive", "could not be told"}},
		{"too few forks, passed", []string{base, few, "--inconclusive=pass"}, 0,
			[]string{"inconclusive"}},
		{"a check failed in head", []string{base, aRun(t, 2, 12, 100, func(r *record.Run) {
			r.Checks = []record.CheckResult{{Name: "final state", Detail: "a/b is missing"}}
		})}, exitBroken, []string{"regression: final state", "a/b is missing"}},
		{"an implementation is broken in head",
			[]string{base, aRun(t, 2, 12, 100, withABrokenStore), "--gate", "store/*/mine/ns/op <= +5%"},
			exitBroken, []string{"regression: store/mine", "STORE-7"}},
		{"two files", []string{write(t, "a.txt", strings.Repeat("BenchmarkX 1 100 ns/op\n", 6)),
			write(t, "b.txt", strings.Repeat("BenchmarkX 1 200 ns/op\n", 6))}, exitBroken,
			[]string{"2x", "no A/A"}},
		{"two files of a unit that says no direction",
			[]string{write(t, "a.txt", widgets), write(t, "b.txt", widgets)}, exitInconclusive,
			[]string{"nothing was judged", "Unit widgets better=higher"}},
		{"a benchmark that head lacks",
			[]string{write(t, "a.txt", strings.Repeat("BenchmarkX 1 100 ns/op\nBenchmarkY 1 100 ns/op\n",
				6)), write(t, "b.txt", strings.Repeat("BenchmarkX 1 100 ns/op\n", 6)+"panic: in Y\nFAIL\n")},
			exitInconclusive, []string{"inconclusive: 1 of 2 hold", "left out: Y/ns/op (only in"}},
		{"a gate gives it one", []string{write(t, "a.txt", widgets), write(t, "b.txt", widgets), "--gate",
			"* <= +5%"}, 0, []string{"pass: 1 of 1 hold"}},
	} {
		code, out, errOut := benchrun(t, append([]string{"compare"}, c.args...)...)
		if code != c.code {
			t.Errorf("%s: exit code %d, want %d\n%s%s", c.name, code, c.code, out, errOut)
		}
		for _, w := range c.want {
			if !strings.Contains(out+errOut, w) {
				t.Errorf("%s: lacks %q\n%s%s", c.name, w, out, errOut)
			}
		}
	}
}

// withABrokenStore makes "mine" an implementation that failed its suite, and so was not measured.
func withABrokenStore(r *record.Run) {
	r.Impls[1].Verified, r.Impls[1].Failures = record.VerifyFailed,
		[]string{"STORE-7: a deleted object comes back"}
	r.Cells = slices.DeleteFunc(r.Cells, func(c record.Cell) bool { return c.Impl == "mine" })
	r.Forks = slices.DeleteFunc(r.Forks, func(f record.Fork) bool { return f.Cell.Impl == "mine" })
}

func TestCompareFormats(t *testing.T) {
	t.Parallel()
	warn := func(r *record.Run) {
		mine := slices.IndexFunc(r.Forks, func(f record.Fork) bool { return f.Cell.Impl == "mine" })
		r.Forks[mine].Series[0].Warnings = []string{"no steady state after warm-up"}
		r.Settings.SkipVerify = true
	}
	base, head := aRun(t, 1, 12, 100, warn), aRun(t, 3, 12, 115)
	_, md, _ := benchrun(t, "compare", base, head, "--format", "markdown", "--gate",
		"store/*/mine/ns/op <= +5%")
	for _, want := range []string{"### regression: store/store-ops/objects=10/get/mine/ns/op",
		"| store/store-ops/objects=10/get/mine | ns/op |",
		"(a) no steady state after warm-up (1 of 12 forks)",
		"> warning: base: not verified (--skip-verify)", "| store/&#42;/mine/ns/op &lt;= +5% |"} {
		if !strings.Contains(md, want) {
			t.Errorf("the Markdown lacks %q:\n%s", want, md)
		}
	}
	code, out, _ := benchrun(t, "compare", base, head, "--format", "json")
	var got struct {
		Schema      int
		Outcome     compare.Outcome
		Warnings    []string
		Gates       []compare.GateResult
		Comparisons []compare.Comparison
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if code != exitBroken || got.Schema != 1 || got.Outcome != compare.Regression ||
		len(got.Gates) == 0 || len(got.Warnings) == 0 {
		t.Errorf("exit code %d, %+v", code, got)
	}
	i := slices.IndexFunc(got.Comparisons, func(c compare.Comparison) bool {
		return c.Name.Impl == "mine" && c.Name.Series == "get"
	})
	if i < 0 || len(got.Comparisons[i].Base.Warnings) != 1 {
		t.Errorf("a number's warning is not with it in JSON: %+v", got.Comparisons)
	}
}

func TestCompareBadInput(t *testing.T) {
	t.Parallel()
	base, same := aRun(t, 1, 6, 100), aRun(t, 2, 6, 100)
	file := write(t, "a.txt", "BenchmarkX 1 100 ns/op\n")
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"one argument", []string{base}, "see benchrun"},
		{"nowhere", []string{base, "nowhere"}, "nowhere"},
		{"a folder and a file", []string{base, file}, "two folders"},
		{"no run there", []string{base, t.TempDir()}, "no run.json"},
		{"another machine", []string{base, aRun(t, 2, 6, 100, func(r *record.Run) {
			r.Environment.CPU = "another"
		})}, "--force"},
		{"a gate that matches nothing", []string{base, same, "--gate", "stroe/* <= +5%"},
			"matches nothing"},
		{"a gate misspelt", []string{base, same, "--gate", "store/* < 5"}, "not a pattern"},
		{"a file of gates misspelt", []string{base, same, "--gates", write(t, "g.txt", "store/*\n")},
			"g.txt:1"},
		{"a format", []string{base, same, "--format", "yaml"}, "markdown"},
		{"inconclusive", []string{base, same, "--inconclusive=maybe"}, "pass or fail"},
	} {
		code, out, errOut := benchrun(t, append([]string{"compare"}, c.args...)...)
		if code != exitBadInput || !strings.Contains(errOut, c.want) || out != "" {
			t.Errorf("%s: exit code %d, want %d and %q\n%s%s", c.name, code, exitBadInput, c.want, out,
				errOut)
		}
	}
}

// report compares with the reference that it is given, and with the run's without one.
func TestReportWithAReference(t *testing.T) {
	t.Parallel()
	dir := aRun(t, 1, 12, 200)
	for _, c := range []struct {
		args            []string
		ratio, warnings string
	}{
		{nil, `\b(1\.9|2)[0-9.]*x \[`, ""},
		{[]string{"--reference", "store=mine"}, `\b0\.(49|5)[0-9]*x \[`, "store is compared with mine"},
		{nil, `\b(1\.9|2)[0-9.]*x \[`, ""},
	} {
		code, out, errOut := benchrun(t, append([]string{"report", dir, "--wide"}, c.args...)...)
		page := readFile(t, filepath.Join(dir, report.HTMLFile))
		for form, text := range map[string]string{"the text": out,
			"report.md": readFile(t, filepath.Join(dir, report.MarkdownFile)), "report.html": page} {
			if code != 0 || !regexp.MustCompile(c.ratio).MatchString(text) ||
				!strings.Contains(text, c.warnings) || c.warnings == "" &&
				strings.Contains(text, "is compared with mine") {
				t.Errorf("%v: exit code %d, %s lacks %q or %q\n%s", c.args, code, form, c.ratio, c.warnings,
					errOut)
			}
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--reference", "mine"}, "want COMPONENT=IMPLEMENTATION"},
		{[]string{"--reference", "store=nowhere"}, "choose one of reference, mine"},
		{[]string{"--reference", "fifo=mine"}, "it has store"},
		{[]string{"--reference", "store=mine", "--reference", "store=reference"},
			"has been given one already"},
	} {
		if code, out, errOut := benchrun(t,
			append([]string{"report", dir}, c.args...)...); code != exitBadInput ||
			!strings.Contains(errOut, c.want) || out != "" {
			t.Errorf("%v: exit code %d, want %d and %q\n%s%s", c.args, code, exitBadInput, c.want, out,
				errOut)
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// tiny is a workload whose forks take some tens of milliseconds.
const tiny = "name: tiny\ncomponent: store\nobjects:\n  count: 100\nops: [get, " +
	"update]\nduration: 3ms\n"

// A pair leaves two complete runs of the same cells and compares them. Only head has the
// planted slowdown.
func TestPair(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "pair")
	code, table, errOut := benchrun(t, "pair", "-f", write(t, "tiny.yaml", tiny), "--impl", "mutexmap",
		"--forks", "6", "--skip-verify", "--plant", "mutexmap=400%", "--gate",
		"store/*/mutexmap/ns/op <= +50%", "-o", out)
	if code != exitBroken || !strings.Contains(errOut, "regression") ||
		!strings.Contains(table, "planted: the store mutexmap is 400% slower") {
		t.Errorf("exit code %d\n%s%s", code, table, errOut)
	}
	for _, side := range []string{runner.BaseDir, runner.HeadDir} {
		r, err := record.ReadRun(filepath.Join(out, side))
		if err != nil {
			t.Fatal(err)
		}
		if !r.Complete || len(r.Forks) != 6*len(r.Cells) || !r.Settings.Pair || !r.Settings.Turns {
			t.Errorf("%s: complete %v, %d forks of %d cells, %+v", side, r.Complete, len(r.Forks),
				len(r.Cells), r.Settings)
		}
		for _, s := range series(r) {
			if s.Duet != nil || (len(s.Base) > 0) != (side == runner.HeadDir) {
				t.Errorf("%s, %s: duet %v, ratios to base %v; want only the latter, in head", side, s.Name(),
					s.Duet, s.Base)
			}
		}
		if code, _, errOut := benchrun(t, "run", "--resume",
			filepath.Join(out, side)); code != exitBadInput || !strings.Contains(errOut, "complete") {
			t.Errorf("resume of half a pair: exit code %d\n%s", code, errOut)
		}
	}
	// Read again, the halves are those of one pair. Head took no turns with itself.
	base, head := filepath.Join(out, runner.BaseDir), filepath.Join(out, runner.HeadDir)
	const gate, ignored = "store/*/mutexmap/ns/op <= +50%", "head took turns with the base of its pair"
	if code, table, _ := benchrun(t, "compare", base, head, "--gate", gate); code != exitBroken ||
		strings.Contains(table, ignored) {
		t.Errorf("the halves: exit code %d\n%s", code, table)
	}
	if code, table, _ := benchrun(t, "compare", head, head, "--gate", gate); code == exitBroken ||
		!strings.Contains(strings.Join(strings.Fields(table), " "), ignored) {
		t.Errorf("head against itself: exit code %d\n%s", code, table)
	}
}

// A gate that can match nothing is refused before anything is measured. One that names an
// operation which the workload does not have is found afterwards, and nothing is lost.
func TestPairWithAWrongGate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		gate, want string
		measured   bool
	}{
		{"store/*/lockfree/ns/op <= +5%",
			"matches nothing of what is to be measured; there are store/tiny/objects=100/*/mutexmap/*",
			false},
		{"store/*/mutexmap/ns/op >= -5%", "write <= +5%", false},
		{"store/*/list/mutexmap/ns/op <= +5%",
			"what was measured is kept: give other gates to benchrun compare", true},
	} {
		out := filepath.Join(t.TempDir(), "pair")
		code, _, errOut := benchrun(t, "pair", "-f", write(t, "tiny.yaml", tiny), "--impl", "mutexmap",
			"--forks", "1", "--skip-verify", "--gate", c.gate, "-o", out)
		if code != exitBadInput || !strings.Contains(errOut, c.want) {
			t.Errorf("%s: exit code %d, want %d and %q\n%s", c.gate, code, exitBadInput, c.want, errOut)
		}
		if _, err := os.Stat(out); (err == nil) != c.measured {
			t.Errorf("%s: the folder: %v, want it: %v", c.gate, err, c.measured)
		}
	}
}

func series(r *record.Run) (all []record.Series) {
	for _, f := range r.Forks {
		all = append(all, f.Series...)
	}
	return all
}

// A base that is too old to take turns is measured by forks that alternate, and the terminal
// says so.
func TestPairWithABaseThatKnowsNoTurns(t *testing.T) {
	t.Parallel()
	if goruntime.GOOS == "windows" {
		t.Skip("the old base is a shell script")
	}
	dir := t.TempDir()
	old := fmt.Sprintf(
		"#!/bin/sh\nexport %s=1\ncase $1 in\n%s) '%s' \"$@\" | sed "+
			"'s/\"schema\":%d/\"schema\":%d/';;\n%s) echo it knows no turns >&2; exit 2;;\n*) exec "+
			"'%[3]s' \"$@\";;\nesac\n",
		asBenchrun, runner.RecordCommand, must(os.Executable()), record.Schema, record.TurnsSchema-1,
		runner.TurnsCommand)
	exe := filepath.Join(dir, "benchrun.old")
	testscript.Write(t, exe, old)
	out := filepath.Join(dir, "pair")
	code, _, errOut := benchrun(t, "pair", "--base", exe, "-f", write(t, "tiny.yaml", tiny), "--impl",
		"mutexmap", "--forks", "2", "--skip-verify", "--inconclusive=pass", "-o", out)
	if code != 0 || !strings.Contains(errOut, "too old to take turns") {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	var sides []*record.Run
	for _, side := range []string{runner.BaseDir, runner.HeadDir} {
		r := read(t, filepath.Join(out, side))
		sides = append(sides, r)
		if !r.Complete || r.Settings.Turns || len(r.Warnings) > 0 {
			t.Errorf("%s: complete %v, turns %v, %q", side, r.Complete, r.Settings.Turns, r.Warnings)
		}
		for _, s := range series(r) {
			if s.Duet == nil || s.Base != nil {
				t.Errorf("%s, %s: duet %v, ratios to base %v; want only the former", side, s.Name(), s.Duet,
					s.Base)
			}
		}
	}
	if !record.Halves(sides[0], sides[1]) {
		t.Errorf("the halves began at %s and %s: they are not known to be of one pair", sides[0].Started,
			sides[1].Started)
	}
}

// The base of a pair may be another program.
func TestPairWithAnotherProgram(t *testing.T) {
	t.Parallel()
	if goruntime.GOOS == "windows" {
		t.Skip("the base is a shell script")
	}
	dir := t.TempDir()
	exe := filepath.Join(dir, "benchrun.base")
	testscript.Write(t, exe, fmt.Sprintf("#!/bin/sh\nexport %s=1\nexec '%s' \"$@\"\n", asBenchrun,
		must(os.Executable())))
	out := filepath.Join(dir, "pair")
	code, _, errOut := benchrun(t, "pair", "--base", exe, "-f", write(t, "tiny.yaml", tiny), "--impl",
		"mutexmap", "--forks", "2", "--skip-verify", "--inconclusive=pass", "-o", out)
	if code != 0 {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
	if _, err := record.ReadRun(filepath.Join(out, runner.BaseDir)); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ base, want string }{
		{filepath.Join(dir, "nowhere"), "nowhere"},
		{write(t, "prose.txt", "hello"), "not a program"},
		{"/bin/true", "/bin/true is not a benchrun"},
	} {
		if code, _, errOut := benchrun(t, "pair", "--base", c.base, "-f", write(t, "tiny.yaml", tiny),
			"--skip-verify"); code == 0 || !strings.Contains(errOut, c.want) {
			t.Errorf("%s: exit code %d, want %q\n%s", c.base, code, c.want, errOut)
		}
	}
}

// A budget adds forks to comparisons that more forks would settle, equally for all cells,
// and the record says when.
func TestBudget(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	// A list of lockfree takes less than half of the time: six forks settle it, however busy the
	// machine.
	const far = "name: far\ncomponent: store\nobjects:\n  count: 2000\nops: [list]\nduration: 3ms\n"
	code, out, errOut := benchrun(t, "run", "-f", write(t, "far.yaml", far), "--impl",
		"clientgo,lockfree", "--forks", "2", "--budget", "20s", "--skip-verify", "--wide",
		"--profile=false",
		"-o", dir)
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	r, err := record.ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Looks) == 0 || !strings.Contains(errOut, "to settle") {
		t.Fatalf("no forks were added to two, which settle nothing\n%s", errOut)
	}
	if !strings.Contains(errOut, "\nbudget: ") {
		t.Errorf("it does not say why it stopped:\n%s", errOut)
	}
	want := r.Looks[len(r.Looks)-1].Forks
	for _, c := range r.Cells {
		if n := len(r.Measured(c)); n != want || n < stats.FewestForks {
			t.Errorf("%s: %d forks, want %d like all others", c.ID(), n, want)
		}
	}
	if !strings.Contains(out, "each such look is charged") {
		t.Errorf("the legend does not say that looks are charged:\n%s", out)
	}
	if code, _, errOut := benchrun(t, "run", "--resume", dir); code != exitBadInput ||
		!strings.Contains(errOut, "complete") {
		t.Errorf("resume of what is complete: exit code %d\n%s", code, errOut)
	}
}

// What reads files reads standard input too, and its help says so.
func TestStandardInput(t *testing.T) {
	for _, command := range []string{"compare", "run", "trace info", "trace cat", "trace salvage",
		"trace import"} {
		code, out, _ := benchrun(t, append(strings.Fields(command), "--help")...)
		if code != 0 || !strings.Contains(out, "standard input") {
			t.Errorf("%s --help does not speak of standard input:\n%s", command, out)
		}
	}
	file := write(t, "a.txt", strings.Repeat("BenchmarkA 1 10 ns/op\n", 8))
	given, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func(was *os.File) { os.Stdin = was; _ = given.Close() }(os.Stdin)
	os.Stdin = given
	if code, out, errOut := benchrun(t, "compare", "-", file); code != 0 {
		t.Errorf("exit code %d\n%s%s", code, out, errOut)
	}
}
