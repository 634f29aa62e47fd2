package benchcmd

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/runner"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/record"
)

// asBenchrun, set in the environment, turns the test binary into benchrun.
const asBenchrun = "BENCHRUN_TEST_AS_BENCHRUN"

// TestMain lets the test binary stand in for benchrun where a run starts itself
// again for each fork, and where a test signals a whole run.
func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "4") // they wait for measurements
	if which := os.Getenv(asStranger); which != "" {
		Main(strangers[which]...)
	}
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case runner.ForkCommand, runner.TurnsCommand:
			dieOnPurpose()
			Main()
		case runner.AwakeCommand:
			Main()
		}
	}
	if os.Getenv(asBenchrun) != "" {
		Main()
	}
	// A process built with -race sleeps a second before it ends; there are hundreds here.
	if _, set := os.LookupEnv("GORACE"); !set {
		if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// benchrun runs a command line and returns what it printed.
func benchrun(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	code = execute(t.Context(), args, strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Bad input: a clear error, exit code 2 and nothing written.
func TestBadInput(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "mine.txt"), []byte("keep"), 0o644); err != nil {
		t.Fatal(err)
	}
	newer := t.TempDir()
	if err := os.WriteFile(filepath.Join(newer, record.RunFile), []byte(`{"schema": 99}`),
		0o644); err != nil {
		t.Fatal(err)
	}
	unknownField := write(t, "w.yaml",
		"name: mine\ncomponent: store\nobjects:\n  count: 10\nops: [get]\nspeed: 3\n")
	negative := write(t, "n.yaml",
		"name: mine\ncomponent: store\nobjects:\n  count: 10\ngroups:\n- name: writer\n  op: update\n "+
			" goroutines: 1\n  rate: -5\n")
	noTrace := write(t, "plain.trace", "not a trace")
	empty, zipped := write(t, "empty", ""), write(t, "a.zip", "PK\x03\x04\x00\x00")
	podHeader := write(t, "pods.csv",
		"name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n")
	nodeHeader := write(t, "nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\n")
	trace := aTrace(t)
	whole, cut := write(t, "whole.trace", trace), write(t, "cut.trace", trace[:len(trace)/2])
	recording := aRecording(t)
	whole2, cut2 := write(t, "whole2.trace", string(recording)),
		write(t, "cut2.trace", string(recording[:len(recording)/2]))
	recording[len(recording)/2] ^= 1
	bad2 := write(t, "bad2.trace", string(recording))
	kubeconfig := write(t, "kubeconfig",
		"apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: "+
			"'http://127.0.0.1:1'}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n")
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"unknown command", []string{"measure"}, []string{`unknown command "measure"`, "run"}},
		{"unknown flag", []string{"run", "--presets", "quick"},
			[]string{"--presets", "did you mean --preset?"}},
		{"flag with one dash", []string{"run", "-preset", "quick"}, []string{"did you mean --preset?"}},
		{"flag like no other", []string{"run", "--zzzzzzzz"},
			[]string{"--zzzzzzzz", "see benchrun run --help"}},
		{"unknown preset", []string{"run", "--preset", "fast"},
			[]string{`"fast"`, "quick", "lock-starvation"}},
		{"unknown preset among several", []string{"run", "--preset", "quick,fast"},
			[]string{`"fast"`, "lock-starvation"}},
		{"preset twice", []string{"run", "--preset", "quick,scaling,quick"},
			[]string{"--preset", "quick", "twice"}},
		{"unknown implementation", []string{"run", "--impl", "nosuch*"},
			[]string{`"nosuch*"`, "clientgo", "mutexmap"}},
		{"unknown component", []string{"run", "--component", "cache"},
			[]string{`"cache"`, "store", "fifo"}},
		{"bad pattern", []string{"run", "--impl", "[a"}, []string{"[a"}},
		{"nothing left to measure", []string{"run", "--preset", "lock-starvation", "--component",
			"queue"}, []string{"lock-starvation", "store"}},
		{"no forks", []string{"run", "--forks", "-1"}, []string{"--forks", "1 or more"}},
		{"0 forks", []string{"run", "--forks", "0"}, []string{"--forks", "1 or more"}},
		{"forks without end", []string{"run", "--forks", "99999999"}, []string{"--forks", "1 to"}},
		{"forks in words", []string{"run", "--forks", "six"}, []string{"--forks", "1 or more"}},
		{"0 processors", []string{"run", "--procs", "0"}, []string{"--procs", "1 or more"}},
		{"more processors than there are", []string{"run", "--procs", "4096"},
			[]string{"--procs 4096", fmt.Sprintf("1 to %d", goruntime.NumCPU())}},
		{"sweep of more processors than there are", []string{"run", "--sweep", "procs=1,4096"},
			[]string{"--sweep", "4096", fmt.Sprintf("1 to %d", goruntime.NumCPU())}},
		{"no duration", []string{"run", "--duration", "0"}, []string{"--duration", "more than 0"}},
		{"compress by 0", []string{"run", "--trace", whole, "--compress", "0"},
			[]string{"--compress", "above 0"}},
		{"compress by NaN", []string{"run", "--trace", whole, "--compress", "NaN"},
			[]string{"--compress", "above 0"}},
		{"base that is a folder", []string{"pair", "--base", full}, []string{"--base", full, "go build"}},
		{"base that is a text", []string{"pair", "--base", noTrace},
			[]string{"--base", "plain.trace", "go build"}},
		{"base that is another program", []string{"pair", "--base", "/bin/ls"},
			[]string{"--base", "/bin/ls", "not a benchrun", "go build"}},
		{"base that does not end", []string{"pair", "--base", "/usr/bin/yes"},
			[]string{"--base", "/usr/bin/yes", "not a benchrun"}},
		{"base that is not there", []string{"pair", "--base", "nowhere"}, []string{"--base", "nowhere"}},
		{"base without a name", []string{"pair", "--base", ""}, []string{"--base"}},
		{"trace that is a folder", []string{"run", "--trace", full}, []string{full}},
		{"trace that is empty", []string{"trace", "info", empty}, []string{"empty", "end is missing"}},
		{"trace that is a zip archive", []string{"run", "--trace", zipped},
			[]string{"a.zip", "zip archive", "unpack"}},
		{"workload that is a folder", []string{"run", "-f", full}, []string{full}},
		{"workload that is gzip", []string{"run", "-f", whole}, []string{"whole.trace"}},
		{"import of headers alone", []string{"trace", "import", "--pods", podHeader, "--nodes",
			nodeHeader, "-o", "x.trace"}, []string{"pods.csv", "nodes.csv", "0 rows"}},
		{"import of a field that there is not",
			[]string{"trace", "import", "--pods", podHeader, "--map", "nam=x", "-o", "x.trace"},
			[]string{"--map", `"nam=x"`, "have name, "}},
		{"import of a column that there is not",
			[]string{"trace", "import", "--pods", podHeader, "--map", "name=x", "-o", "x.trace"},
			[]string{"pods.csv:1", `"x"`, "cpu_milli"}},
		{"times without a trace", []string{"run", "--times", "2"}, []string{"--times", "--trace"}},
		{"no times", []string{"run", "--trace", whole, "--times", "0"}, []string{"--times", "1 or more"}},
		{"too many times", []string{"run", "--trace", whole, "--times", "1000000"},
			[]string{"whole.trace", "1000000 times", "use 1 to 20000"}},
		{"import of a zip archive", []string{"trace", "import", "--pods", zipped, "--nodes", zipped, "-o",
			"x.trace"}, []string{"a.zip", "zip archive"}},
		{"import of a folder", []string{"trace", "import", "--pods", full, "--nodes", full, "-o",
			"x.trace"}, []string{full}},
		{"gates that are binary", []string{"compare", "a", "b", "--gates", whole},
			[]string{"whole.trace"}},
		{"compare of a binary", []string{"compare", whole, whole}, []string{"whole.trace"}},
		{"compare of one", []string{"compare", whole}, []string{"BASE and HEAD", "got 1", "--help"}},
		{"compare with --wide for a machine",
			[]string{"compare", full, full, "--wide", "--format", "json"}, []string{"--wide"}},
		{"a preset without its flag", []string{"run", "lock-starvation"},
			[]string{"did you mean --preset lock-starvation?"}},
		{"an implementation without its flag", []string{"run", "mutexmap"},
			[]string{"did you mean --impl mutexmap?"}},
		{"an argument", []string{"list", "everything"}, []string{"takes no arguments", "--help"}},
		{"an empty flag", []string{"run", "--resume", ""}, []string{"--resume is given and empty"}},
		{"an empty list", []string{"run", "--impl", ""}, []string{"--impl is given and empty"}},
		{"a list of nothing", []string{"run", "--impl", ","}, []string{"--impl is given and empty"}},
		{"an empty gate", []string{"compare", "base", "head", "--gate", ""},
			[]string{"--gate is given and empty"}},
		{"go on in no folder", []string{"run", "--continue"}, []string{"--continue", "-o"}},
		{"no seed", []string{"run", "--seed", "0"}, []string{"--seed", "1 or more"}},
		{"a planted store for study", []string{"pair", "--component", "store", "--plant", "cowtree=10%"},
			[]string{"--plant cowtree", "name cowtree in --impl"}},
		{"a planted replay", []string{"run", "--trace", whole, "--plant", "mutexmap=10%"},
			[]string{"--plant", "--trace"}},
		{"a check of nothing", []string{"selfcheck", "--rounds", "0", "--cells", "0"},
			[]string{"nothing to check"}},
		{"a check below what is promised", []string{"selfcheck", "--plant", "0.1"},
			[]string{"--plant 0.1", "from 1 to 1000"}},
		{"an unknown clause", []string{"verify", "--clause", "STORE-9999"},
			[]string{"--clause", "STORE-9999"}},
		{"served for no time", []string{"serve-api", "--for", "0s"}, []string{"--for", "more than 0"}},
		{"served to the world", []string{"serve-api", "--addr", "0.0.0.0:1"},
			[]string{"--addr", "loopback"}},
		{"negative duration", []string{"run", "--duration", "-1s"}, []string{"--duration"}},
		{"two sources", []string{"run", "--preset", "quick", "-f", "x.yaml"},
			[]string{"--preset", "-f", "exclude"}},
		{"workload file missing", []string{"run", "-f", "nowhere.yaml"}, []string{"nowhere.yaml"}},
		{"unknown field", []string{"run", "-f", unknownField},
			[]string{"w.yaml", "6", "speed", "objects"}},
		{"negative rate", []string{"run", "-f", negative}, []string{"n.yaml", "9", "rate"}},
		{"trace missing", []string{"run", "--trace", "nowhere.trace"}, []string{"nowhere.trace"}},
		{"no trace at all", []string{"run", "--trace", noTrace},
			[]string{"plain.trace", "not a trace file"}},
		{"truncated trace", []string{"run", "--trace", cut}, []string{"cut.trace", "end is missing"}},
		{"info of a truncated trace", []string{"trace", "info", cut},
			[]string{"cut.trace", "end is missing"}},
		{"trace with a duration", []string{"run", "--trace", whole, "--duration", "1s"},
			[]string{"--duration", "--compress"}},
		{"malformed sweep", []string{"run", "--sweep", "objects"}, []string{"--sweep", "WHAT=N,N,..."}},
		{"sweep in words", []string{"run", "--sweep", "objects=1k"}, []string{"--sweep", `"1k"`}},
		{"sweep of nothing there", []string{"run", "--preset", "lock-starvation", "--sweep",
			"readers.goroutines=1,2"}, []string{`"readers.goroutines"`, "listers.goroutines", "objects",
			"procs"}},
		{"sweep out of range", []string{"run", "--sweep", "objects=0,10"},
			[]string{"--sweep", "sweep.values[0]", "1 to"}},
		{"sweep to an empty heap", []string{"run", "--component", "delay", "--sweep", "waiting=10,0"},
			[]string{"delay-ops", "waiting=0", "waiting of 1 or more"}},
		{"two sweeps", []string{"run", "--sweep", "objects=1,2", "--sweep", "procs=1,2"},
			[]string{"--sweep", "once"}},
		{"procs beside a sweep of procs", []string{"run", "--sweep", "procs=1,2", "--procs", "2"},
			[]string{"--procs", "store-ops", "leave out"}},
		{"sweep of a trace's objects", []string{"run", "--trace", whole, "--sweep", "objects=1,2"},
			[]string{"--sweep", "procs", "lister.goroutines"}},
		{"folder not empty", []string{"run", "-o", full}, []string{full, "not empty", "another folder"}},
		{"resume of nothing", []string{"run", "--resume", t.TempDir()}, []string{"no run.json"}},
		{"resume with other settings", []string{"run", "--resume", full, "--forks", "3"},
			[]string{"--forks"}},
		{"resume of a newer schema", []string{"run", "--resume", newer}, []string{"99", "newer"}},
		{"report of a newer schema", []string{"report", newer}, []string{"99", "newer"}},
		{"report of nothing", []string{"report", t.TempDir()}, []string{"no run.json"}},
		{"report without folder", []string{"report"}, []string{"see benchrun"}},
		{"verify of an unknown clause", []string{"verify", "--clause", "STORE-999"},
			[]string{"STORE-999"}},
		{"verify without effort", []string{"verify", "--effort", "0"}, []string{"--effort"}},
		{"mutants of an implementation", []string{"verify", "--mutants", "--impl", "mutexmap"},
			[]string{"mutants", "impl", "none of the others"}},
		{"mutants of an unknown component", []string{"verify", "--mutants", "--component", "cache"},
			[]string{`"cache"`, "store"}},
		{"recording cut short", []string{"run", "--trace", cut2},
			[]string{"cut2.trace", "block 2", "at byte", "end is missing", "events before it"}},
		{"recording damaged", []string{"run", "--trace", bad2},
			[]string{"bad2.trace", "block 2", "at byte", "damaged", "checksum"}},
		{"compress without a trace", []string{"run", "--compress", "2"},
			[]string{"--compress", "--trace"}},
		{"compress by nothing", []string{"run", "--trace", whole2, "--compress", "-1"},
			[]string{"--compress", "above 0"}},
		{"trace stretched to years", []string{"run", "--trace", whole2, "--compress", "1e-9"},
			[]string{"--compress", "24h"}},
		{"trace beside what reads nothing",
			[]string{"run", "--trace", whole2, "--preset", "requeue-storm"}, []string{"--trace", "reads"}},
		{"trace of a queue", []string{"run", "--trace", whole2, "--component", "queue"},
			[]string{"store", "fifo"}},
		{"record without file", []string{"record", "--resource", "pods", "--for", "1s"},
			[]string{"-o is missing"}},
		{"record of nothing", []string{"record", "--for", "1s", "-o", "x"}, []string{"--resource"}},
		{"record for no time", []string{"record", "--resource", "pods", "-o", "x"}, []string{"--for"}},
		{"record without kubeconfig",
			[]string{"record", "--kubeconfig", "nowhere", "--resource", "pods", "--for", "1s", "-o", "x"},
			[]string{"nowhere", "--kubeconfig"}},
		{"record in an unknown context",
			[]string{"record", "--kubeconfig", kubeconfig, "--context", "prod", "--resource", "pods",
				"--for", "1s", "-o", "x"}, []string{"prod", "--context"}},
		{"record of nobody there", []string{"record", "--kubeconfig", kubeconfig, "--resource", "pods",
			"--for", "1s", "-o", "x"}, []string{"127.0.0.1:1", "cannot be reached"}},
		{"salvage without file", []string{"trace", "salvage", cut2}, []string{"-o is missing"}},
		{"salvage of what is not a trace", []string{"trace", "salvage", noTrace, "-o", "x"},
			[]string{"not a trace file"}},
		{"cat of nothing", []string{"trace", "cat", "nowhere.trace"}, []string{"nowhere.trace"}},
		{"import without files", []string{"trace", "import"}, []string{"pods"}},
		{"info of nothing", []string{"trace", "info", "nowhere.trace"}, []string{"nowhere.trace"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			code, out, errOut := benchrun(t, c.args...)
			if code != exitBadInput {
				t.Errorf("exit code %d, want %d", code, exitBadInput)
			}
			for _, w := range c.want {
				if !strings.Contains(errOut, w) {
					t.Errorf("the error does not say %q:\n%s%s", w, errOut, out)
				}
			}
			if entries, _ := os.ReadDir("."); len(entries) > 0 {
				t.Errorf("something was written: %v", entries)
			}
		})
	}
	if entries, _ := os.ReadDir(full); len(entries) != 1 {
		t.Errorf("the full folder was touched: %v", entries)
	}
}

