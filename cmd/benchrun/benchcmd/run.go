package benchcmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/mod/modfile"

	"github.com/informerbench/informerbench/bench/runner"
	"github.com/informerbench/informerbench/load/presets"
	"github.com/informerbench/informerbench/measure/record"
)

func newRun() *cobra.Command {
	var o runner.Options
	var resume string
	var wide bool
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Verify, measure, profile and report",
		Long: `run verifies the chosen implementations, measures each in processes of its own,
interleaved in shuffled blocks, and writes a folder under results/ with run.json
(every sample), bench.txt (for benchstat), report.md, report.html (one page, opens
offline) and profiles/ (for go tool pprof).

A cell is one implementation under one workload; a fork is one process that measures a
cell. Without flags run takes the preset ` + presets.Default +
			`, about 3 minutes on 2 cores. It measures 6
forks of each cell; the rest of the time goes to more forks of cells whose comparison is
still inconclusive (--forks 6 leaves them out). Designs, baselines and variants that are
there for study are measured with -f or --trace, or if --impl names them ('*' takes all).
Ctrl-C keeps what was measured and writes the reports, a second one ends at once;
--resume goes on.`,
		Example: `  benchrun run
  benchrun run --preset lock-starvation --impl 'clientgo*,mutexmap'
  benchrun run --preset lock-starvation --sweep listers.goroutines=0,1,10,80
  benchrun run --preset lock-starvation,stores         # what stores are held against, in one run
  benchrun run --preset scaling --component store      # how cost grows with the objects
  benchrun run --preset quick --sweep procs=1,2            # with 1 and with 2 of the machine's processors
  benchrun run --component store,queue --forks 10 --duration 1s
  benchrun run --component store --preset stores --duration 1s  # differences of a few percent
  benchrun run --component store --budget 10m      # more processes where 6 do not settle it
  benchrun run -f workload.yaml -o results/mine
  benchrun run --trace openb.trace --component store
  benchrun run --trace openb.trace --times 20 --component store  # a cluster 20 times as large
  benchrun run --trace pods.trace --component informer    # an informer for each resource
  benchrun run --trace pods.trace --compress 20 --preset lock-starvation  # with the preset's readers
  benchrun run --resume results/20261121T101500Z-quick
  benchrun run --preset stores --forks 20 --shard 3/16  # a part, for one of 16 machines; benchrun merge joins them`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Command, o.WorkTree = commandLine(), workTree()
			var result runner.Result
			var err error
			if resume != "" {
				if extra := changedBeside(cmd, "resume", "wide", "machine"); extra != "" {
					return fmt.Errorf(
						"--resume goes on with the settings that the run was begun with: leave out --%s", extra)
				}
				result, err = runner.Resume(cmd.Context(), resume, o, cmd.ErrOrStderr())
			} else {
				var p *runner.Plan
				if p, err = runner.NewPlan(o); err != nil {
					return err
				}
				result, err = runner.Execute(cmd.Context(), p, cmd.ErrOrStderr())
			}
			if result.Run == nil {
				return err
			}
			err = broken(err) // the input was accepted: later errors are not mistakes of the caller
			took := result.Run.Finished.Sub(result.Run.Started).Round(time.Second).String()
			if resume != "" || o.Continue {
				took += ", pauses included"
			}
			return errors.Join(err, printRun(cmd, result, wide,
				fmt.Sprintf("%d forks in %s: ", len(result.Run.Forks), took)))
		},
	}
	addRunFlags(cmd, &o)
	addWide(cmd, &wide)
	cmd.Flags().BoolVar(&o.Profile, "profile", true,
		"measure one more process per cell to take CPU, heap, allocs, mutex and block profiles")
	addShardFlags(cmd, &o)
	cmd.Flags().StringVar(&resume, "resume", "", "`FOLDER` of an interrupted run to go on with")
	return cmd
}

