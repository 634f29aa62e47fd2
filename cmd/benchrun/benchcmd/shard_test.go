package benchcmd

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/report"
)

// shardedWorkload has an operation in turns and groups, so that a run has both kinds of ratios.
const shardedWorkload = "name: tiny\ncomponent: delay\nobjects:\n  count: 200\nwaiting: " +
	"100\nops: [mixed]\ngroups:\n- name: adders\n  op: add\n  goroutines: 1\n  rate: 20000\n- " +
	"name: popper\n  op: pop\n  goroutines: 1\nduration: 5ms\n"

const shards = 4

// shardArgs is the command line of a shard of a run with a fork for each shard.
func shardArgs(workload, shard, dir string, more ...string) []string {
	return append([]string{"run", "-f", workload, "--impl", "btree,quadheap", "--forks", fmt.Sprint(shards),
		"--procs", "1", "--skip-verify", "--shard", shard, "-o", dir}, more...)
}

// shardProcess runs a command line in a process of its own. It is killed (SIGKILL) when its
// output has the text kill; "" lets it end.
func shardProcess(kill string, args ...string) (said string, err error) {
	cmd := exec.Command(must(os.Executable()), args...)
	cmd.Env = append(os.Environ(), asBenchrun+"=1", "GORACE=atexit_sleep_ms=0")
	out, err := cmd.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		said += lines.Text() + "\n"
		if kill != "" && strings.Contains(lines.Text(), kill) {
			if err := cmd.Process.Kill(); err != nil {
				return said, err
			}
		}
	}
	return said, cmd.Wait()
}

// verdictsOf are the comparisons of a run, as text: names, ratios, intervals and verdicts.
func verdictsOf(t *testing.T, r *record.Run) (out []string) {
	t.Helper()
	for _, c := range compare.Judged(compare.Within(r)) {
		out = append(out, fmt.Sprintf("%s %s %+v %+v floor %g", c.Name, c.Verdict, *c.Ratio, c.Prospect,
			c.Floor))
	}
	if len(out) < 3 {
		t.Fatalf("only %d comparisons", len(out))
	}
	return out
}

