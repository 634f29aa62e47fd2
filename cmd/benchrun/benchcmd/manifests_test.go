package benchcmd

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func onClaim() jobSpec {
	return jobSpec{
		Name: "nightly", Namespace: "bench", Image: "registry.example/benchrun@sha256:abc", Shards: 16,
		CPUs: 4, Memory: "4Gi",
		Args:         []string{"--preset=stores"},
		NodeSelector: map[string]string{"node.kubernetes.io/instance-type": "c7i.2xlarge"},
		Deadline:     6 * time.Hour, Claim: "results",
	}
}

func inBucket() jobSpec {
	s := onClaim()
	s.Claim, s.Bucket = "", jobBucket{URL: "s3://results/some/where", Endpoint: "https://minio.example",
		Secret: "minio"}
	return s
}

// manifestsOf reads the manifests as an API server with strict validation does: every field must
// be one of the API's types.
func manifestsOf(t *testing.T, s jobSpec) (shards, merge batchv1.Job) {
	t.Helper()
	var b bytes.Buffer
	if err := s.validate(); err != nil {
		t.Fatal(err)
	}
	if err := s.write(&b, "Two\nlines."); err != nil {
		t.Fatal(err)
	}
	documents := strings.Split(b.String(), "---\n")
	if len(documents) != 3 || documents[0] != "" ||
		!strings.HasPrefix(documents[1], "# Two\n# lines.\napiVersion: ") {
		t.Fatalf("%d documents:\n%s", len(documents), b.String())
	}
	for i, into := range []*batchv1.Job{&shards, &merge} {
		if err := yaml.UnmarshalStrict([]byte(documents[i+1]), into); err != nil {
			t.Fatal(err)
		}
		if into.APIVersion != "batch/v1" || into.Kind != "Job" ||
			strings.Contains(documents[i+1], "status:\n") {
			t.Errorf("%s %s", into.APIVersion, into.Kind)
		}
	}
	return shards, merge
}

// What makes the numbers of shards comparable and a run survive its nodes stands in the
// manifests, with a volume and with a bucket.
func TestShardsJob(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]jobSpec{"claim": onClaim(), "bucket": inBucket()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job, _ := manifestsOf(t, s)
			spec, pod := job.Spec, job.Spec.Template.Spec
			if *spec.CompletionMode != batchv1.IndexedCompletion || *spec.Completions != 16 ||
				*spec.Parallelism != 16 || *spec.BackoffLimitPerIndex != 3 || spec.BackoffLimit != nil {
				t.Errorf("mode %s, %d of %d at once, backoff %v, %v", *spec.CompletionMode, *spec.Completions,
					*spec.Parallelism, spec.BackoffLimitPerIndex, spec.BackoffLimit)
			}
			if pod.RestartPolicy != corev1.RestartPolicyNever { // a limit for each index demands it
				t.Errorf("restart policy %s", pod.RestartPolicy)
			}
			guaranteedPod(t, pod)
			if cpu := pod.Containers[0].Resources.Limits.Cpu(); cpu.MilliValue() != 4000 {
				t.Errorf("%s CPUs, want 4 whole ones", cpu)
			}
			terms := pod.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
			if len(terms) != 1 || terms[0].TopologyKey != "kubernetes.io/hostname" ||
				terms[0].NamespaceSelector == nil {
				t.Fatalf("%+v", terms)
			}
			for k, v := range terms[0].LabelSelector.MatchLabels {
				if job.Spec.Template.Labels[k] != v {
					t.Errorf("pods keep away from %s=%s and have %v: they do not keep away from each other", k, v,
						job.Spec.Template.Labels)
				}
			}
			if pod.NodeSelector["node.kubernetes.io/instance-type"] != "c7i.2xlarge" {
				t.Errorf("%v", pod.NodeSelector)
			}
			args := strings.Join(pod.Containers[0].Args, " ")
			if want := "run --preset=stores --shard job/16 --machine $(NODE_NAME) --output " +
				"/results/nightly/shards/$(JOB_COMPLETION_INDEX) --continue"; args != want {
				t.Errorf("args %s\nwant %s", args, want)
			}
			rules := spec.PodFailurePolicy.Rules
			if len(rules) != 2 || rules[0].Action != batchv1.PodFailurePolicyActionIgnore ||
				rules[1].Action != batchv1.PodFailurePolicyActionFailIndex ||
				*rules[1].OnExitCodes.ContainerName != pod.Containers[0].Name ||
				!slices.Equal(rules[1].OnExitCodes.Values, []int32{2}) {
				t.Errorf("%+v", rules)
			}
		})
	}
	s := onClaim()
	s.Parallelism = 5
	if job, _ := manifestsOf(t, s); *job.Spec.Parallelism != 5 || *job.Spec.Completions != 16 {
		t.Errorf("%d at once of %d", *job.Spec.Parallelism, *job.Spec.Completions)
	}
}

