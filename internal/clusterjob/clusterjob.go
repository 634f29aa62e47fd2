// Package clusterjob makes the Kubernetes manifests of a run that is divided between the nodes
// of a cluster: an Indexed Job whose pods measure a shard each, and the Job that merges them.
//
// The manifests are made from the types of k8s.io/api, so that they have no field that the API
// lacks. The package knows no workload: the caller gives the arguments of benchrun run.
package clusterjob

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// Spec describes the Jobs.
type Spec struct {
	Name      string // of the Job that measures; the one that merges is NAME-merge
	Namespace string // "" leaves it to kubectl
	Image     string // with benchrun as its entry point
	Shards    int
	// Parallelism is how many shards are measured at once; 0 means all.
	Parallelism int
	CPUs        int // of a pod; whole, so that a node's static CPU manager gives it cores of its own
	Memory      string
	// Args are the arguments of benchrun run that say what to measure.
	Args []string
	// NodeSelector are the labels of the nodes that may measure: one class of machines.
	NodeSelector map[string]string
	// Deadline bounds each of the two Jobs.
	Deadline time.Duration
	// Claim names a PersistentVolumeClaim for the results that many nodes may write
	// (ReadWriteMany). Exactly one of Claim and Bucket is given.
	Claim  string
	Bucket Bucket
}

// Bucket is a place in an S3-compatible object store.
type Bucket struct {
	URL      string // s3://BUCKET/PREFIX
	Endpoint string // "" is that of AWS
	// Secret names a Secret with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; "" leaves the
	// credentials to the node or the service account.
	Secret string
	// Image is one of rclone with a shell; "" means DefaultRclone.
	Image string
}

// DefaultRclone copies results from and to a bucket.
const DefaultRclone = "docker.io/rclone/rclone:1.71.0"

// mostShards is the most completions of a Job with a limit of failures for each index.
const mostShards = 10_000

// mostDeadline is far longer than any run; with an hour added it still fits a time.Duration.
const mostDeadline = 365 * 24 * time.Hour

// The labels of the pods. Shards of any run keep away from each other.
const (
	nameLabel, nameValue = "app.kubernetes.io/name", "benchrun"
	instanceLabel        = "app.kubernetes.io/instance"
	partLabel            = "app.kubernetes.io/component"
	shardPart, mergePart = "shard", "merge"
)

const (
	container = "benchrun"
	mounted   = "/results"
	nobody    = 65532 // the user of distroless images
	indexRef  = "$(JOB_COMPLETION_INDEX)"
	nodeRef   = "$(NODE_NAME)"
)

// retries of a shard, beside those after a disruption such as a drained node.
const retries = 3

var bucketURL = regexp.MustCompile(
	`^s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/([A-Za-z0-9][A-Za-z0-9!_.*'()/-]*?))?/?$`)

// leastMemory of a pod keeps a missing unit from making a pod that cannot start.
var leastMemory = resource.MustParse("64Mi")

