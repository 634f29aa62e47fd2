package ci_test

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	real = flag.Bool("gate.real", false,
		"run the gate on clones of this repository: 100 seconds on 2 cores")
	full = flag.Bool("gate.full", false,
		"with -gate.real, verify and measure more of a store, also while every core is kept busy: some "+
			"20 minutes on 2 cores")
	budget = flag.Duration("gate.budget", 2*time.Minute, "of each of the five gates of -gate.full")
)

// aClone is a clone of this repository at HEAD.
func aClone(t *testing.T) string {
	t.Helper()
	root := absolute(t, "..")
	if code, _, errOut := run(t, root, nil, "git", "rev-parse", "HEAD"); code != 0 {
		t.Skipf("skipped: this is no git checkout: %s", errOut)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	must(t, root, "git", "clone", "--quiet", root, clone)
	return clone
}

// plant makes Update of impl/mutexmap slower, in a commit on top of HEAD.
func plant(t *testing.T, clone string) {
	t.Helper()
	const head = "func (s *Store) Update(key string, obj any) {\n"
	store := filepath.Join(clone, "impl", "mutexmap", "store.go")
	text := read(t, store)
	if strings.Count(text, head) != 1 {
		t.Fatalf("impl/mutexmap/store.go has no %q: plant the regression elsewhere", head)
	}
	write(t, store, strings.Replace(text, head, head+"\tplanted()\n", 1))
	write(t, filepath.Join(clone, "impl", "mutexmap", "planted.go"), `package mutexmap

import "sync/atomic"

var count atomic.Uint64

// planted takes about as long as Update itself, or longer.
func planted() {
	for range 400 {
		count.Add(1)
	}
}
`)
	must(t, clone, "git", "add", ".")
	must(t, clone, "git", "commit", "--quiet", "-m", "slower")
}

// gate runs the script in a clone. The results are beside the clone, always in the same folder:
// Go's build cache knows the base's work tree by its path.
func gate(t *testing.T, clone, base string, flags ...string) (code int, outcome, comment,
	folder string) {
	t.Helper()
	folder = filepath.Join(filepath.Dir(clone), "out")
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	measured := []string{"-f", absolute(t, "testdata/small.yaml"), "--impl", "clientgo,mutexmap",
		"--skip-verify", "--forks", "6"}
	args := []string{"--base", base, "--gates", absolute(t, "testdata/gates.txt"), "--budget", "0s",
		"--out", folder}
	if *full {
		measured = []string{"-f", absolute(t, "testdata/full.yaml"), "--impl", "clientgo,mutexmap"}
		args[5] = budget.String()
	}
	code, out, errOut := run(t, clone, nil, absolute(t, "gate.sh"),
		append(append(args, flags...), append([]string{"--"}, measured...)...)...)
	outcome = strings.TrimSpace(read(t, filepath.Join(folder, "outcome")))
	t.Logf("exit code %d, %s\n%s", code, outcome, out)
	if outcome == "failed" {
		t.Fatalf("nothing was compared:\n%s", errOut)
	}
	for _, file := range []string{"pair/base/run.json", "pair/head/report.html",
		"log.txt"} {
		if info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(file))); err != nil ||
			info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
	return code, outcome, read(t, filepath.Join(folder, "comment.md")), folder
}

// The script finds a planted regression and names the operation, and lets the same code pass.
// With -gate.real alone it measures two operations of one store.
func TestGate(t *testing.T) {
	if !*real {
		t.Skip("measures for 100 seconds: give -gate.real, as make proofs does")
	}
	needs(t, "bash", "git")
	clone := aClone(t)
	t.Run("unchanged", func(t *testing.T) {
		if code, outcome, _, _ := gate(t, clone, "HEAD"); code != 0 || outcome == "regression" {
			t.Errorf("exit code %d, %s", code, outcome)
		}
	})
	if *full {
		t.Run("unchanged on a busy machine", func(t *testing.T) {
			busy(t)
			// A regression would be a false alarm, whichever the gate.
			for _, flags := range [][]string{nil, {"--gates", absolute(t, "testdata/tight.txt")},
				{"--gates", absolute(t, "testdata/tight.txt"), "--inconclusive", "fail", "--profile", "no"}} {
				code, outcome, _, _ := gate(t, clone, "HEAD", flags...)
				want := map[string]int{"pass": 0, "inconclusive": 0, "regression": -1}[outcome]
				if outcome == "inconclusive" && len(flags) > 2 {
					want = 3
				}
				if code != want {
					t.Errorf("%v: exit code %d, %s", flags, code, outcome)
				}
			}
		})
	}
	t.Run("slower", func(t *testing.T) {
		plant(t, clone)
		code, outcome, comment, folder := gate(t, clone, "HEAD~1")
		title, _, _ := strings.Cut(strings.TrimPrefix(comment, "<!-- informerbench-gate: gate -->\n"),
			"\n")
		if code != 1 || outcome != "regression" || !strings.HasPrefix(title, "### regression: ") ||
			!strings.Contains(title, "/update/mutexmap/ns/op") || strings.Contains(title, "/get/") {
			t.Errorf("exit code %d, %s: %s", code, outcome, title)
		}
		diffs, err := filepath.Glob(filepath.Join(folder, "profiles", "*mutexmap*", "cpu.diff.txt"))
		if err != nil || len(diffs) == 0 {
			t.Fatalf("no difference of a CPU profile: %v", err)
		}
		if text := read(t, diffs[0]); !strings.Contains(text, "mutexmap.planted") {
			t.Errorf("the difference of the CPU profiles does not name what was planted:\n%s", text)
		}
		if _, err := os.Stat(strings.TrimSuffix(diffs[0], ".txt") + ".pb.gz"); err != nil {
			t.Error(err)
		}
	})
}

// busy keeps every core busy until the test ends.
func busy(t *testing.T) {
	t.Helper()
	var stop atomic.Bool
	var running sync.WaitGroup
	for range runtime.NumCPU() {
		running.Go(func() {
			for !stop.Load() {
			}
		})
	}
	t.Cleanup(func() { stop.Store(true); running.Wait() })
}
