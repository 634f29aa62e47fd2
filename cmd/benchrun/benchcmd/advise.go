package benchcmd

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informerbench/informerbench/advise"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/record"
)

// adviceFlags are the flags that describe a load, and what is printed.
type adviceFlags struct {
	load                    advise.Load
	trace, format, workload string
	all, wide               bool
}

func newAdvise() *cobra.Command {
	var a adviceFlags
	cmd := &cobra.Command{
		Use:   "advise [RUN]",
		Short: "Say which store, FIFO, delay heap, queue and informer suit a load",
		Long: `advise says for each component which implementation suits a load, what that rests on,
what it costs, and gives the line of code that puts it into a client-go or a
controller-runtime program.

The load is described by flags, summed up from a trace, or that of a run under
results/. Where several are given, flags come before the trace, and the trace before
the run. A run's own verdicts come before the rules, for the load that it measured.

The rules rest on the records and pages of this project (docs/which.md has them all).
Each holds for a range of loads. Outside of all ranges the advice is to measure, with
the commands that measure this load; --workload writes the workload that they need.`,
		Example: `  benchrun advise --objects 50000 --readers 10 --reads list --writes 2000 --memory 2GiB
  benchrun advise --objects 100000 --readers 10 --reads by-index=2000 --writes 10000
  benchrun advise --delayed 1000000 --workers 8        # only the queue and its heap
  benchrun advise --workers 8 --delayed 1000 --priorities
  benchrun advise results/20261121T101500Z-quick       # a run's own verdicts first
  benchrun advise --trace pods.trace --readers 10 --reads list
  benchrun advise --objects 5000000 --readers 10 --reads list --workload store > store.yaml`,
		Args: needs("at most one RUN, a folder under results/", 0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(forTerminal("wide", a.wide, a.format),
				forTerminal("all", a.all, a.format)); err != nil {
				return err
			}
			q, err := a.question(args)
			if err != nil {
				return err
			}
			if a.workload != "" {
				return load.WriteWorkload(cmd.OutOrStdout(),
					advise.Workload(q.Load, contract.Component(a.workload)))
			}
			given := advise.Given{Load: q.Load, Advice: advise.Rules().Advise(q)}
			if a.format != "text" {
				return adviceFormats[a.format](cmd.OutOrStdout(), given)
			}
			out, to := shown(cmd, a.wide)
			return advise.WriteText(out, given, a.all, to)
		},
	}
	a.add(cmd)
	for _, flag := range []string{"format", "all", "wide"} {
		cmd.MarkFlagsMutuallyExclusive("workload", flag)
	}
	return cmd
}

// adviceFormats are the writers for machines and pages by the name given to --format.
var adviceFormats = map[string]func(io.Writer, advise.Given) error{
	"markdown": advise.WriteMarkdown,
	"json":     advise.WriteJSON,
}

func (a *adviceFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	number := func(d advise.Dimension, help string) { f.Var(loadNumber{&a.load, d}, string(d), help) }
	number(advise.Objects, "objects alive at once in one store")
	number(advise.Readers, "goroutines that read all the time")
	f.Var(readsFlag{&a.load}, "reads",
		"what they read: list, get, or by-index=N, N being how many objects a read finds")
	number(advise.Writes, "adds, updates and deletes a second")
	number(advise.Delayed, "items that wait for their time in the queue")
	number(advise.Workers, "workers that take items out of the queue")
	f.Var(memoryFlag{&a.load}, "memory", "memory limit of the program, such as 512MiB or 2GiB")
	f.BoolVar(&a.load.Priorities, "priorities", false,
		"some items of the queue are more urgent than others")
	f.StringVar((*string)(&a.load.Events), "events", "",
		"`KIND` of consumer of the FIFO: every (each in its order, the default) or merged (as by "+
			"DeltaFIFO)")
	f.StringVar(&a.trace, "trace", "",
		"trace `FILE` to take objects and writes from (see benchrun record and benchrun trace)")
	f.StringVar(&a.workload, "workload", "",
		"print the workload that measures the load for a `COMPONENT`, as YAML for benchrun run -f: "+
			componentList())
	f.StringVar(&a.format, "format", "text", "text, markdown or json; the last two have every reason")
	f.BoolVar(&a.all, "all", false, "print every reason, and the commands that measure them again")
	addWide(cmd, &a.wide)
	f.Lookup("wide").Usage = "do not break lines at the width of the terminal"
	complete(cmd, "reads", func(*cobra.Command) []cobra.Completion {
		return []cobra.Completion{"list", "get", "by-index="}
	})
	complete(cmd, "events", func(*cobra.Command) []cobra.Completion {
		return []cobra.Completion{"every", "merged"}
	})
	complete(cmd, "format", func(*cobra.Command) []cobra.Completion {
		return []cobra.Completion{"text", "markdown", "json"}
	})
	complete(cmd, "workload", func(*cobra.Command) (out []cobra.Completion) {
		for _, c := range load.Components() {
			out = append(out, string(c))
		}
		return out
	})
}

