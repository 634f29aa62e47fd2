package clusterjob

import (
	"cmp"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// The results of a bucket's Job lie on the pod's own disk. rclone copies them from and to the
// bucket, and deletes nothing there. A run.json that says that a shard is complete must not be
// there before the shard's other files, and the shard may end while it is copied. So run.json is
// set aside first and goes last. Temporary files, whose names begin with a dot, stay.

// remoteName is that of the bucket in rclone's configuration, which is in the environment.
// remoteVariable begins the variables.
const (
	remoteName     = "results"
	remoteVariable = "RCLONE_CONFIG_RESULTS_"
)

// setAside is where a copy under way has its run.json.
const setAside = mounted + "/.aside"

// copyScript defines keep, which copies folder $1 to $2, with run.json by way of folder $3.
const copyScript = `keep() {
  rclone copy --include run.json "$1" "$3" &&
    rclone copy --exclude '.*' --exclude run.json "$1" "$2" &&
    { [ ! -d "$3" ] || rclone copy --include run.json "$3" "$2"; }
}
`

// fetchScript copies $1 to $2. Exit code 3 of rclone says that $1 is not there: nothing was
// stored yet.
const fetchScript = `rclone copy "$1" "$2"
code=$?
[ $code -ne 3 ] || exit 0
exit $code
`

// storeScript copies $2 to $3 every half minute, and once more at the end, with files set aside
// in $1. A trap may run within keep, whose arguments are others, so those of the script have names.
const storeScript = copyScript + `aside=$1 from=$2 to=$3
trap '[ ! -d "$from" ] || keep "$from" "$to" "$aside"; exit 0' TERM
while :; do
  sleep 30 & wait $!
  [ ! -d "$from" ] || keep "$from" "$to" "$aside"
done
`

// mergeScript copies $2, the shards, to $3 every half minute, and at the end $4, what was
// merged, to $5, with files set aside in $1.
const mergeScript = copyScript + `aside=$1 from=$2 to=$3 merged=$4 store=$5
trap '[ ! -d "$merged" ] || keep "$merged" "$store" "$aside/merged"; exit 0' TERM
while :; do
  keep "$from" "$to" "$aside/shards"
  sleep 30 & wait $!
done
`

// remote is the place of a folder of the results in the bucket.
func (s *Spec) remote(dir string) string {
	m := bucketURL.FindStringSubmatch(s.Bucket.URL)
	return remoteName + ":" + path.Join(m[1], m[2], strings.TrimPrefix(dir, mounted))
}

// rclone is a container that runs a script and ends.
func (s *Spec) rclone(name, script string, args ...string) corev1.Container {
	c := corev1.Container{
		Name: name, Image: cmp.Or(s.Bucket.Image, DefaultRclone),
		Command: []string{"/bin/sh", "-c", script, name}, Args: args,
		Env: []corev1.EnvVar{
			{Name: "RCLONE_CONFIG", Value: "/dev/null"},
			{Name: remoteVariable + "TYPE", Value: "s3"},
			{Name: remoteVariable + "PROVIDER", Value: "AWS"},
			{Name: remoteVariable + "ENV_AUTH", Value: "true"},
			{Name: "RCLONE_S3_NO_CHECK_BUCKET", Value: "true"},
		},
		// Not a whole core: it leaves the cores of the container that measures alone.
		Resources: guaranteed(
			corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"),
				corev1.ResourceMemory: resource.MustParse("256Mi")}),
	}
	if e := s.Bucket.Endpoint; e != "" {
		c.Env[2].Value = "Other"
		c.Env = append(c.Env, corev1.EnvVar{Name: remoteVariable + "ENDPOINT", Value: e})
	}
	if s.Bucket.Secret != "" {
		c.EnvFrom = []corev1.EnvFromSource{
			{SecretRef: &corev1.SecretEnvSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: s.Bucket.Secret}}}}
	}
	return secured(c)
}

// sidecar is a container that runs a script beside the others, and is told to end after them. The
// script's first argument is the folder for what is set aside.
func (s *Spec) sidecar(name, script string, args ...string) corev1.Container {
	c := s.rclone(name, script, append([]string{setAside}, args...)...)
	c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	return c
}