// Four shards run as processes. Two are killed (kill -9) while they measure and are begun again
// with the same command. They merge to one run with every fork once. Its verdicts are those of one
// run of the same forks.
func TestShardsAreMerged(t *testing.T) {
	workload, root := write(t, "tiny.yaml", shardedWorkload), t.TempDir()
	folder := filepath.Join(root, "shards")
	args := func(i int) []string {
		return shardArgs(workload, fmt.Sprintf("%d/%d", i, shards), filepath.Join(folder, fmt.Sprint(i)),
			"--continue", "--machine", fmt.Sprintf("node-%d", i))
	}
	var all sync.WaitGroup
	slots, errs := make(chan struct{}, 2), make([]error, shards+1)
	for i := 1; i <= shards; i++ {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if i%2 == 0 {
				if said, err := shardProcess("measuring", args(i)...); err == nil {
					errs[i] = fmt.Errorf("shard %d ended before it was killed:\n%s", i, said)
					return
				}
			}
			if said, err := shardProcess("", args(i)...); err != nil {
				errs[i] = fmt.Errorf("shard %d: %w\n%s", i, err, said)
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	if t.Failed() {
		return
	}
	out := filepath.Join(root, "merged")
	if code, _, errOut := benchrun(t, "merge", out, folder); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	merged := read(t, out)
	if !merged.Complete || len(merged.Shards) != shards || len(merged.Machines()) != shards {
		t.Errorf("complete %v, %d shards on %v", merged.Complete, len(merged.Shards), merged.Machines())
	}
	want := merged.Schedule()
	if len(merged.Cells) != 3 || len(merged.Forks) != len(want) || len(want) != shards*3+2 {
		t.Fatalf("%d cells with %d forks, want 3 with %d", len(merged.Cells), len(merged.Forks),
			len(want))
	}
	for i, p := range want {
		if f := merged.Forks[i]; f.Index != p.Index || f.Cell.ID() != p.Cell.ID() {
			t.Fatalf("fork %d is %d of %s, want %d of %s", i, f.Index, f.Cell.ID(), p.Index, p.Cell.ID())
		}
	}
	for _, name := range []string{report.HTMLFile, report.MarkdownFile, report.BenchTextFile,
		"profiles"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}
	// One run of the same forks, put together here from the shards' files.
	one := *read(t, filepath.Join(folder, "1"))
	one.Settings.Shard, one.Forks = nil, nil
	for i := shards; i > 0; i-- {
		one.Forks = append(one.Forks, read(t, filepath.Join(folder, fmt.Sprint(i))).Forks...)
	}
	slices.SortStableFunc(one.Forks, func(a, b record.Fork) int { return a.Index - b.Index })
	if got, want := verdictsOf(t, merged), verdictsOf(t, &one); !slices.Equal(got, want) {
		t.Errorf("merged:\n%s\none run of the same forks:\n%s", strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
	// A shard that is complete has nothing left, under the same command; under another it is
	// refused, and so is a resume of the merged run.
	if code, _, errOut := benchrun(t, args(2)...); code != 0 ||
		!strings.Contains(errOut, "nothing is left") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
	if code, _, errOut := benchrun(t, append(args(2), "--seed", "7")...); code != exitBadInput ||
		!strings.Contains(errOut, "seed: 1 against 7") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
	if code, _, errOut := benchrun(t,
		shardArgs(workload, "3/4", filepath.Join(folder, "2"), "--continue")...); code != exitBadInput ||
		!strings.Contains(errOut, "shard 2/4, this command is for shard 3/4") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
	// A merge that was done before is done again; with a shard gone nothing is written.
	if code, _, errOut := benchrun(t, "merge", out, folder); code != 0 {
		t.Errorf("again: exit code %d\n%s", code, errOut)
	}
	before := must(os.ReadFile(filepath.Join(out, record.RunFile)))
	if err := os.RemoveAll(filepath.Join(folder, "4")); err != nil {
		t.Fatal(err)
	}
	if code, _, errOut := benchrun(t, "merge", out, folder); code != exitBadInput ||
		!strings.Contains(errOut, "missing: 4") {
		t.Errorf("without shard 4: exit code %d\n%s", code, errOut)
	}
	if code, _, errOut := benchrun(t, "merge", filepath.Join(root, "new"), folder,
		filepath.Join(folder, "2")); code != exitBadInput || !strings.Contains(errOut, "twice") {
		t.Errorf("shard 2 twice: exit code %d\n%s", code, errOut)
	}
	if after := must(os.ReadFile(filepath.Join(out, record.RunFile))); string(after) != string(
		before) {
		t.Error("a merge that was refused changed the run")
	}
	if _, err := os.Stat(filepath.Join(root, "new")); err == nil {
		t.Error("a merge that was refused wrote a folder")
	}
}

// Shards into which one run is split merge to that run: the same forks in the same order, and
// the same verdicts.
func TestShardsOfOneRunMergeToIt(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "whole")
	workload := write(t, "tiny.yaml", shardedWorkload)
	if code, _, errOut := benchrun(t, "run", "-f", workload, "--impl", "btree,quadheap",
		"--forks", fmt.Sprint(shards), "--procs", "1", "--skip-verify", "--profile=false", "-o",
		dir); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	whole := read(t, dir)
	folders := []string{"merge", filepath.Join(root, "merged")}
	for i := shards; i > 0; i-- {
		// The part that --shard gives, of the forks that were measured.
		part := *whole
		part.Settings.Shard = &record.Shard{Index: i, Of: shards,
			Parts: []record.ShardPart{{Workload: whole.Workloads[0].Key, From: i - 1, To: i}}}
		part.Forks = slices.DeleteFunc(slices.Clone(whole.Forks), func(f record.Fork) bool {
			return f.Index != i-1
		})
		folder := filepath.Join(root, fmt.Sprint(i))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := record.WriteRun(folder, &part); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, folder)
	}
	if code, _, errOut := benchrun(t, folders...); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	merged := read(t, filepath.Join(root, "merged"))
	if got, want := string(must(json.Marshal(merged.Forks))),
		string(must(json.Marshal(whole.Forks))); got != want {
		t.Error("the forks are not those of the run")
	}
	if got, want := verdictsOf(t, merged), verdictsOf(t, whole); !slices.Equal(got, want) {
		t.Errorf("merged:\n%s\nthe run:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A shard of bad arguments is refused before anything is written.
func TestBadShards(t *testing.T) {
	workload := write(t, "tiny.yaml", shardedWorkload)
	t.Setenv(indexVariable, "")
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--shard", "3"}, []string{"--shard", "3/16", "job/16"}},
		{[]string{"--shard", "0/16"}, []string{"no part 0 of 16", "1 to 16"}},
		{[]string{"--shard", "17/16"}, []string{"no part 17 of 16"}},
		{[]string{"--shard", "three/16"}, []string{"3/16"}},
		{[]string{"--shard", "1/0"}, []string{"3/16"}},
		{[]string{"--shard", "job/16"}, []string{indexVariable, "0 to 15"}},
		{[]string{"--shard", "1/7", "--forks", "6"},
			[]string{"--shard 1/7", "7 shards are too many", "1 to 6", "--forks"}},
		{[]string{"--shard", "1/2", "--budget", "5m"}, []string{"--budget", "--forks"}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			t.Chdir(t.TempDir())
			code, _, errOut := benchrun(t,
				append([]string{"run", "-f", workload, "--impl", "btree", "--profile=false"},
					c.args...)...)
			if code != exitBadInput {
				t.Errorf("exit code %d", code)
			}
			for _, w := range c.want {
				if !strings.Contains(errOut, w) {
					t.Errorf("the error does not say %q:\n%s", w, errOut)
				}
			}
			if entries, _ := os.ReadDir("."); len(entries) > 0 {
				t.Errorf("something was written: %v", entries)
			}
		})
	}
	t.Run("merge", func(t *testing.T) {
		empty, gone := t.TempDir(), filepath.Join(t.TempDir(), "gone")
		for _, c := range []struct {
			args []string
			want string
		}{
			{[]string{"merge", "out"}, "wants OUT and the SHARD folders, and got 1"},
			{[]string{"merge", "out", gone}, gone},
			{[]string{"merge", "out", empty}, "neither a shard nor a folder of shards"},
			{[]string{"merge", "out", empty, "--wait", "0"}, "more than 0"},
		} {
			if code, _, errOut := benchrun(t, c.args...); code != exitBadInput ||
				!strings.Contains(errOut, c.want) {
				t.Errorf("%v: exit code %d, want %q in\n%s", c.args, code, c.want, errOut)
			}
		}
	})
}

// In a pod of an Indexed Job the part comes from the pod's index, which begins with 0.
func TestShardOfAJob(t *testing.T) {
	t.Setenv(indexVariable, "15")
	workload, dir := write(t, "tiny.yaml", shardedWorkload), filepath.Join(t.TempDir(), "run")
	if code, _, errOut := benchrun(t,
		shardArgs(workload, "job/16", dir, "--forks", "16", "--profile=false")...); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	run := read(t, dir)
	if run.Settings.Shard.Index != 16 || len(run.Forks) != 3 || run.Forks[0].Index != 15 {
		t.Errorf("shard %+v with %d forks", run.Settings.Shard, len(run.Forks))
	}
	if md := string(must(os.ReadFile(filepath.Join(dir, report.MarkdownFile)))); !strings.Contains(md,
		"benchrun merge") {
		t.Error("the report does not say that this is a part of a run")
	}
}