// guaranteedPod checks that every container has CPU and memory limits equal to its requests.
func guaranteedPod(t *testing.T, pod corev1.PodSpec) {
	t.Helper()
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		for _, r := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			limit, request := c.Resources.Limits[r], c.Resources.Requests[r]
			if limit.IsZero() || limit.Cmp(request) != 0 {
				t.Errorf("%s: %s limit %s, request %s", c.Name, r, limit.String(), request.String())
			}
		}
	}
}

// The merge reads where the shards write, waits for them, and keeps off their nodes where it
// can.
func TestMergeJob(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]jobSpec{"claim": onClaim(), "bucket": inBucket()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shards, merge := manifestsOf(t, s)
			pod := merge.Spec.Template.Spec
			if merge.Name != "nightly-merge" || merge.Namespace != "bench" ||
				*merge.Spec.ActiveDeadlineSeconds <= *shards.Spec.ActiveDeadlineSeconds {
				t.Errorf("%s in %s, %d s", merge.Name, merge.Namespace, *merge.Spec.ActiveDeadlineSeconds)
			}
			if got, want := strings.Join(pod.Containers[0].Args, " "),
				"merge /results/nightly/merged /results/nightly/shards --wait 6h0m0s"; got != want {
				t.Errorf("args %s\nwant %s", got, want)
			}
			// Required, it could take the last free node from a shard that is tried again.
			if a := pod.Affinity.PodAntiAffinity; len(
				a.PreferredDuringSchedulingIgnoredDuringExecution) != 1 ||
				len(a.RequiredDuringSchedulingIgnoredDuringExecution) != 0 {
				t.Errorf("%+v", a)
			}
			volumes := [2]corev1.VolumeSource{shards.Spec.Template.Spec.Volumes[0].VolumeSource,
				pod.Volumes[0].VolumeSource}
			for _, v := range volumes {
				if inClaim := v.PersistentVolumeClaim != nil &&
					v.PersistentVolumeClaim.ClaimName == "results"; inClaim != (name == "claim") {
					t.Errorf("volumes %+v", volumes)
				}
			}
		})
	}
}

// With a bucket a pod begins with what an evicted one had stored, and a sidecar stores what it
// measures under the path that the merge reads.
func TestJobToABucket(t *testing.T) {
	t.Parallel()
	shards, merge := manifestsOf(t, inBucket())
	before := shards.Spec.Template.Spec.InitContainers
	if len(before) != 2 || before[0].RestartPolicy != nil ||
		*before[1].RestartPolicy != corev1.ContainerRestartPolicyAlways {
		t.Fatalf("%+v", before)
	}
	const own = "/results/nightly/shards/$(JOB_COMPLETION_INDEX)"
	if got := before[0].Args; !slices.Equal(got,
		[]string{"results:results/some/where/nightly/shards/$(JOB_COMPLETION_INDEX)", own}) {
		t.Errorf("fetch %q", got)
	}
	if got := before[1].Args; !slices.Equal(got,
		[]string{"/results/.aside", own,
			"results:results/some/where/nightly/shards/$(JOB_COMPLETION_INDEX)"}) {
		t.Errorf("store %q", got)
	}
	if got := merge.Spec.Template.Spec.InitContainers[0].Args; !slices.Equal(got,
		[]string{"/results/.aside", "results:results/some/where/nightly/shards",
			"/results/nightly/shards",
			"/results/nightly/merged", "results:results/some/where/nightly/merged"}) {
		t.Errorf("merge %q", got)
	}
	env := map[string]string{}
	for _, e := range before[0].Env {
		env[e.Name] = e.Value
	}
	if env["RCLONE_CONFIG_RESULTS_ENDPOINT"] != "https://minio.example" ||
		env["RCLONE_CONFIG_RESULTS_PROVIDER"] != "Other" ||
		before[0].EnvFrom[0].SecretRef.Name != "minio" {
		t.Errorf("%v, %+v", env, before[0].EnvFrom)
	}
	s := inBucket()
	s.Bucket = jobBucket{URL: "s3://results", Image: "mirror.example/rclone"}
	shards, _ = manifestsOf(t, s)
	fetch := shards.Spec.Template.Spec.InitContainers[0]
	if fetch.Image != "mirror.example/rclone" ||
		fetch.Args[0] != "results:results/nightly/shards/$(JOB_COMPLETION_INDEX)" ||
		len(fetch.EnvFrom) != 0 || slices.ContainsFunc(fetch.Env, func(e corev1.EnvVar) bool {
		return strings.HasSuffix(e.Name, "_ENDPOINT")
	}) {
		t.Errorf("%+v", fetch)
	}
}