// Validate names all that is wrong with the Spec, with the allowed values.
func (s *Spec) Validate() error {
	var problems []error
	wrong := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf(format, args...))
	}
	// The name of a pod's host is that of the Job with the index.
	longest := s.Name + "-" + strconv.Itoa(s.Shards)
	if s.Name == "" || len(validation.IsDNS1123Label(longest)) > 0 ||
		len(validation.IsDNS1123Label(s.Name+"-merge")) > 0 {
		wrong("--name %q: want lower case letters, digits and dashes, at most %d", s.Name,
			validation.DNS1123LabelMaxLength-6)
	}
	if s.Namespace != "" && len(validation.IsDNS1123Label(s.Namespace)) > 0 {
		wrong("--namespace %q: want lower case letters, digits and dashes", s.Namespace)
	}
	if s.Image == "" || strings.ContainsAny(s.Image, " \t\n") {
		wrong("--image %q: want the reference of an image, such as registry.example/benchrun@sha256:...",
			s.Image)
	}
	if s.Shards < 1 || s.Shards > mostShards {
		wrong("--shards %d: want 1 to %d", s.Shards, mostShards)
	}
	if s.Parallelism < 0 || s.Parallelism > s.Shards {
		wrong("--parallelism %d: want 1 to %d, the shards", s.Parallelism, s.Shards)
	}
	if s.CPUs < 1 {
		wrong("--cpus %d: want a whole number of 1 or more", s.CPUs)
	}
	if q, err := resource.ParseQuantity(s.Memory); err != nil || q.Cmp(leastMemory) < 0 {
		wrong("--memory %q: want 64Mi or more, such as 4Gi", s.Memory)
	}
	if s.Deadline < time.Minute || s.Deadline > mostDeadline {
		wrong("--deadline %s: want 1m to %s", s.Deadline, mostDeadline)
	}
	for k, v := range s.NodeSelector {
		if e := append(validation.IsQualifiedName(k), validation.IsValidLabelValue(v)...); len(e) > 0 {
			wrong("--node-selector %s=%s: %s", k, v, strings.Join(e, "; "))
		}
	}
	switch {
	case (s.Claim == "") == (s.Bucket.URL == ""):
		wrong("where do the results go? give --claim NAME or --bucket URL, one of the two")
	case s.Claim != "" && len(validation.IsDNS1123Subdomain(s.Claim)) > 0:
		wrong("--claim %q: want the name of a PersistentVolumeClaim", s.Claim)
	case s.Bucket.URL != "" && !bucketURL.MatchString(s.Bucket.URL):
		wrong("--bucket %q: want s3://BUCKET or s3://BUCKET/PREFIX", s.Bucket.URL)
	}
	if u, err := url.Parse(s.Bucket.Endpoint); s.Bucket.Endpoint != "" &&
		(err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		wrong("--endpoint %q: want a URL such as https://minio.example", s.Bucket.Endpoint)
	}
	if s.Bucket.Secret != "" && len(validation.IsDNS1123Subdomain(s.Bucket.Secret)) > 0 {
		wrong("--bucket-secret %q: want the name of a Secret", s.Bucket.Secret)
	}
	if s.Claim != "" && s.Bucket != (Bucket{}) {
		wrong("--endpoint, --bucket-secret and --rclone-image are for a --bucket, and the results go "+
			"to --claim %s", s.Claim)
	}
	return errors.Join(problems...)
}

// Jobs are the two Jobs: shards, and the merge, which waits for them. The Spec must be valid.
func (s *Spec) Jobs() (shards, merge *batchv1.Job) {
	shards = s.job(s.Name, shardPart)
	spec := &shards.Spec
	spec.CompletionMode = new(batchv1.IndexedCompletion)
	spec.Completions, spec.Parallelism = new(int32(s.Shards)), new(int32(s.Shards))
	if s.Parallelism > 0 {
		spec.Parallelism = new(int32(s.Parallelism))
	}
	spec.BackoffLimitPerIndex = new(int32(retries))
	// A node that is drained costs no retry. Exit code 2 means that another try would end
	// alike: the input is wrong, or a shard was begun on another kind of machine.
	spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		{Action: batchv1.PodFailurePolicyActionIgnore,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
				{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}},
		{Action: batchv1.PodFailurePolicyActionFailIndex,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{ContainerName: new(container),
				Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{2}}},
	}}
	pod := &spec.Template.Spec
	pod.NodeSelector = s.NodeSelector
	pod.Affinity = &corev1.Affinity{
		PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{awayFromShards()}}}
	out := path.Join(s.shardsDir(), indexRef)
	args := slices.Concat([]string{"run"}, s.Args,
		[]string{"--shard", fmt.Sprintf("job/%d", s.Shards), "--machine", nodeRef, "--output", out,
			"--continue"})
	measure := s.container(
		args, corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewQuantity(int64(s.CPUs), resource.DecimalSI),
			corev1.ResourceMemory: resource.MustParse(s.Memory)})
	measure.Env = []corev1.EnvVar{
		{Name: "NODE_NAME", ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}}}
	pod.Containers = []corev1.Container{measure}
	if s.Bucket.URL != "" {
		// What an evicted pod has stored comes first; the sidecar stores what is measured.
		pod.InitContainers = []corev1.Container{
			s.rclone("fetch", fetchScript, s.remote(out), out),
			s.sidecar("store", storeScript, out, s.remote(out)),
		}
	}

	merge = s.job(s.Name+"-merge", mergePart)
	merge.Spec.BackoffLimit = new(int32(retries))
	// It outlives its own wait, to say which shards are missing.
	merge.Spec.ActiveDeadlineSeconds = new(int64((s.Deadline + time.Hour) / time.Second))
	pod = &merge.Spec.Template.Spec
	pod.Affinity = &corev1.Affinity{
		PodAntiAffinity: &corev1.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
				{Weight: 100, PodAffinityTerm: awayFromShards()}}}}
	merged := path.Join(mounted, s.Name, "merged")
	pod.Containers = []corev1.Container{s.container(
		[]string{"merge", merged, s.shardsDir(), "--wait", s.Deadline.String()},
		corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"),
			corev1.ResourceMemory: resource.MustParse("2Gi")},
	)}
	if s.Bucket.URL != "" {
		pod.InitContainers = []corev1.Container{
			s.sidecar("fetch", mergeScript, s.remote(s.shardsDir()), s.shardsDir(), merged,
				s.remote(merged))}
	}
	return shards, merge
}

