package benchcmd

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

// jobArgs is a valid command line of benchrun job, with more behind it.
func jobArgs(more ...string) []string {
	return append([]string{"job", "--preset", "stores", "--component", "store", "--impl",
		"clientgo,lockfree", "--forks", "24", "--shards", "16", "--image",
		"registry.example/benchrun@sha256:abc"}, more...)
}

// The manifests are the API's types, and the arguments in them are a shard of the run that the
// command line asks for: each pod's plan is accepted by benchrun run.
func TestJobPrintsManifests(t *testing.T) {
	code, out, errOut := benchrun(t,
		jobArgs("--claim", "results", "--name", "nightly", "--sweep", "objects=1000,2000",
			"--profile=false")...)
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	if !strings.Contains(out, "# Measures 16 shards") ||
		!strings.Contains(out, "of measuring in the longest") {
		t.Errorf("no comment says how long it takes:\n%.300s", out)
	}
	var jobs []batchv1.Job
	for _, text := range strings.Split(out, "---\n")[1:] {
		var job batchv1.Job
		if err := yaml.UnmarshalStrict([]byte(text), &job); err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, job)
	}
	if len(jobs) != 2 || jobs[0].Name != "nightly" || jobs[1].Name != "nightly-merge" {
		t.Fatalf("%d jobs", len(jobs))
	}
	args := jobs[0].Spec.Template.Spec.Containers[0].Args
	want := []string{"run", "--component=store", "--forks=24", "--impl=clientgo", "--impl=lockfree",
		"--preset=stores", "--profile=false", "--sweep=objects=1000,2000"}
	if !slices.Equal(args[:len(want)], want) {
		t.Errorf("args %q", args)
	}
	// As the last pod has them; a run that is interrupted before it begins has made its plan.
	t.Setenv(indexVariable, "15")
	t.Chdir(t.TempDir())
	pod := slices.Clone(args)
	for i := range pod {
		pod[i] = strings.NewReplacer("/results/", "results/", "$("+indexVariable+")", "15",
			"$(NODE_NAME)", "node-15").Replace(pod[i])
	}
	cmd := newRun()
	if err := cmd.ParseFlags(pod[1:]); err != nil {
		t.Fatal(err)
	}
	if got := cmd.Flag("shard").Value.String(); got != "16/16" {
		t.Errorf("shard %s", got)
	}
}

// Bad flags are refused with what is allowed.
func TestBadJobs(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"job"}, []string{"--shards is missing"}},
		{[]string{"job", "--shards", "2"}, []string{"--image is missing"}},
		{jobArgs(), []string{"give --claim NAME or --bucket URL"}},
		{jobArgs("--claim", "results", "--shards", "0"), []string{"shards 0: want 1 to"}},
		{jobArgs("--claim", "results", "--cpus", "0"), []string{"cpus 0"}},
		{jobArgs("--claim", "results", "--cpus", "1.5"), []string{"--cpus"}},
		{jobArgs("--claim", "results", "--procs", "1"), []string{"--procs", "--cpus"}},
		{jobArgs("--claim", "results", "--budget", "5m"), []string{"--budget", "--forks"}},
		{jobArgs("--claim", "results", "-f", "w.yaml"), []string{"--file", "image"}},
		{jobArgs("--claim", "results", "--trace", "a.trace"), []string{"--trace", "image"}},
		{jobArgs("--claim", "results", "-o", "x"), []string{"--output", "--claim"}},
		{jobArgs("--claim", "results", "--preset", "fast"), []string{`"fast"`, "quick"}},
		{jobArgs("--claim", "results", "--shards", "9999"),
			[]string{"--shards 9999", "too many", "--forks"}},
		{jobArgs("--bucket", "results"), []string{`bucket "results"`, "s3://BUCKET"}},
	} {
		t.Run(fmt.Sprint(c.args[1:]), func(t *testing.T) {
			t.Chdir(t.TempDir())
			code, out, errOut := benchrun(t, c.args...)
			if code != exitBadInput || out != "" {
				t.Errorf("exit code %d, it printed %q", code, out)
			}
			for _, w := range c.want {
				if !strings.Contains(errOut, w) {
					t.Errorf("the error does not say %q:\n%s", w, errOut)
				}
			}
		})
	}
}
