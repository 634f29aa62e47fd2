// Command run measures what is missing of the evidence in results/, and goes on where it was
// interrupted; see package evidence.
//
//	go run ./internal/evidence/run                  # all presets: hours, see the forecast
//	go run ./internal/evidence/run -for 2h          # stop after two hours; the same command goes on
//	go run ./internal/evidence/run -presets stores  # only this one; other machines measure the others
//	go run ./internal/evidence/run -index           # write the reports and results/README.md again
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/informerbench/informerbench/internal/evidence"
)

func main() {
	flags := flag.NewFlagSet("evidence", flag.ExitOnError) // not flag.CommandLine, where libraries add their own
	results := flags.String("results", "results", "`folder` of the runs")
	limit := flags.Duration("for", 0, "stop after this `time`, with what was measured kept; 0 for no limit")
	presets := flags.String("presets", "", "`names`, with commas between, of the presets that this machine measures; default all")
	index := flags.Bool("index", false, "only write the reports of the runs and their index again")
	_ = flags.Parse(os.Args[1:]) // it exits on an error
	if flags.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "evidence takes no arguments; see -help")
		os.Exit(2)
	}
	if *limit < 0 {
		fmt.Fprintf(os.Stderr, "-for %s: want a time above 0, or 0 for no limit\n", *limit)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, terminate := context.WithCancelCause(ctx)
	defer terminate(nil)
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	go func() {
		<-terminated
		signal.Stop(terminated) // a second one ends the program
		terminate(errTerminated)
	}()
	if *limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, *limit)
		defer cancel()
	}
	if err := run(ctx, *results, *presets, *index); err != nil {
		fmt.Fprintln(os.Stderr, "evidence:", err)
		stop()
		os.Exit(1) //nolint:gocritic // what is deferred has been done
	}
}

// errTerminated is the cause of a context that ended by SIGTERM.
var errTerminated = errors.New("terminated")

func run(ctx context.Context, results, presets string, index bool) (failed error) {
	if index {
		return evidence.UpdateIndex(results, evidence.AllPresets())
	}
	var only []string
	if presets != "" {
		only = strings.Split(presets, ",")
	}
	tree, err := os.MkdirTemp("", "informerbench-evidence-")
	if err != nil {
		return err
	}
	w := &workTree{dir: filepath.Join(tree, "tree")}
	defer func() { failed = errors.Join(failed, w.remove(), os.RemoveAll(tree)) }()
	return evidence.Measure(ctx, evidence.Options{
		Results: results, Presets: evidence.AllPresets(), Only: only, Head: head, Program: w.build, Run: start, Out: os.Stdout,
	})
}

func head(ctx context.Context) (string, error) {
	changes, err := git(ctx, "status", "--porcelain")
	if err != nil {
		return "", err
	}
	if changes != "" {
		return "", fmt.Errorf("the work tree has changes, so nobody could repeat the runs: commit or stash them first\n%s", changes)
	}
	return git(ctx, "rev-parse", "HEAD")
}

// workTree is a second work tree of the repository, so that this one may change meanwhile.
type workTree struct {
	dir   string
	added bool
}

func (w *workTree) build(ctx context.Context, revision string) (dir, program string, err error) {
	if _, err := git(ctx, "worktree", "add", "--detach", w.dir, revision); err != nil {
		return "", "", err
	}
	w.added = true
	program = filepath.Join(filepath.Dir(w.dir), "benchrun")
	return w.dir, program, start(ctx, w.dir, "go", "build", "-o", program, "./cmd/benchrun")
}

func (w *workTree) remove() error {
	if !w.added {
		return nil
	}
	_, err := git(context.Background(), "worktree", "remove", "--force", w.dir)
	return err
}

func git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %s", strings.Join(args, " "), strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}

// start runs a program. When ctx ends, the program has a minute to keep what it has.
func start(ctx context.Context, dir, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stdout, os.Stderr
	cmd.Cancel = func() error {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(context.Cause(ctx), errTerminated) {
			return cmd.Process.Signal(os.Interrupt)
		}
		return nil // the terminal has sent Ctrl-C to the program too, and a second one would end it at once
	}
	cmd.WaitDelay = time.Minute
	return cmd.Run()
}