// Write writes the manifests as YAML, each with a comment above it.
func (s *Spec) Write(out io.Writer, comment string) error {
	shards, merge := s.Jobs()
	for _, m := range []struct {
		comment string
		job     *batchv1.Job
	}{{comment, shards}, {
		"Waits for the shards and joins them. It may be applied together with the Job above.", merge}} {
		object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(m.job)
		if err != nil {
			return err
		}
		delete(object, "status")
		text, err := yaml.Marshal(object)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "---\n# %s\n%s", strings.ReplaceAll(m.comment, "\n", "\n# "),
			text); err != nil {
			return err
		}
	}
	return nil
}

// shardsDir holds the shards' folders in every container.
func (s *Spec) shardsDir() string { return path.Join(mounted, s.Name, "shards") }

func (s *Spec) labels(part string) map[string]string {
	return map[string]string{nameLabel: nameValue, instanceLabel: s.Name, partLabel: part}
}

// awayFromShards keeps a pod off the nodes that measure a shard of any run, in any namespace.
func awayFromShards() corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{
		LabelSelector: &metav1.LabelSelector{
			MatchLabels: map[string]string{nameLabel: nameValue, partLabel: shardPart}},
		NamespaceSelector: &metav1.LabelSelector{},
		TopologyKey:       corev1.LabelHostname,
	}
}

func (s *Spec) job(name, part string) *batchv1.Job {
	storage := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	if s.Claim != "" {
		storage = corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: s.Claim}}
	}
	return &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.Namespace, Labels: s.labels(part)},
		Spec: batchv1.JobSpec{
			ActiveDeadlineSeconds: new(int64(s.Deadline / time.Second)),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{
					Labels:      s.labels(part),
					Annotations: map[string]string{"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"},
				},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					// to end the fork, write the reports and store them
					TerminationGracePeriodSeconds: new(int64(120)),
					AutomountServiceAccountToken:  new(false),
					EnableServiceLinks:            new(false),
					SecurityContext: &corev1.PodSecurityContext{
						RunAsNonRoot: new(true), RunAsUser: new(int64(nobody)), RunAsGroup: new(int64(nobody)),
						FSGroup:        new(int64(nobody)),
						SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
					},
					Volumes: []corev1.Volume{{Name: "results", VolumeSource: storage}},
				},
			},
		},
	}
}

// container runs benchrun. Limits equal to requests make the pod's quality of service
// guaranteed.
func (s *Spec) container(args []string, resources corev1.ResourceList) corev1.Container {
	return secured(corev1.Container{Name: container, Image: s.Image, Args: args,
		Resources: guaranteed(resources)})
}

func guaranteed(r corev1.ResourceList) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: r, Limits: r}
}

func secured(c corev1.Container) corev1.Container {
	c.VolumeMounts = []corev1.VolumeMount{{Name: "results", MountPath: mounted}}
	c.SecurityContext = &corev1.SecurityContext{AllowPrivilegeEscalation: new(false),
		ReadOnlyRootFilesystem: new(true),
		Capabilities:           &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
	return c
}
