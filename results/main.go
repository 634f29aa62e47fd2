// Command results measures the presets whose runs the project's pages cite, into the folder that
// it lies in: for each run.json.gz, report.md, bench.txt and the profiles, merged to one file of
// each kind for an implementation. It measures a preset only if code that the last run measured
// has changed since; with -n it says which, and measures nothing. ONLY, a variable of the
// environment, limits it to presets: ONLY="stores kcm-150k".
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/informerbench/informerbench/bench/runner"
	"github.com/informerbench/informerbench/cmd/benchrun/benchcmd"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/report"
)

// presets are those that pages cite.
var presets = []string{
	"stores", "lock-starvation", "kcm-150k", "fifo-flood", "delay-million", "requeue-storm",
	"informer-contended", "informer-staleness", "informer-sync", "informer-arrivals",
	"informer-quiet", "objects",
}

// root is the folder of the runs within the work tree, where the command is started; next, in
// it, holds a run until it is whole. git ignores it.
const (
	root = "results"
	next = "mine"
)

// The runs are benchrun's, and this program carries out its commands: it starts itself to measure.
func main() {
	if len(os.Args) > 1 && os.Args[1] != "-n" {
		benchcmd.Main()
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := update(ctx, len(os.Args) > 1, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "results:", err)
		os.Exit(1)
	}
}

// update measures what changed, or says so.
func update(ctx context.Context, dry bool, out io.Writer) error {
	total := time.Duration(0)
	only := strings.Fields(os.Getenv("ONLY"))
	for _, name := range presets {
		if len(only) > 0 && !slices.Contains(only, name) {
			continue
		}
		why, took, err := changed(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if len(why) == 0 {
			fmt.Fprintf(out, "%s stands\n", name)
			continue
		}
		total += took
		fmt.Fprintf(out, "%s changed: %s (%s by plan)\n", name, strings.Join(why, ", "),
			took.Round(time.Second))
		if dry {
			continue
		}
		if err := measure(ctx, name); err != nil {
			return fmt.Errorf("%s: %w; make results goes on with it", name, err)
		}
	}
	if dry {
		fmt.Fprintf(out, "%s by plan in all; make results measures what changed\n",
			total.Round(time.Second))
		return nil
	}
	fmt.Fprintln(out, "write the tables of README.md and results/README.md: "+
		"go test ./results -run Tables -update")
	return nil
}

// changed names the code that has changed since a preset was measured, and its planned time.
func changed(name string) (why []string, took time.Duration, err error) {
	tree, err := os.Getwd()
	if err != nil {
		return nil, 0, err
	}
	p, err := runner.NewPlan(runner.Options{Preset: name, Profile: true, WorkTree: tree,
		Out: filepath.Join(os.TempDir(), "informerbench-results-none")})
	if err != nil {
		return nil, 0, err
	}
	now, err := p.Sources()
	if err != nil {
		return nil, 0, err
	}
	r, err := record.ReadRun(filepath.Join(root, name))
	switch {
	case err != nil:
		return []string{"no run: " + err.Error()}, p.Load(), nil
	case r.Sources == nil:
		return []string{"the run does not say of which code it is"}, p.Load(), nil
	}
	for _, of := range slices.Sorted(maps.Keys(now)) {
		if r.Sources[of] != now[of] {
			why = append(why, of)
		}
	}
	return why, p.Load(), nil
}

// measure runs a preset and puts its run in the place of the former.
func measure(ctx context.Context, name string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	dir := filepath.Join(root, next, name)
	run := exec.CommandContext(ctx, exe, "run", "--continue", "-o", dir, "--preset", name)
	run.Stdout, run.Stderr = io.Discard, os.Stderr
	run.Cancel = func() error { return nil } // Ctrl-C at a terminal has reached it too
	if err := run.Run(); err != nil {
		return err
	}
	if err := pack(dir); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(root, name)); err != nil {
		return err
	}
	return os.Rename(dir, filepath.Join(root, name))
}

// pack leaves of a run's folder what is kept.
func pack(dir string) error {
	r, err := record.ReadRun(dir)
	if err != nil {
		return err
	}
	if err := mergeProfiles(dir, r); err != nil {
		return err
	}
	if err := packReport(filepath.Join(dir, report.MarkdownFile), r); err != nil {
		return err
	}
	return errors.Join(record.Pack(dir, r), os.RemoveAll(filepath.Join(dir, report.CurvesDir)),
		os.RemoveAll(filepath.Join(dir, report.HTMLFile)))
}

const profiles = "profiles"

// mergeProfiles merges the profiles of each implementation's cells, and names the merged files in
// the record.
func mergeProfiles(dir string, r *record.Run) error {
	kinds := map[string][]*profile.Profile{} // by the merged file's path within dir
	for i, f := range r.Forks {
		for k, path := range f.Profiles {
			kind := filepath.Base(path)
			own := filepath.Join(dir, profiles, f.Cell.FileName(), kind)
			data, err := os.ReadFile(own)
			if err != nil {
				return err
			}
			merged := filepath.Join(profiles, string(f.Cell.Component)+"_"+f.Cell.Impl, kind)
			r.Forks[i].Profiles[k] = filepath.ToSlash(merged)
			if len(data) == 0 {
				continue // a workload that the implementation lacks
			}
			p, err := profile.ParseData(data)
			if err != nil {
				return fmt.Errorf("%s: %w", own, err)
			}
			kinds[merged] = append(kinds[merged], p)
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, profiles)); err != nil {
		return err
	}
	for path, of := range kinds {
		merged, err := profile.Merge(of)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := record.ReplaceFile(path, 0o644, merged.Write); err != nil {
			return err
		}
	}
	return nil
}

var (
	profileCommands = regexp.MustCompile(`(?m)(^go tool pprof -http=: profiles/.*\n)+`)
	picture         = regexp.MustCompile(`(?m)^!\[[^\]]*\]\(curves/[^)]*\)\n`)
)

// packReport makes a report's commands name the merged profiles, and leaves out its pictures.
func packReport(path string, r *record.Run) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var commands []string
	for _, f := range r.Forks {
		for _, p := range f.Profiles {
			c := "go tool pprof -http=: " + p + "\n"
			if filepath.Base(p) == "cpu.pb.gz" && !slices.Contains(commands, c) {
				commands = append(commands, c)
			}
		}
	}
	text = profileCommands.ReplaceAllLiteral(text, []byte(strings.Join(commands, "")))
	return record.WriteFile(path, picture.ReplaceAll(text, nil))
}
