// Package benchcmd is the command benchrun: its subcommands, flags and output. Packages
// bench/runner, report, load and catalog do the work. A program that calls Main with entries
// of its own is a benchrun that has them too, and needs no other import (docs/extend.md):
//
//	benchcmd.Main(benchcmd.Store("mystore", mystore.New, benchcmd.Description("one RWMutex")))
package benchcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/bench/runner"
	"github.com/informerbench/informerbench/report"
)

// The exit codes.
const (
	exitBroken       = runner.ExitFailed
	exitBadInput     = runner.ExitRefused
	exitInconclusive = 3
	exitInterrupted  = 130
)

// Main is the main function of benchrun. entries, of Store and its like, are added to the
// catalog: every list, table, report, gate, completion and page has them. Processes that
// measure are this program started again, so they know the entries too. If catalog.Extend or
// catalog.Entry.Try refuses an entry, the program ends before anything is measured.
//
// Main runs the command line of the process and exits with its code:
//   - 0: done.
//   - 1: an implementation, a measurement or a check failed, compare found a regression, or
//     the output could not be written.
//   - 2: the input is wrong. Nothing was written, except where pair finds that a gate matches
//     nothing when it has measured.
//   - 3: compare found too little evidence for a verdict.
//   - 130: interrupted; the measured forks are kept.
func Main(entries ...catalog.Entry) {
	// client-go logs by itself, also the errors that conformance cases provoke.
	klog.SetLogger(logr.Discard())
	fork := len(os.Args) > 1 && slices.Contains([]string{runner.ForkCommand, runner.TurnsCommand},
		os.Args[1])
	if len(entries) > 0 {
		program = strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
		if err := extend(entries, fork); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %s\n", program, report.Visible(err.Error()))
			os.Exit(exitBadInput)
		}
	}
	ctx, end := context.Background(), func() {}
	if !fork { // a fork does not handle signals
		ctx, end = untilSignal(ctx)
	}
	code := execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	end()
	os.Exit(code)
}

// program is the name that messages, help and completion give this program: the file's, if it
// has entries of its own. Main sets it before all else.
var program = "benchrun"

// extend adds entries to the catalog. A fork does not try their constructors: its program
// has, and what a constructor leaves would be measured beside another implementation.
func extend(entries []catalog.Entry, fork bool) error {
	if err := catalog.Extend(entries...); err != nil || fork {
		return err
	}
	var errs []error
	for _, e := range entries {
		errs = append(errs, e.Try())
	}
	return errors.Join(errs...)
}

// untilSignal returns a context that the first signal ends, so that a run shuts down
// orderly. From then on a signal has its default effect: it ends the process.
func untilSignal(ctx context.Context) (context.Context, func()) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	ended := context.AfterFunc(ctx, func() {
		stop()
		fmt.Fprintln(os.Stderr, "\n"+program+": stopping. A second Ctrl-C stops at once.")
	})
	return ctx, func() { ended(); stop() }
}

// execute runs one command line and returns its exit code.
func execute(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	shown := &visibleWriter{out: out}
	root.SetOut(shown)
	root.SetErr(errOut) // unwrapped: progress checks whether it is a terminal, and moves its cursor
	err := root.ExecuteContext(ctx)
	switch lost := shown.end(); {
	case lost != nil && errors.Is(err, lost):
		err = broken(err)
	case lost != nil:
		err = errors.Join(err, broken(fmt.Errorf("the output is not whole: %w", lost)))
	}
	if err == nil {
		return 0
	}
	if found := errors.Is(err, errBroken) || errors.Is(err, runner.ErrFailed) ||
		errors.Is(err, errInconclusive); ctx.Err() != nil && !found &&
		!errors.Is(err, runner.ErrInterrupted) {
		err = fmt.Errorf("%w: %w", runner.ErrInterrupted, err)
	}
	fmt.Fprintln(errOut, program+":", report.Visible(brief(err.Error())))
	return exitCode(err)
}

