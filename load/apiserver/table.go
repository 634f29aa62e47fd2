package apiserver

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/load/synthetic"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"
)

// tableKind is the kind of answers for printing, which kubectl asks for.
var tableKind = metav1.SchemeGroupVersion.WithKind("Table")

// columns are the columns of a kind's table.
type columns struct {
	definitions []metav1.TableColumnDefinition
	cells       func(obj runtime.Object, now time.Time) []any
}

func column(name, description string) metav1.TableColumnDefinition {
	c := metav1.TableColumnDefinition{Name: name, Type: "string", Description: description}
	if name == "Name" {
		c.Format = "name" // kubectl puts the kind before the name where it prints several kinds
	}
	return c
}

// wide is a column that is shown only on request (kubectl -o wide).
func wide(name, description string) metav1.TableColumnDefinition {
	c := column(name, description)
	c.Priority = 1
	return c
}

var (
	nameColumn = column("Name", "metadata.name")
	ageColumn  = column("Age", "time since metadata.creationTimestamp")
)

// An apiserver's columns of pods and nodes, and of a custom resource whose definition has
// no columns.
var (
	podColumns = columns{[]metav1.TableColumnDefinition{
		nameColumn, column("Ready", "containers that are ready, of all"),
		column("Status", "the phase, or what keeps the pod from it"),
		column("Restarts", "of all containers, and when the last was"), ageColumn,
		wide("IP", "status.podIP"), wide("Node", "spec.nodeName"),
		wide("Nominated Node", "status.nominatedNodeName"),
		wide("Readiness Gates", "conditions of spec.readinessGates that are true, of all"),
	}, typedCells(podCells)}
	nodeColumns = columns{[]metav1.TableColumnDefinition{
		nameColumn, column("Status", "the condition Ready, and whether pods may be scheduled"),
		column("Roles", "of labels "+roleLabel+"ROLE"),
		ageColumn, column("Version", "of the kubelet"),
		wide("Internal-IP", "of status.addresses"), wide("External-IP", "of status.addresses"),
		wide("OS-Image", "status.nodeInfo.osImage"),
		wide("Kernel-Version", "status.nodeInfo.kernelVersion"),
		wide("Container-Runtime", "status.nodeInfo.containerRuntimeVersion"),
	}, typedCells(nodeCells)}
	otherColumns = columns{[]metav1.TableColumnDefinition{nameColumn, ageColumn},
		func(obj runtime.Object, now time.Time) []any {
			m := synthetic.Accessor(obj)
			return []any{m.GetName(), age(m.GetCreationTimestamp(), now)}
		}}
)

func columnsOf(gvk schema.GroupVersionKind) columns {
	switch gvk {
	case corev1.SchemeGroupVersion.WithKind("Pod"):
		return podColumns
	case corev1.SchemeGroupVersion.WithKind("Node"):
		return nodeColumns
	}
	return otherColumns
}

// typedCells makes the cells of a recording's unstructured objects by converting them to
// their Go type.
func typedCells[T any, P interface {
	*T
	runtime.Object
}](cells func(obj P, now time.Time) []any) func(runtime.Object, time.Time) []any {
	return func(obj runtime.Object, now time.Time) []any {
		if u, ok := obj.(*unstructured.Unstructured); ok {
			typed := P(new(T))
			// A field of the wrong type leaves its cell empty.
			_ = runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, typed)
			return cells(typed, now)
		}
		return cells(obj.(P), now)
	}
}

// table makes a table with one row per object.
func (m media) table(gvk schema.GroupVersionKind, about metav1.ListMeta,
	objects ...runtime.Object) runtime.Object {
	c, now := columnsOf(gvk), m.clock.Now()
	t := &metav1.Table{ListMeta: about, ColumnDefinitions: c.definitions,
		Rows: make([]metav1.TableRow, len(objects))}
	t.SetGroupVersionKind(tableKind)
	for i, obj := range objects {
		t.Rows[i].Cells = c.cells(obj, now)
		switch m.include {
		case metav1.IncludeNone:
		case metav1.IncludeObject:
			t.Rows[i].Object.Object = withKind(obj, gvk)
		default:
			t.Rows[i].Object.Object = partialOf(obj)
		}
	}
	return t
}

// includeObject reads which part of its object each row of a table includes.
func includeObject(req *http.Request) (metav1.IncludeObjectPolicy, error) {
	policy := metav1.IncludeObjectPolicy(req.URL.Query().Get("includeObject"))
	switch policy {
	case "", metav1.IncludeNone, metav1.IncludeMetadata, metav1.IncludeObject:
		return policy, nil
	}
	return "", apierrors.NewBadRequest(
		fmt.Sprintf("includeObject %q: use %s, %s or %s", policy, metav1.IncludeNone,
			metav1.IncludeMetadata, metav1.IncludeObject))
}

