package apiserver

import (
	"cmp"
	"fmt"
	"net/http"
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

var (
	nameColumn = column("Name", "metadata.name")
	ageColumn  = column("Age", "time since metadata.creationTimestamp")
)

// The columns of pods and nodes, and those of any other resource.
var (
	podColumns = columns{[]metav1.TableColumnDefinition{
		nameColumn, column("Ready", "containers that are ready, of all"),
		column("Status", "the phase, or what keeps the pod from it"),
		column("Restarts", "of all containers"), ageColumn, column("Node", "spec.nodeName"),
	}, typedCells(podCells)}
	nodeColumns = columns{[]metav1.TableColumnDefinition{
		nameColumn, column("Status", "the condition Ready, and whether pods may be scheduled"),
		ageColumn}, typedCells(nodeCells)}
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

func age(since metav1.Time, now time.Time) string {
	if since.IsZero() {
		return "<unknown>" // as kubectl writes it
	}
	return duration.HumanDuration(now.Sub(since.Time))
}

func podCells(p *corev1.Pod, now time.Time) []any {
	ready, restarts, status := 0, int32(0), cmp.Or(p.Status.Reason, string(p.Status.Phase), "<none>")
	for _, c := range p.Status.ContainerStatuses {
		restarts += c.RestartCount
		if c.Ready {
			ready++
		} else if waits := c.State.Waiting; waits != nil && waits.Reason != "" {
			status = waits.Reason
		}
	}
	if p.DeletionTimestamp != nil {
		status = "Terminating"
	}
	return []any{p.Name, fmt.Sprintf("%d/%d", ready, len(p.Spec.Containers)), status,
		fmt.Sprint(restarts), age(p.CreationTimestamp, now), cmp.Or(p.Spec.NodeName, "<none>")}
}

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
	return []any{n.Name, status, age(n.CreationTimestamp, now)}
}
