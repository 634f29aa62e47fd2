package benchcmd

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informerbench/informerbench/bench/runner"
)

// addShardFlags adds the flags of a run that is divided between machines.
func addShardFlags(cmd *cobra.Command, o *runner.Options) {
	f := cmd.Flags()
	f.Var(shardFlag(&o.Shard), "shard",
		"measure one part of the run, `3/16`: part 3 of 16; job/16 takes the part from the index of a "+
			"Kubernetes Job's pod. benchrun merge joins the parts")
	f.StringVar(&o.Machine, "machine", "",
		"`NAME` of this machine in the record, such as the node's: only forks of one machine are "+
			"compared (default: the host's name)")
	f.BoolVar(&o.Continue, "continue", false,
		"go on with the run in the folder -o if one was begun there with the same flags; begin one "+
			"otherwise")
}

// indexVariable is the variable in which a pod of an Indexed Job finds its index, from 0.
const indexVariable = "JOB_COMPLETION_INDEX"

// shardFlag parses "3/16" and "job/16".
func shardFlag(into *runner.Shard) checked[runner.Shard] {
	return checked[runner.Shard]{into, "shard", parseShard,
		func(s runner.Shard) string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }}
}

func parseShard(text string) (runner.Shard, error) {
	wrong := errors.New("want PART/PARTS, such as 3/16, or job/16 in a pod of an Indexed Job")
	part, total, ok := strings.Cut(text, "/")
	of, err := strconv.Atoi(total)
	if !ok || err != nil || of < 1 {
		return runner.Shard{}, wrong
	}
	index, err := strconv.Atoi(part)
	if part == "job" {
		text := os.Getenv(indexVariable)
		if index, err = strconv.Atoi(text); err != nil {
			return runner.Shard{}, fmt.Errorf("%s is %q, want the index of a pod of an Indexed Job, 0 to %d",
				indexVariable, text, of-1)
		}
		index++ // a Job's indexes begin with 0
	}
	switch {
	case err != nil:
		return runner.Shard{}, wrong
	case index < 1 || index > of:
		return runner.Shard{}, fmt.Errorf("there is no part %d of %d: want 1 to %d", index, of, of)
	}
	return runner.Shard{Index: index, Of: of}, nil
}

func newMerge() *cobra.Command {
	var o runner.MergeOptions
	var wide bool
	cmd := &cobra.Command{
		Use:   "merge OUT SHARD...",
		Short: "Join the shards that several machines measured into one run",
		Long: `merge joins the folders that benchrun run --shard has written, in any order, into one
run in OUT: run.json, the reports and the profiles. SHARD is the folder of a shard, or a
folder that holds such folders.

Every ratio is taken within a machine, and machines are blocks of the test, so machines
may differ in speed. They must be of one class all the same (CPU, cores, Go), and all
shards of one revision and one plan. merge names the shards that are missing, unfinished,
there twice, or of another run, and then writes nothing (exit code 2). If OUT holds a run
that was merged from the same plan and commit before, it is written anew.`,
		Example: `  benchrun merge results/stores results/*-shard-*-of-16
  benchrun merge results/stores results/shards        # the folders below it
  benchrun merge results/stores results/shards --wait 6h`,
		Args: needs("OUT and the SHARD folders", 2, math.MaxInt),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Out, o.From, o.Command = args[0], args[1:], commandLine()
			result, err := runner.Merge(cmd.Context(), o, cmd.ErrOrStderr())
			if result.Run == nil {
				return err
			}
			return errors.Join(broken(err), printRun(cmd, result, wide,
				fmt.Sprintf("%d forks of %d shards on %d machines: ", len(result.Run.Forks),
					len(result.Run.Shards), len(result.Run.Machines()))))
		},
	}
	addWide(cmd, &wide)
	cmd.Flags().Var(longerThanZero(&o.Wait), "wait",
		"how long to wait for shards that are missing, not finished, or have given up processes, such "+
			"as 6h (default: not at all)")
	return cmd
}
