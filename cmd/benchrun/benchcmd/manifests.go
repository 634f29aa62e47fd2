package benchcmd

// The Kubernetes manifests of a run that is divided between the nodes of a cluster: an Indexed
// Job whose pods measure a shard each, and the Job that merges them. They are a template; tests
// read them as an API server with strict validation does.

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
)

// jobSpec describes the Jobs.
type jobSpec struct {
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
	Bucket jobBucket
}

// jobBucket is a place in an S3-compatible object store.
type jobBucket struct {
	URL      string // s3://BUCKET/PREFIX
	Endpoint string // "" is that of AWS
	// Secret names a Secret with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; "" leaves the
	// credentials to the node or the service account.
	Secret string
	// Image is one of rclone with a shell; "" means defaultRclone.
	Image string
}

// defaultRclone copies results from and to a bucket.
const defaultRclone = "docker.io/rclone/rclone:1.71.0"

// mostShards is the most completions of a Job with a limit of failures for each index.
const mostShards = 10_000

// mostDeadline is far longer than any run; with an hour added it still fits a time.Duration.
const mostDeadline = 365 * 24 * time.Hour

// mounted is where each container has the results.
const mounted = "/results"

var bucketURL = regexp.MustCompile(
	`^s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/([A-Za-z0-9][A-Za-z0-9!_.*'()/-]*?))?/?$`)

// leastMemory of a pod keeps a missing unit from making a pod that cannot start.
var leastMemory = resource.MustParse("64Mi")

// validate names all that is wrong with s, with the allowed values.
func (s *jobSpec) validate() error {
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
	if s.Claim != "" && s.Bucket != (jobBucket{}) {
		wrong("--endpoint, --bucket-secret and --rclone-image are for a --bucket, and the results go "+
			"to --claim %s", s.Claim)
	}
	return errors.Join(problems...)
}

//go:embed jobs.yaml.gotmpl
var jobs string

// copyScript is what rclone's containers run.
//
//go:embed copy.sh
var copyScript string

// manifests are the two Jobs. Each text of a jobSpec goes into it as JSON, which is YAML.
var manifests = template.Must(template.New("jobs").Funcs(template.FuncMap{
	"json": func(v any) (string, error) {
		text, err := json.Marshal(v)
		return string(text), err
	},
	"seconds": func(d time.Duration) int64 { return int64(d / time.Second) },
}).Parse(jobs))

// write writes the manifests as YAML, each with a comment above it: the Job of the shards, and
// that of the merge, which waits for them. The jobSpec must be valid.
func (s *jobSpec) write(out io.Writer, comment string) error {
	return manifests.Execute(out, manifestView{s, strings.Split(comment, "\n")})
}

// manifestView is a jobSpec as the template sees it.
type manifestView struct {
	*jobSpec
	Comment []string
}

func (s manifestView) MergeName() string            { return s.Name + "-merge" }
func (s manifestView) MergeDeadline() time.Duration { return s.Deadline + time.Hour }

// The folders of the results in every container.
func (s manifestView) ShardsDir() string { return path.Join(mounted, s.Name, "shards") }
func (s manifestView) ShardDir() string  { return path.Join(s.ShardsDir(), "$(JOB_COMPLETION_INDEX)") }
func (s manifestView) MergedDir() string { return path.Join(mounted, s.Name, "merged") }

func (s manifestView) MeasureArgs() []string {
	return slices.Concat([]string{"run"}, s.Args, []string{"--shard", fmt.Sprintf("job/%d", s.Shards),
		"--machine", "$(NODE_NAME)", "--output", s.ShardDir(), "--continue"})
}

func (s manifestView) MergeArgs() []string {
	return []string{"merge", s.MergedDir(), s.ShardsDir(), "--wait", s.Deadline.String()}
}

// Remote is the place of a folder of the results in the bucket, for rclone.
func (s manifestView) Remote(dir string) string {
	m := bucketURL.FindStringSubmatch(s.Bucket.URL)
	return "results:" + path.Join(m[1], m[2], strings.TrimPrefix(dir, mounted))
}

// rclone is a container that copies.
type rclone struct {
	manifestView
	Script, Does string
	Args         []string
}

// Copy is a container that runs copy.sh, which does as named.
func (s manifestView) Copy(does string, args ...string) rclone {
	return rclone{s, copyScript, does, args}
}

// RcloneImage is the image of the containers that copy.
func (s manifestView) RcloneImage() string { return cmp.Or(s.Bucket.Image, defaultRclone) }