// kubectl's texts for missing values.
const (
	none    = "<none>"
	unknown = "<unknown>"
)

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func age(since metav1.Time, now time.Time) string {
	if since.IsZero() {
		return unknown
	}
	return duration.HumanDuration(now.Sub(since.Time))
}

func podCells(p *corev1.Pod, now time.Time) []any {
	all, ready, restarts := len(p.Spec.Containers), 0, 0
	var last metav1.Time
	for _, c := range p.Status.ContainerStatuses {
		if c.Ready && c.State.Running != nil {
			ready++
		}
		restarts += int(c.RestartCount)
		if ended := c.LastTerminationState.Terminated; ended != nil && last.Before(&ended.FinishedAt) {
			last = ended.FinishedAt
		}
	}
	restarted := fmt.Sprint(restarts)
	if restarts > 0 && !last.IsZero() {
		restarted += fmt.Sprintf(" (%s ago)", age(last, now))
	}
	gates := none
	if n := len(p.Spec.ReadinessGates); n > 0 {
		met := 0
		for _, gate := range p.Spec.ReadinessGates {
			if podCondition(p, gate.ConditionType) == corev1.ConditionTrue {
				met++
			}
		}
		gates = fmt.Sprintf("%d/%d", met, n)
	}
	return []any{
		p.Name, fmt.Sprintf("%d/%d", ready, all), podStatus(p), restarted, age(p.CreationTimestamp, now),
		or(p.Status.PodIP, none), or(p.Spec.NodeName, none), or(p.Status.NominatedNodeName, none), gates,
	}
}

func podCondition(p *corev1.Pod, kind corev1.PodConditionType) corev1.ConditionStatus {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return c.Status
		}
	}
	return corev1.ConditionUnknown
}

// podStatus is the phase, or the word for what a container waits for or ended with.
func podStatus(p *corev1.Pod) string {
	if p.DeletionTimestamp != nil {
		return "Terminating"
	}
	if status := initStatus(p); status != "" {
		return status
	}
	status, running := or(or(p.Status.Reason, string(p.Status.Phase)), none), false
	for _, c := range p.Status.ContainerStatuses {
		running = running || c.Ready && c.State.Running != nil
	}
	for _, c := range p.Status.ContainerStatuses { // the first container in trouble decides
		if why := trouble(c.State); why != "" {
			status = why
			break
		}
	}
	if status == "Completed" && running {
		if podCondition(p, corev1.PodReady) == corev1.ConditionTrue {
			return string(corev1.PodRunning)
		}
		return "NotReady"
	}
	return status
}

// initStatus describes the first init container that has not finished, "" if there is none.
func initStatus(p *corev1.Pod) string {
	for i, c := range p.Status.InitContainerStatuses {
		sidecar := i < len(p.Spec.InitContainers) && p.Spec.InitContainers[i].RestartPolicy != nil &&
			*p.Spec.InitContainers[i].RestartPolicy == corev1.ContainerRestartPolicyAlways
		switch ended := c.State.Terminated; {
		case ended != nil && ended.ExitCode == 0, sidecar && c.Started != nil && *c.Started:
			continue
		case ended != nil, c.State.Waiting != nil && c.State.Waiting.Reason != "" &&
			c.State.Waiting.Reason != "PodInitializing":
			return "Init:" + trouble(c.State)
		}
		return fmt.Sprintf("Init:%d/%d", i, len(p.Spec.InitContainers))
	}
	return ""
}

// trouble is the reason in a word why a container does not run, "" if it runs.
func trouble(s corev1.ContainerState) string {
	switch {
	case s.Waiting != nil:
		return s.Waiting.Reason
	case s.Terminated == nil:
		return ""
	case s.Terminated.Reason != "":
		return s.Terminated.Reason
	case s.Terminated.Signal != 0:
		return fmt.Sprintf("Signal:%d", s.Terminated.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", s.Terminated.ExitCode)
}

const roleLabel = "node-role.kubernetes.io/"

func nodeCells(n *corev1.Node, now time.Time) []any {
	status := "Unknown"
	for _, c := range n.Status.Conditions {
		switch {
		case c.Type != corev1.NodeReady:
		case c.Status == corev1.ConditionTrue:
			status = "Ready"
		default:
			status = "NotReady"
		}
	}
	if n.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	var roles []string
	for label := range n.Labels {
		if role, ok := strings.CutPrefix(label, roleLabel); ok && role != "" {
			roles = append(roles, role)
		}
	}
	slices.Sort(roles)
	address := func(kind corev1.NodeAddressType) string {
		for _, a := range n.Status.Addresses {
			if a.Type == kind {
				return a.Address
			}
		}
		return none
	}
	info := n.Status.NodeInfo
	return []any{
		n.Name, status, or(strings.Join(roles, ","), none), age(n.CreationTimestamp, now),
		info.KubeletVersion,
		address(corev1.NodeInternalIP), address(corev1.NodeExternalIP),
		or(info.OSImage, unknown), or(info.KernelVersion, unknown),
		or(info.ContainerRuntimeVersion, unknown),
	}
}
