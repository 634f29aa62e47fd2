package benchcmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/informerbench/informerbench/bench/runner"
	"github.com/informerbench/informerbench/internal/progress"
	"github.com/informerbench/informerbench/load/recorder"
)

func newRecord() *cobra.Command {
	var kubeconfig, kubeContext, output string
	var resources []string
	var o recorder.Options
	cmd := &cobra.Command{
		Use:   "record --kubeconfig FILE --resource pods[,...] --for 10m -o FILE",
		Short: "Watch a real cluster and write what happens into a trace",
		Long: `record lists and watches resources of a cluster, and does nothing else to it. What
was there at the start and every event since goes into a compressed, checksummed
trace, which benchrun run --trace replays.

A watch that breaks off goes on where it was. Where the server has forgotten the
history in between, the resource is listed again and what differs becomes events.
benchrun trace info tells when that was.

Ctrl-C ends the recording early; what was recorded is kept, and whole. A recorder
that is killed leaves a file that lacks its last seconds: benchrun trace salvage.

--redact drops the data of Secrets and ConfigMaps, the values of environment
variables, all annotations and managedFields, also in pod templates. It keeps names,
labels, images, command lines, probes and the fields of custom resources: look
before you hand a trace on. --metadata-only asks the server for metadata alone, and
drops what kubectl keeps there of the rest. Secrets need one of the two.

The permissions it needs are list and watch on each resource.`,
		Example: `  benchrun record --resource pods --for 10m -o pods.trace
  benchrun record --kubeconfig prod.yaml --context prod --resource pods,deploy,leases --redact --for 1h -o prod.trace
  benchrun record --resource secrets --metadata-only --namespace kube-system --for 5m -o secrets.trace`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case output == "":
				return errors.New("-o is missing: give the FILE to write")
			case len(resources) == 0:
				return errors.New(
					"--resource is missing: say what to watch, such as --resource pods,deployments.apps")
			case o.For <= 0:
				return fmt.Errorf("--for %s: use a time above 0, such as 10m", o.For)
			}
			cluster, err := recorder.Connect(kubeconfig, kubeContext)
			if err != nil {
				return err
			}
			if o.Resources, err = cluster.Resolve(cmd.Context(), resources); err != nil {
				return stopped(err)
			}
			shown := progress.New(cmd.ErrOrStderr())
			o.Progress = func(now recorder.Progress) {
				shown.Show(float64(now.Elapsed)/float64(max(1, now.Elapsed+now.Left)), soFar(now))
			}
			p, err := cluster.File(cmd.Context(), output, o)
			shown.End()
			switch {
			case errors.Is(err, recorder.ErrKept):
				return broken(err)
			case err != nil:
				return stopped(err)
			}
			fmt.Fprintf(cmd.OutOrStdout(),
				"%s: %s, %d objects at the start, %d events in %s%s\nlook      benchrun trace info "+
					"%s\nreplay    benchrun run --trace %s\n", output,
				humanize.Bytes(uint64(p.Bytes)), p.Initial, p.Events, p.Elapsed.Round(time.Second),
				told(p.Notes), output, output)
			if p.Left = o.For - p.Elapsed; cmd.Context().Err() != nil && p.Left > 0 {
				return fmt.Errorf("%w after %s of %s; what was recorded is whole", runner.ErrInterrupted,
					p.Elapsed.Round(time.Second), o.For)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&kubeconfig, "kubeconfig", "",
		"`FILE` that says how to reach the cluster (default $KUBECONFIG or ~/.kube/config)")
	f.StringVar(&kubeContext, "context", "",
		"`NAME` of the kubeconfig's context (default the current one)")
	f.StringSliceVar(&resources, "resource", nil,
		"`NAMES` of what to watch, as kubectl takes them: pods,deployments.apps,...")
	f.StringVarP(&o.Namespace, "namespace", "n", "", "only this `NAMESPACE` (default all)")
	f.DurationVar(&o.For, "for", 0, "how long, from the end of the first lists")
	f.BoolVar(&o.MetadataOnly, "metadata-only", false, "ask for metadata alone")
	f.BoolVar(&o.Redact, "redact", false,
		"drop the data of Secrets and ConfigMaps, the values of environment variables, annotations "+
			"and managedFields")
	f.BoolVar(&o.DropManagedFields, "drop-managed-fields", false,
		"drop managedFields, as many informers' transforms do")
	f.StringVarP(&output, "output", "o", "", "`FILE` to write; must not exist")
	return cmd
}

// stopped is the error of a recording that left no file. It distinguishes Ctrl-C from a
// cluster that does not answer.
func stopped(err error) error {
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w: the first lists were not done, so there is nothing to keep",
			runner.ErrInterrupted)
	}
	return err
}

// told summarises the recorder's notes in a few words.
func told(notes map[string]int) string {
	words := ""
	for _, what := range slices.Sorted(maps.Keys(notes)) {
		words += fmt.Sprintf(", %s %d times", what, notes[what])
	}
	return words
}

// soFar is a line about what was recorded so far.
func soFar(now recorder.Progress) string {
	if now.Listing {
		return fmt.Sprintf("listing: %d objects", now.Live)
	}
	return fmt.Sprintf("%s left: %d events, %d objects, %s written%s", now.Left.Round(time.Second),
		now.Events, now.Live, humanize.Bytes(uint64(now.Bytes)), told(now.Notes))
}
