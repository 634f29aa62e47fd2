package synthetic

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Epoch is the start time of generated objects. It is fixed, so that a seed gives the same
// bytes on every day.
var Epoch = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// podTemplates is the number of deployments that the pods belong to. Pods of one deployment
// share all their common parts, as in a program that interns strings at best. So 100,000
// pods fit in memory.
const podTemplates = 64

// PodTemplate is the part of a pod that all pods of a deployment have in common. Do not
// change one: pods share it.
type PodTemplate struct {
	labels      map[string]string
	annotations map[string]string
	owners      []metav1.OwnerReference
	managed     []metav1.ManagedFieldsEntry
	Spec        corev1.PodSpec

	// The statuses of a pod in each phase of its life. A starting pod is pending and has a node.
	Pending, Starting, Running, Succeeded, Failed corev1.PodStatus
}

// NewPodTemplates makes the templates of 64 deployments. The same rng gives the same ones.
func NewPodTemplates(rng *rand.Rand) []*PodTemplate {
	templates := make([]*PodTemplate, podTemplates)
	for i := range templates {
		templates[i] = newPodTemplate(i, rng)
	}
	return templates
}

func newPodTemplate(n int, rng *rand.Rand) *PodTemplate {
	app := fmt.Sprintf("service-%02d", n)
	hash := fmt.Sprintf("%08x", rng.Uint32())
	started := metav1.NewTime(Epoch.Add(time.Duration(rng.IntN(86_400)) * time.Second))
	yes := true
	t := &PodTemplate{
		labels: map[string]string{
			"app": app, "app.kubernetes.io/name": app, "app.kubernetes.io/instance": app + "-production",
			"app.kubernetes.io/version":    fmt.Sprintf("v1.%d.%d", rng.IntN(40), rng.IntN(20)),
			"app.kubernetes.io/component":  "backend",
			"app.kubernetes.io/managed-by": "Helm", "team": fmt.Sprintf("team-%02d", n%12),
			"tier":              "production",
			"pod-template-hash": hash, "security.istio.io/tlsMode": "istio",
		},
		annotations: map[string]string{
			"prometheus.io/scrape": "true", "prometheus.io/port": "9090", "prometheus.io/path": "/metrics",
			"checksum/config":                                fmt.Sprintf("%064x", rng.Uint64()),
			"kubectl.kubernetes.io/default-container":        app,
			"cluster-autoscaler.kubernetes.io/safe-to-evict": "true",
			"sidecar.istio.io/status":                        `{"initContainers":["istio-init"],"containers":["istio-proxy"],"volumes":["workload-socket","credential-socket","istio-envoy","istio-data","istio-podinfo","istio-token"],"revision":"default"}`,
			"kubernetes.io/config.source":                    "api",
		},
		owners: []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app + "-" + hash,
			UID: newUID(rng), Controller: &yes, BlockOwnerDeletion: &yes,
		}},
		managed: podManagedFields(app, started),
		Spec:    podSpec(app),
	}
	t.setStatuses(started)
	return t
}

func podSpec(app string) corev1.PodSpec {
	grace, tolerate, mode := int64(30), int64(300), int32(420)
	yes, no := true, false
	container := func(name, image string, port int32, env int, cpu, memory string) corev1.Container {
		c := corev1.Container{
			Name: name, Image: image, ImagePullPolicy: corev1.PullIfNotPresent,
			Args: []string{"--listen=:8080", "--metrics=:9090", "--log-format=json",
				"--shutdown-timeout=25s"},
			Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: port, Protocol: corev1.ProtocolTCP},
				{Name: "metrics", ContainerPort: port + 1010, Protocol: corev1.ProtocolTCP}},
			Env: []corev1.EnvVar{
				{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{
					FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}},
				{Name: "POD_NAMESPACE", ValueFrom: &corev1.EnvVarSource{
					FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"}}},
			},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu),
					corev1.ResourceMemory: resource.MustParse(memory)},
				Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)},
			},
			LivenessProbe:  probe("/healthz", port, 10),
			ReadinessProbe: probe("/readyz", port, 5),
			VolumeMounts: []corev1.VolumeMount{
				{Name: "config", ReadOnly: true, MountPath: "/etc/" + app},
				{Name: "data", MountPath: "/var/lib/" + app},
				{Name: "kube-api-access", ReadOnly: true,
					MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"},
			},
			TerminationMessagePath:   "/dev/termination-log",
			TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes, RunAsNonRoot: &yes,
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}
		for i := range env {
			c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%02d", i),
				Value: fmt.Sprintf("https://backend-%02d.%s.svc.cluster.local:8443/v1", i, app)})
		}
		return c
	}
	return corev1.PodSpec{
		InitContainers: []corev1.Container{{
			Name: "istio-init", Image: "registry.example.com/istio/proxyv2:1.24.2",
			Args: []string{"istio-iptables", "-p", "15001", "-z", "15006", "-u", "1337",
				"-m", "REDIRECT", "-i", "*"},
			TerminationMessagePath:   "/dev/termination-log",
			TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			VolumeMounts: []corev1.VolumeMount{
				{Name: "kube-api-access", ReadOnly: true,
					MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}},
		}},
		Containers: []corev1.Container{
			container(app, "registry.example.com/"+app+":v1.12.3", 8080, 10, "500m", "512Mi"),
			container("istio-proxy", "registry.example.com/istio/proxyv2:1.24.2", 15090, 4, "100m", "128Mi"),
		},
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{
				ConfigMap: &corev1.ConfigMapVolumeSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: app + "-config"},
					DefaultMode:          &mode}}},
			{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: "kube-api-access", VolumeSource: corev1.VolumeSource{
				Projected: &corev1.ProjectedVolumeSource{DefaultMode: &mode, Sources: []corev1.VolumeProjection{
					{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: &tolerate,
						Path: "token"}},
					{ConfigMap: &corev1.ConfigMapProjection{
						LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
						Items:                []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}}},
				}}}},
		},
		RestartPolicy: corev1.RestartPolicyAlways, TerminationGracePeriodSeconds: &grace,
		DNSPolicy:          corev1.DNSClusterFirst,
		ServiceAccountName: app, SchedulerName: corev1.DefaultSchedulerName,
		SecurityContext: &corev1.PodSecurityContext{},
		Tolerations: []corev1.Toleration{
			{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists,
				Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &tolerate},
			{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists,
				Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &tolerate},
		},
	}
}

