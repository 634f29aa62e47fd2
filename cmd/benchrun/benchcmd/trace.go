package benchcmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/internal/input"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/record"
)

func newTrace() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trace",
		Short: "Look into traces, save damaged ones, and make traces of pod lifecycles",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(newTraceInfo(), newTraceCat(), newTraceSalvage(), newTraceImport())
	return cmd
}

// pipes ends the help of commands that read a FILE by package input.
const pipes = "\n\nFILE may be a pipe, or - for standard input."

func newTraceInfo() *cobra.Command {
	return &cobra.Command{
		Use:   "info FILE",
		Short: "Sum a trace up",
		Long: `info reads the whole trace, checks it, and says what is in it. Of a file that is cut
short or damaged it sums up what lies before the damage, says where that is, and
ends with exit code 2.` + pipes,
		Example: `  benchrun trace info pods.trace`,
		Args:    oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			trace, err := load.ReadTraceFile(args[0])
			if trace != nil {
				printTrace(cmd.OutOrStdout(), trace)
			}
			return err
		},
	}
}

func newTraceCat() *cobra.Command {
	return &cobra.Command{
		Use:   "cat FILE",
		Short: "Print everything that is in a trace, as lines of JSON",
		Long: `cat prints a trace's file decompressed: the header, each object and event, the end.
Look for what is confidential before you hand a trace on.` + pipes,
		Example: `  benchrun trace cat pods.trace | grep -i password`,
		Args:    oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := input.Open(args[0])
			if err != nil {
				return err
			}
			defer f.Close() // only read: nothing can be lost
			out := bufio.NewWriter(cmd.OutOrStdout())
			return errors.Join(load.CatTrace(out, args[0], f), out.Flush())
		},
	}
}

func newTraceSalvage() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "salvage FILE -o FILE",
		Short: "Make a whole trace of what lies before the damage in another",
		Long: `salvage reads a recording that was cut short (its recorder was killed, the disk was
full, a copy broke off) or damaged, and writes what lies before the damage as a
trace that is whole and can be replayed.` + pipes,
		Example: `  benchrun trace salvage cut.trace -o saved.trace`,
		Args:    oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				return errors.New("-o is missing: give the FILE to write")
			}
			if err := mayBeMade(output, "-o"); err != nil {
				return err
			}
			trace, err := load.ReadTraceFile(args[0])
			var damage *load.TraceDamage
			switch {
			case err == nil:
				return fmt.Errorf("%s is whole: there is nothing to salvage", args[0])
			case trace == nil || !errors.As(err, &damage):
				return err
			}
			trace.Ended = fmt.Sprintf("salvaged: lost is what lay behind block %d, at byte %d of the file",
				damage.Block, damage.Offset)
			if err := record.ReplaceFile(output, 0o600, func(w io.Writer) error {
				return load.WriteTrace(w, trace)
			}); err != nil {
				return notWritten(output, err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: block %d, at byte %d of the file: %v\n%s:\n", args[0],
				damage.Block, damage.Offset, damage.Cause, output)
			printTrace(cmd.OutOrStdout(), trace)
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "`FILE` to write; must not exist")
	return cmd
}

// mayBeMade checks, before any work, whether the new file of a flag can be created.
func mayBeMade(path, flag string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s exists: choose another file with %s", path, flag)
	}
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is no folder: make it first, or choose another file with %s", dir, flag)
	}
	return nil
}

// notWritten replaces the temporary file's name in an error by the final one.
func notWritten(path string, err error) error {
	var of *fs.PathError
	var renamed *os.LinkError
	if errors.As(err, &of) {
		err = of.Err
	} else if errors.As(err, &renamed) {
		err = renamed.Err
	}
	err = fmt.Errorf("write %s: %w: choose another file", path, err)
	if record.DiskFull(err) {
		return broken(err)
	}
	return err
}

// oneFile checks the argument of the commands that read a trace.
func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("give one FILE: benchrun trace %s", cmd.Use)
	}
	return nil
}

func printTrace(out io.Writer, trace *load.Trace) {
	i := trace.Info()
	fmt.Fprintf(out, "  source     %s\n", trace.Source)
	if !trace.Recorded.IsZero() {
		fmt.Fprintf(out, "  recorded   %s, for %s\n", trace.Recorded.Format(time.RFC3339),
			trace.Length.Round(time.Millisecond))
	}
	if trace.Ended != "" {
		fmt.Fprintf(out, "  ended      %s\n", trace.Ended)
	}
	if trace.Namespace != "" {
		fmt.Fprintf(out, "  namespace  %s, no other\n", trace.Namespace)
	}
	for _, d := range trace.Dropped {
		fmt.Fprintf(out, "  left out   %s\n", d)
	}
	if trace.Compress != 1 || trace.Seed != 0 {
		fmt.Fprintf(out, "  compressed by %g, seed %d\n", trace.Compress, trace.Seed)
	}
	fmt.Fprintf(out, "  span       %s, %.0f events/s on average, %d in the busiest second\n", i.Span,
		i.MeanRate, i.PeakRate)
	fmt.Fprintf(out, "  objects    %d in %d namespaces on %d nodes; %d at the start, %d at once at "+
		"most, %d at the end\n", i.Objects, i.Namespaces, i.Nodes, i.Initial, i.PeakLive, i.FinalLive)
	fmt.Fprintf(out, "  events     %d:", i.Total)
	for _, t := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
		fmt.Fprintf(out, " %d %s", i.Events[t], strings.ToLower(string(t)))
	}
	fmt.Fprintln(out)
	if len(i.Resources) > 1 {
		for _, r := range i.Resources {
			fmt.Fprintf(out, "    %s: %d objects, %d at the start, %d at the end, %d events\n", r, r.Objects,
				r.Initial, r.FinalLive, r.Events)
		}
	}
	for _, n := range trace.Notes {
		fmt.Fprintf(out, "  at %s  %s %s", n.At.Round(time.Millisecond), trace.Resources[n.Resource],
			n.What)
		if n.What == load.NoteRelisted {
			fmt.Fprintf(out, ", which found %d added, %d modified, %d deleted", n.Added, n.Modified,
				n.Deleted)
		}
		fmt.Fprintf(out, ": %s\n", n.Why)
	}
}