// aTrace is the file of a small trace.
func aTrace(t *testing.T) string {
	t.Helper()
	trace := &load.PodTrace{Source: "a test", Seed: 1, Compress: 1}
	for i := range 500 {
		trace.Pods = append(trace.Pods,
			load.TracePod{Namespace: "a", Name: fmt.Sprint("pod-", i), QOS: "LS"})
		trace.Events = append(trace.Events,
			load.PodEvent{At: time.Duration(i), Type: load.TraceCreated, Pod: i})
	}
	var b bytes.Buffer
	if err := load.WritePodTrace(&b, trace); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestVersion(t *testing.T) {
	code, out, _ := benchrun(t, "version")
	if code != 0 || !strings.Contains(out, fmt.Sprintf("schema %d", record.Schema)) {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// A run with a broken implementation ends with the exit code for that, even if something else in
// the run is inconclusive: a CI job that accepts inconclusive results must still fail.
func TestBrokenComesBeforeInconclusive(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want int
	}{
		{errors.Join(fmt.Errorf("%w: a suite", runner.ErrFailed), errInconclusive), exitBroken},
		{errors.Join(errInconclusive, broken(errors.New("lost"))), exitBroken},
		{errInconclusive, exitInconclusive},
		{errors.Join(runner.ErrInterrupted, errInconclusive), exitInterrupted},
		{errors.New("a wrong flag"), exitBadInput},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%q: exit code %d, want %d", c.err, got, c.want)
		}
	}
}

// Whatever input an error quotes, and from wherever, it shows 200 bytes of it.
func TestErrorsAreShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	trace := filepath.Join(t.TempDir(), "t.trace")
	for name, args := range map[string][]string{
		"command":        {long},
		"flag":           {"run", "--" + long},
		"value":          {"run", "--forks", long},
		"quotes":         {"run", "--forks", strings.Repeat(`" `, 50_000)},
		"argument":       {"run", long},
		"preset":         {"run", "--preset", long},
		"implementation": {"run", "--impl", long},
		"sweep":          {"run", "--sweep", long + "=1"},
		"gate":           {"compare", "a", "b", "--gate", long},
		"file":           {"run", "-f", long},
		"field":          {"run", "-f", write(t, "a.yaml", long+": 1\n")},
		"scalar":         {"run", "-f", write(t, "b.yaml", "name: "+long+" "+long+"\n")},
		"header":         {"trace", "import", "--pods", write(t, "a.csv", long+","+long+"\n"), "-o", trace},
		"cell": {"trace", "import", "-o", trace, "--pods",
			write(t, "b.csv", "name,creation_time\na,"+long+"\n")},
		"map": {"trace", "import", "--pods", "p", "-o", trace, "--map", long},
	} {
		code, _, errOut := benchrun(t, args...)
		if code != exitBadInput || len(errOut) > 2000 || strings.Contains(errOut, long[:mostQuoted+1]) {
			t.Errorf("%s: exit code %d, an error of %d bytes: %.300s", name, code, len(errOut), errOut)
		}
	}
	if got, want := brief(`a "b" `+long[:10]+` "c"`), `a "b" `+long[:10]+` "c"`; got != want {
		t.Errorf("%q became %q", want, got)
	}
}
