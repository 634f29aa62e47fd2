package benchcmd

import (
	"context"
	"fmt"
	"io"
	"log"

	"github.com/spf13/cobra"

	"github.com/informerbench/informerbench/internal/loopback"
	"github.com/informerbench/informerbench/web"
)

func newServe() *cobra.Command {
	var o web.Options
	cmd := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "Show all runs of a folder in the browser: answers, comparisons, profiles",
		Long: `serve shows the runs of a folder, by default results, as web pages on this machine:
all runs as a list with their answers and reports, two of them compared, and every
profile, or the difference of two, in pprof's own pages.

It prints the address to open. Only this machine can reach it, and it changes nothing.
Runs that are made meanwhile appear when the page is loaded again. Ctrl-C ends it.

The runs may come from anybody: no name or link leads out of the folder, and nothing
that a profile names is opened. pprof's graph needs Graphviz (the program dot); its
other pages need nothing.`,
		Example: `  benchrun serve
  benchrun serve results --addr localhost:8080    # the same address each time
  benchrun serve results/20261121T101500Z-pair   # the two runs of a pair`,
		Args: needs("at most one folder DIR of runs (default results)", 0, 1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := defaultServed
			if len(args) > 0 {
				dir = args[0]
			}
			o.ErrorLog = log.New(cmd.ErrOrStderr(), "", log.LstdFlags)
			return serve(cmd.Context(), dir, o, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Address, "addr", web.DefaultAddress, "`HOST:PORT` to listen on, loopback only; port 0 is a free one")
	f.IntVar(&o.MaxInFlight, "max-requests-inflight", web.DefaultMaxInFlight, "requests answered at once; one more gets 503; 0 for no limit")
	return cmd
}

// defaultServed is where benchrun run leaves its runs.
const defaultServed = "results"

func serve(ctx context.Context, dir string, o web.Options, out io.Writer) error {
	if o.MaxInFlight < 0 {
		return fmt.Errorf("--max-requests-inflight %d: use 1 or more, or 0 for no limit", o.MaxInFlight)
	}
	if err := loopback.CheckAddress(o.Address); err != nil {
		return fmt.Errorf("--addr: %w", err)
	}
	o.MaxInFlight = noLimit(o.MaxInFlight)
	server, err := web.New(dir, o)
	if err != nil {
		return err
	}
	defer server.Stop()
	if err := server.Start(); err != nil {
		return err
	}
	fmt.Fprintf(out, "the runs of %s are at %s; Ctrl-C ends this\n", dir, server.URL())
	<-ctx.Done()
	return nil
}