// quoted are the quotations and words of an error, which may be of any length: a flag, a field, a
// cell of a file.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[^\s"]+`)

// mostQuoted is how many bytes of a quotation or a word an error shows.
const mostQuoted = 200

// brief shortens the quotations and words of an error.
func brief(text string) string {
	return quoted.ReplaceAllStringFunc(text, func(q string) string {
		if more := len(q) - mostQuoted; more > 0 {
			q = fmt.Sprintf("%s... (and %d bytes more)", strings.ToValidUTF8(q[:mostQuoted], ""), more)
		}
		return q
	})
}

// exitCode is that of an error.
func exitCode(err error) int {
	switch {
	case errors.Is(err, runner.ErrInterrupted):
		return exitInterrupted
	// before what is inconclusive beside it
	case errors.Is(err, errBroken), errors.Is(err, runner.ErrFailed):
		return exitBroken
	case errors.Is(err, errInconclusive):
		return exitInconclusive
	}
	return exitBadInput
}

// errBroken marks errors that are not mistakes in the input.
var errBroken = errors.New("broken")

// broken marks err so that the exit code is exitBroken.
func broken(err error) error {
	if err == nil {
		return nil
	}
	return brokenError{err}
}

type brokenError struct{ error }

func (brokenError) Is(target error) bool { return target == errBroken }
func (b brokenError) Unwrap() error      { return b.error }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   program,
		Short: "Compare stores, FIFOs, delay heaps, workqueues and informers of Kubernetes controllers",
		Long: `benchrun compares implementations of the machinery inside Kubernetes controllers
(client-go's tools/cache and util/workqueue, controller-runtime's priority queue,
and this project's own) under synthetic and recorded load.

Every implementation is verified against its conformance suite before it is
measured, every measurement runs in a process of its own, and no number is shown
without its interval.`,
		Example: `  benchrun run                                  # the default preset: everything, in about 3 minutes
  benchrun run --preset lock-starvation --impl 'clientgo*,mutexmap'
  benchrun list                                 # implementations and presets
  benchrun verify --component store             # conformance suites
  benchrun report results/20261121T101500Z-quick`,
		SilenceUsage:  true,
		SilenceErrors: true,
		// For every command: none of them has one of its own.
		PersistentPreRunE: refuseEmpty,
		// Without RunE cobra answers an unknown command with help and exit code 0.
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
	}
	root.AddCommand(newRun(), newCompare(), newPair(), newMerge(), newJob(), newSelfCheck(), newList(),
		newVerify(), newRecord(), newTrace(), newServeAPI(), newAdvise(), newMemory(),
		newReport(), newVersion())
	root.AddCommand(processes()...)
	for _, c := range append(root.Commands(), root) {
		c.Example = strings.ReplaceAll("\n"+c.Example, "\n  benchrun ", "\n  "+program+" ")[1:]
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) {
			// the letters of -preset are read as flags
			name := cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName())
			if near := flagsLike(cmd, name); len(near) > 0 {
				return fmt.Errorf("%w: did you mean --%s?", err, strings.Join(near, " or --"))
			}
		}
		return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
	})
	return root
}

// flagsLike are the flags that a misspelt name may mean, by cobra's rule for commands.
func flagsLike(cmd *cobra.Command, name string) []string {
	names := &cobra.Command{SuggestionsMinimumDistance: 2}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
	})
	return names.SuggestionsFor(name)
}

// unknownCommand says which command was meant, or which there are.
func unknownCommand(parent *cobra.Command, name string) error {
	parent.SuggestionsMinimumDistance = 2
	if near := parent.SuggestionsFor(name); len(near) > 0 {
		return fmt.Errorf("unknown command %q: did you mean %s?", name, strings.Join(near, " or "))
	}
	var have []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			have = append(have, c.Name())
		}
	}
	return fmt.Errorf("unknown command %q: have %s", name, strings.Join(have, ", "))
}