// question checks the flags and reads the run and the trace.
func (a *adviceFlags) question(args []string) (advise.Question, error) {
	var q advise.Question
	if a.format != "text" && adviceFormats[a.format] == nil {
		return q, fmt.Errorf("--format %q: want text, markdown or json", a.format)
	}
	if a.workload != "" && !slices.Contains(load.Components(), contract.Component(a.workload)) {
		return q, fmt.Errorf("--workload %q: have %s", a.workload, componentList())
	}
	q.Load = a.load
	flags, others := a.load.Flags(), a.trace != "" || len(args) > 0
	switch {
	case len(flags) > 0 && others:
		q.Load.From = []string{"the flags " + strings.Join(flags, " ")}
	case len(flags) == 0 && !others:
		return q, errors.New(
			"no load to advise on: describe one (--objects 50000 --readers 10 --reads list --writes " +
				"2000), or give --trace FILE or the folder of a RUN; see benchrun advise --help")
	}
	if a.trace != "" {
		trace, err := load.ReadTraceFile(a.trace)
		if err != nil {
			return q, err
		}
		q.Trace, q.Load = a.trace, q.Load.Over(advise.OfTrace(a.trace, trace))
	}
	q.Asked = q.Load
	if len(args) > 0 {
		r, err := record.ReadRun(args[0])
		if err != nil {
			return q, err
		}
		q.Run = advise.OfRun(args[0], r)
		if filled := q.Load.Over(q.Run.Load()); filled.Validate() == nil {
			q.Load = filled // else the flags describe a load that the run is not about
		}
	}
	return q, q.Asked.Validate()
}

func componentList() string {
	var names []string
	for _, c := range load.Components() {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

// loadNumber is a flag for one number of a load.
type loadNumber struct {
	load *advise.Load
	of   advise.Dimension
}

func (loadNumber) Type() string { return "N" }

// String is empty: a number has no default, it is unknown until it is given.
func (loadNumber) String() string { return "" }

func (f loadNumber) Set(text string) error {
	v, err := advise.ParseNumber(f.of, text)
	if err != nil {
		return err
	}
	*f.load = f.load.With(f.of, v)
	return nil
}

type readsFlag struct{ load *advise.Load }

func (readsFlag) Type() string   { return "WHAT" }
func (readsFlag) String() string { return "" }

func (f readsFlag) Set(text string) error {
	reads, matches, err := advise.ParseReads(text)
	if err != nil {
		return err
	}
	f.load.Reads = reads
	delete(f.load.Numbers, advise.Matches)
	if reads == advise.ReadIndex {
		*f.load = f.load.With(advise.Matches, matches)
	}
	return nil
}

type memoryFlag struct{ load *advise.Load }

func (memoryFlag) Type() string   { return "SIZE" }
func (memoryFlag) String() string { return "" }

func (f memoryFlag) Set(text string) error {
	n, err := advise.ParseBytes(text)
	if err != nil {
		return err
	}
	f.load.Memory = n
	return nil
}