// Every mistake is named, with what is allowed.
func TestWrongJobs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		edit func(*jobSpec)
		want string
	}{
		{func(s *jobSpec) { s.Name = "Nightly" }, `name "Nightly"`},
		{func(s *jobSpec) { s.Name = strings.Repeat("a", 62) }, "at most 57"},
		{func(s *jobSpec) { s.Namespace = "a b" }, `namespace "a b"`},
		{func(s *jobSpec) { s.Image = "" }, `image ""`},
		{func(s *jobSpec) { s.Shards = 0 }, "shards 0: want 1 to 10000"},
		{func(s *jobSpec) { s.Shards = 10_001 }, "shards 10001"},
		{func(s *jobSpec) { s.Parallelism = 17 }, "parallelism 17: want 1 to 16"},
		{func(s *jobSpec) { s.CPUs = 0 }, "cpus 0"},
		{func(s *jobSpec) { s.Memory = "4 GB" }, `memory "4 GB": want 64Mi or more, such as 4Gi`},
		{func(s *jobSpec) { s.Memory = "-1Gi" }, "memory"},
		{func(s *jobSpec) { s.Deadline = time.Second }, "deadline 1s"},
		{func(s *jobSpec) { s.Deadline = math.MaxInt64 }, "want 1m to 8760h0m0s"},
		{func(s *jobSpec) { s.NodeSelector = map[string]string{"a b": "c"} }, "--node-selector a b=c"},
		{func(s *jobSpec) { s.Claim = "" }, "give --claim NAME or --bucket URL"},
		{func(s *jobSpec) { s.Bucket.URL = "s3://results" }, "give --claim NAME or --bucket URL"},
		{func(s *jobSpec) { s.Claim = "a/b" }, `claim "a/b"`},
		{func(s *jobSpec) { s.Bucket.Secret = "minio" }, "are for a --bucket"},
		{func(s *jobSpec) {
			s.Claim, s.Bucket.URL = "", "https://minio.example/results"
		}, "want s3://BUCKET"},
		{func(s *jobSpec) { s.Memory = "4" }, `--memory "4": want 64Mi or more`},
		{func(s *jobSpec) {
			s.Claim, s.Bucket.URL, s.Bucket.Endpoint = "", "s3://results", "minio:9000"
		}, `--endpoint "minio:9000": want a URL`},
		{func(s *jobSpec) {
			s.Claim, s.Bucket.URL, s.Bucket.Secret = "", "s3://results", "My Secret"
		}, `--bucket-secret "My Secret": want the name of a Secret`},
		{func(s *jobSpec) { s.Claim, s.Bucket.URL = "", "s3://results/$(id)" }, "want s3://BUCKET"},
	} {
		s := onClaim()
		c.edit(&s)
		if err := s.validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	s := onClaim()
	s.Shards, s.Memory = 0, ""
	if err := s.validate(); err == nil || strings.Count(fmt.Sprint(err), "\n") != 1 {
		t.Errorf("two mistakes: %v", err)
	}
}
