package benchcmd

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/informerbench/informerbench/bench/runner"
)

// notInJobs are flags of run that a Job's pods cannot be given, with the reason.
var notInJobs = map[string]string{
	"file": "a pod does not have the file: put the workload into a preset, or the file into the " +
		"image and its path into the manifest",
	"trace": "a pod does not have the file: put the trace into the image, or into the volume, and " +
		"its path into the manifest",
	"output": "the results go to --claim or --bucket",
	"procs":  "GOMAXPROCS is the number of --cpus",
	"budget": "a shard cannot see what is inconclusive in the whole run: ask for more --forks instead",
}

func newJob() *cobra.Command {
	var o runner.Options
	s := jobSpec{CPUs: 2, Memory: "4Gi", Deadline: 24 * time.Hour}
	cmd := &cobra.Command{
		Use:   "job",
		Short: "Print the Kubernetes Jobs that measure a run on many nodes and merge it",
		Long: `job prints two manifests: an Indexed Job, of which each pod measures a shard of the run on
a node of its own, and a Job that waits for the shards and merges them. Apply both
together. The flags of benchrun run say what to measure.

A pod is of guaranteed quality of service and has whole CPUs; where the nodes' CPU manager
has the policy static, these are cores that no other pod uses. No two shards share a
node. A pod that is evicted goes on elsewhere with what it had measured; a shard that
fails is tried 3 times more, unless its input is wrong (exit code 2).

The results go to a volume that many nodes can write (--claim), or to an S3-compatible
bucket (--bucket). The repository's Dockerfile makes the image. The cluster must be of
Kubernetes 1.29 or later; before 1.33 a limit of failures for each index, and sidecar
containers, must not be switched off.`,
		Example: `  benchrun job --preset stores --forks 24 --shards 16 --image registry.example/benchrun@sha256:... --claim results | kubectl apply -f -
  benchrun job --preset quick --forks 96 --shards 32 --image registry.example/benchrun:v1 --cpus 4 \
    --bucket s3://results/informerbench --endpoint https://minio.example --bucket-secret minio \
    --node-selector node.kubernetes.io/instance-type=c7i.2xlarge > job.yaml`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range []string{"file", "trace", "output", "procs", "budget"} {
				if cmd.Flags().Changed(name) {
					return fmt.Errorf("--%s: %s", name, notInJobs[name])
				}
			}
			for _, name := range []string{"shards", "image"} {
				if !cmd.Flags().Changed(name) {
					return fmt.Errorf("--%s is missing; see benchrun job --help", name)
				}
			}
			s.Args = runArgs(cmd)
			if err := s.validate(); err != nil {
				return err
			}
			o.Processors = s.CPUs
			most, err := largestLoad(o, s.Shards)
			if err != nil {
				return err
			}
			return s.write(cmd.OutOrStdout(),
				fmt.Sprintf("Measures %d shards, each on a node of its own: some %s of measuring in the "+
					"longest, beside the verification.", s.Shards, most.Round(time.Second)))
		},
	}
	addRunFlags(cmd, &o)
	for name := range notInJobs {
		_ = cmd.Flags().MarkHidden(name) // it exists
	}
	f := cmd.Flags()
	f.BoolVar(&o.Profile, "profile", true, "measure one more process per cell to take profiles")
	f.IntVar(&s.Shards, "shards", 0, "`N` parts of the run, each for a pod on a node of its own")
	f.StringVar(&s.Image, "image", "",
		"`IMAGE` of benchrun, best by its digest, so that all shards are of one revision")
	f.StringVar(&s.Name, "name", "benchrun", "`NAME` of the Job, and of the folder of the results")
	f.StringVar(&s.Namespace, "namespace", "", "`NAMESPACE` of the Jobs (default: kubectl's)")
	f.IntVar(&s.Parallelism, "parallelism", 0, "shards that are measured at once (default: all)")
	f.IntVar(&s.CPUs, "cpus", s.CPUs, "whole CPUs of a pod, its GOMAXPROCS; the same for all shards")
	f.StringVar(&s.Memory, "memory", s.Memory, "memory of a pod")
	f.StringToStringVar(&s.NodeSelector, "node-selector", nil,
		"`LABEL=VALUE` of the nodes that measure, which must be of one class of machines")
	f.DurationVar(&s.Deadline, "deadline", s.Deadline, "`TIME` after which the Jobs are ended")
	f.StringVar(&s.Claim, "claim", "",
		"PersistentVolumeClaim `NAME` for the results, of access mode ReadWriteMany")
	f.StringVar(&s.Bucket.URL, "bucket", "", "`s3://BUCKET/PREFIX` for the results")
	f.StringVar(&s.Bucket.Endpoint, "endpoint", "", "`URL` of an S3-compatible store (default: AWS)")
	f.StringVar(&s.Bucket.Secret, "bucket-secret", "",
		"Secret `NAME` with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (default: the service "+
			"account's or the node's role)")
	f.StringVar(&s.Bucket.Image, "rclone-image", "",
		"`IMAGE` of rclone with a shell, which copies results (default "+defaultRclone+")")
	return cmd
}

// runArgs are the flags of benchrun run among those given.
func runArgs(cmd *cobra.Command) (args []string) {
	run := newRun().Flags()
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if run.Lookup(f.Name) == nil {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			args = append(args, "--"+f.Name+"="+v)
		}
	})
	return args
}

// largestLoad is the expected time of the longest shard. The error says what is wrong with the
// options.
func largestLoad(o runner.Options, shards int) (time.Duration, error) {
	o.Shard = runner.Shard{Index: 1, Of: shards}
	p, err := runner.NewPlan(o)
	if err != nil {
		return 0, fmt.Errorf(
			"%s", strings.ReplaceAll(err.Error(), fmt.Sprintf("--shard 1/%d", shards),
				fmt.Sprintf("--shards %d", shards)))
	}
	return p.LargestLoad(), nil
}