// addRunFlags adds the flags that all measuring commands share.
func addRunFlags(cmd *cobra.Command, o *runner.Options) {
	f := cmd.Flags()
	f.StringVar(&o.Preset, "preset", "",
		"`NAME` of a preset, or of several: NAME,NAME (default "+presets.Default+
			"); benchrun list shows them")
	f.StringVarP(&o.File, "file", "f", "", "workload `FILE` (YAML, - for standard input) instead of a preset")
	f.StringVar(&o.Trace, "trace", "",
		"trace `FILE` to replay through stores, FIFOs and informers (see benchrun record and benchrun "+
			"trace); a preset or a workload file beside it says who reads meanwhile")
	f.Var(atLeastOne(&o.Times), "times",
		"replay a cluster `N` times as large as the trace's: copies side by side, each a little later "+
			"(default 1)")
	f.Var(aboveZero(&o.Compress), "compress",
		"divide the times of a trace by this, above 0 (default 1, its own speed)")
	f.StringSliceVar(&o.Components, "component", nil,
		"only these components: store, fifo, delay, queue, informer, objects")
	f.StringSliceVar(&o.Impls, "impl", nil,
		"only these implementations: names or globs such as 'clientgo*'")
	f.Var(atLeastOne(&o.Forks), "forks",
		fmt.Sprintf("processes per cell, 1 or more (default %d)", runner.DefaultForks))
	f.Var(budgetFlag(o), "budget",
		fmt.Sprintf("`TIME` for more processes of comparisons that --forks leaves inconclusive, such "+
			"as 10m; 0 for none (default: the preset's, %s of %s, or none with --forks)", quickBudget(),
			presets.Default))
	f.Var(longerThanZero(&o.Duration), "duration",
		"how long one process measures each operation or all groups (default: the workload's)")
	f.StringVarP(&o.Out, "output", "o", "",
		"`FOLDER` for the results; must not exist or be empty (default results/<UTC time>-<preset>)")
	o.Seed = 1
	f.Var(seedFlag(&o.Seed), "seed",
		"seed of the objects, of the order of the operations and of the schedule")
	f.Var(atLeastOne(&o.Procs), "procs",
		fmt.Sprintf("GOMAXPROCS of each process, 1 to %d here (default: that of benchrun, which is "+
			"all cores or a container's limit)", runtime.NumCPU()))
	f.StringArrayVar(&o.Sweep, "sweep", nil,
		"repeat each workload for several values: `WHAT=N,N,...`, WHAT being objects, waiting, procs, "+
			"or GROUP.goroutines, GROUP.rate, GROUP.batch of a workload's group; what lacks it is left out")
	f.BoolVar(&o.SkipVerify, "skip-verify", false,
		"measure without running the conformance suites; every report says so")
	complete(cmd, "preset", presetNames)
	complete(cmd, "component", componentNames)
	complete(cmd, "impl", implementationNames)
	f.Var(plantFlag(&o.Plant), "plant",
		"slow one store down on purpose, `STORE=10%`, to see whether your gates find it")
}

// quickBudget is the budget of the default preset.
func quickBudget() time.Duration {
	p, err := presets.Lookup(presets.Default)
	if err != nil {
		panic(err) // it is in the table
	}
	return p.Budget
}

// plantFlag parses "mutexmap=10%".
func plantFlag(into **record.Plant) checked[*record.Plant] {
	return checked[*record.Plant]{into, "plant", func(text string) (*record.Plant, error) {
		impl, share, ok := strings.Cut(text, "=")
		number, percent := strings.CutSuffix(share, "%")
		v, err := strconv.ParseFloat(number, 64)
		if !ok || !percent || err != nil || impl == "" || !(v >= 0 && v <= 1000) {
			return nil, errors.New("want STORE=PERCENT%, such as mutexmap=10%, from 0 to 1000")
		}
		return &record.Plant{Impl: impl, Share: v / 100}, nil
	}, func(p *record.Plant) string { return fmt.Sprintf("%s=%g%%", p.Impl, 100*p.Share) }}
}

// budgetFlag is a run's budget. 0 means none; without the flag it is the preset's.
func budgetFlag(o *runner.Options) checked[time.Duration] {
	return checked[time.Duration]{&o.Budget, "duration", func(text string) (time.Duration, error) {
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return 0, errors.New("want a time of 0 or more, such as 10m")
		}
		o.NoBudget = d == 0
		return d, nil
	}, time.Duration.String}
}

// changedBeside returns a flag that was given in addition to the named ones, or "".
func changedBeside(cmd *cobra.Command, names ...string) string {
	other := ""
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(names, f.Name) {
			other = f.Name
		}
	})
	return other
}

// commandLine is the command line as typed, for the record.
func commandLine() []string { return append([]string{program}, os.Args[1:]...) }

// workTree is the folder of the git work tree: the working directory or its nearest parent
// with the go.mod of this program's module; "" where it runs elsewhere.
func workTree() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for ; ; dir = filepath.Dir(dir) {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && modfile.ModulePath(mod) == mainModule().Path {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

const modulePath = "github.com/informerbench/informerbench"

// mainModule is the module of this program's main package: ours, or a stranger's.
func mainModule() debug.Module {
	if build, ok := debug.ReadBuildInfo(); ok && build.Main.Path != "" {
		return build.Main
	}
	return debug.Module{Path: modulePath}
}