func probe(path string, port, period int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{
			HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromInt32(port),
				Scheme: corev1.URISchemeHTTP}},
		InitialDelaySeconds: period, TimeoutSeconds: 1, PeriodSeconds: period, SuccessThreshold: 1,
		FailureThreshold: 3,
	}
}

func podManagedFields(app string, at metav1.Time) []metav1.ManagedFieldsEntry {
	raw := metav1.NewFieldsV1
	container := func(name string) string {
		return `"k:{\"name\":\"` + name +
			`\"}":{".":{},"f:args":{},"f:env":{".":{},"k:{\"name\":\"POD_NAME\"}":{".":{},"f:name":{},"f:valueFrom":{}}},"f:image":{},"f:imagePullPolicy":{},"f:livenessProbe":{".":{},"f:failureThreshold":{},"f:httpGet":{},"f:periodSeconds":{}},"f:name":{},"f:ports":{},"f:resources":{".":{},"f:limits":{},"f:requests":{}},"f:volumeMounts":{}}`
	}
	condition := func(name string) string {
		return `"k:{\"type\":\"` + name +
			`\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}`
	}
	return []metav1.ManagedFieldsEntry{
		{
			Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate,
			APIVersion: "v1", Time: &at, FieldsType: "FieldsV1",
			FieldsV1: raw(`{"f:metadata":{"f:annotations":{},"f:generateName":{},"f:labels":{".":{},"f:app":{},"f:pod-template-hash":{},"f:team":{}},"f:ownerReferences":{}},"f:spec":{"f:containers":{` +
				container(app) + `,` + container("istio-proxy") +
				`},"f:dnsPolicy":{},"f:restartPolicy":{},"f:schedulerName":{},"f:volumes":{}}}`),
		},
		{
			Manager: "kubelet", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &at,
			FieldsType: "FieldsV1", Subresource: "status",
			FieldsV1: raw(`{"f:status":{"f:conditions":{` + condition("ContainersReady") + `,` +
				condition("Initialized") + `,` + condition("Ready") +
				`},"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:podIPs":{},"f:startTime":{}}}`),
		},
	}
}

// setStatuses makes the status of a pod for each phase of its life.
func (t *PodTemplate) setStatuses(at metav1.Time) {
	status := func(phase corev1.PodPhase, scheduled, ready corev1.ConditionStatus,
		state corev1.ContainerState) corev1.PodStatus {
		s := corev1.PodStatus{Phase: phase, QOSClass: corev1.PodQOSBurstable}
		for _, c := range []struct {
			kind   corev1.PodConditionType
			status corev1.ConditionStatus
		}{
			{corev1.PodReadyToStartContainers, ready}, {corev1.PodInitialized, ready},
			{corev1.PodReady, ready},
			{corev1.ContainersReady, ready}, {corev1.PodScheduled, scheduled},
		} {
			s.Conditions = append(s.Conditions,
				corev1.PodCondition{Type: c.kind, Status: c.status, LastTransitionTime: at})
		}
		if scheduled == corev1.ConditionFalse {
			s.Conditions = s.Conditions[len(s.Conditions)-1:]
			s.Conditions[0].Reason = corev1.PodReasonUnschedulable
			return s
		}
		s.StartTime = &at
		for _, c := range t.Spec.Containers {
			running := state.Running != nil
			s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{
				Name: c.Name, Image: c.Image, State: state, Ready: running, Started: &running,
				ImageID:     c.Image + "@sha256:9b2a1f0e6d5c4b3a29181706f5e4d3c2b1a09f8e7d6c5b4a3928171605f4e3d2",
				ContainerID: "containerd://4f5e6d7c8b9a0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796",
			})
		}
		return s
	}
	done := func(code int32, reason string) corev1.ContainerState {
		return corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, StartedAt: at,
				FinishedAt: at}}
	}
	t.Pending = status(corev1.PodPending, corev1.ConditionFalse, corev1.ConditionFalse,
		corev1.ContainerState{})
	t.Starting = status(corev1.PodPending, corev1.ConditionTrue, corev1.ConditionFalse,
		corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}})
	t.Running = status(corev1.PodRunning, corev1.ConditionTrue, corev1.ConditionTrue,
		corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}})
	t.Succeeded = status(corev1.PodSucceeded, corev1.ConditionTrue, corev1.ConditionFalse,
		done(0, "Completed"))
	t.Failed = status(corev1.PodFailed, corev1.ConditionTrue, corev1.ConditionFalse, done(1, "Error"))
}

// newUID makes a version 4 UUID from rng.
func newUID(rng *rand.Rand) types.UID {
	a, b := rng.Uint64(), rng.Uint64()
	return types.UID(fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff,
		b>>48&0x3fff|0x8000, b&0xffff_ffff_ffff))
}
