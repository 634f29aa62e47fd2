package load

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informerbench/informerbench/load/synthetic"
)

// MostTimesEvents is the most objects and events that Trace.Times makes.
const MostTimesEvents = 10_000_000

// timesShift is the share of a trace's span by which the last copy is late, at most.
const timesShift = 0.1

// ReadTraceTimes reads a trace's file as ReadTraceFile does, and returns it n times over; see
// [Trace.Times].
func ReadTraceTimes(path string, n int) (*Trace, error) {
	t, err := ReadTraceFile(path)
	if err != nil {
		return nil, err
	}
	if t, err = t.Times(n); err != nil {
		return nil, fmt.Errorf("trace %s: %w", path, err)
	}
	return t, nil
}

// Times returns the trace of a cluster n times as large: n copies of the trace side by side.
// The first keeps its names; in copy k the namespaces, cluster-scoped objects and nodes have
// the suffix -k, or -copy-k where the trace has such names itself, so that namespaces and
// nodes hold as many objects as before. Each copy begins a tenth of the span, divided by n,
// after the one before it: their bursts do not coincide, and nearly n times as many objects
// live at once. Resource versions are numbered anew. Notes are those of the first copy. With
// n of 1 it returns the trace itself.
//
// Memory and time are n times those of the trace, about 1 KB for each event on a pod. More
// than MostTimesEvents objects and events are an error, as is n below 1.
func (t *Trace) Times(n int) (*Trace, error) {
	if n == 1 {
		return t, nil
	}
	each := len(t.Initial) + len(t.Events)
	if n < 1 || each > 0 && n > MostTimesEvents/each {
		return nil, fmt.Errorf("%d times its %d objects and events: use 1 to %d times", n, each,
			max(1, MostTimesEvents/max(1, each)))
	}
	var shared string
	for _, separator := range []string{"-", "-copy-"} {
		if shared = t.sharedName(n, separator); shared == "" {
			out := t.times(n, separator)
			return out, out.Validate()
		}
	}
	return nil, fmt.Errorf(
		"%d copies would share names, because names of the trace end like those of copies, in -2 and "+
			"in -copy-2, such as %s", n, shared)
}

// sharedName is a name of the trace that a copy would have too, "" if there is none. Objects of two
// copies would then be in one namespace or on one node, or be one object.
func (t *Trace) sharedName(n int, separator string) string {
	names := map[[2]string]bool{} // kind of name, and name
	for e := range t.all() {
		meta := synthetic.Accessor(e.Object)
		if of := t.Resources[e.Resource]; of.Namespaced {
			names[[2]string{"namespace", meta.GetNamespace()}] = true
		} else {
			names[[2]string{of.Resource, meta.GetName()}] = true
		}
		if node := nodeOf(e.Object); node != "" {
			names[[2]string{"node", node}] = true
		}
	}
	for name := range names {
		for k := 2; k <= n; k++ {
			if copied := name[1] + separator + strconv.Itoa(k); names[[2]string{name[0], copied}] {
				return copied
			}
		}
	}
	return ""
}

// times makes the copies without a check. Copies meet if the trace has names that differ by a
// copy's suffix.
func (t *Trace) times(n int, separator string) *Trace {
	out := &Trace{TraceHeader: t.TraceHeader, Notes: t.Notes, Ended: t.Ended}
	out.Source = fmt.Sprintf("%s, %d times over", t.Source, n)
	shift := time.Duration(float64(t.Span()) * timesShift / float64(n))
	if last := shift * time.Duration(n-1); t.Length > math.MaxInt64-last {
		shift = 0
	}
	out.Length = t.Length + shift*time.Duration(n-1)
	for _, e := range t.Initial {
		for k := range n {
			out.Initial = append(out.Initial, e.copied(t.Resources[e.Resource], k, separator))
		}
	}
	for k := range n {
		for _, e := range t.Events {
			c := e.copied(t.Resources[e.Resource], k, separator)
			c.At += shift * time.Duration(k)
			out.Events = append(out.Events, c)
		}
	}
	// Stable: the events of one copy stay in their order.
	slices.SortStableFunc(out.Events, func(a, b TraceEvent) int { return cmp.Compare(a.At, b.At) })
	for i := range out.Initial {
		synthetic.Accessor(out.Initial[i].Object).SetResourceVersion(strconv.Itoa(i + 1))
	}
	for i := range out.Events {
		synthetic.Accessor(out.Events[i].Object).SetResourceVersion(
			strconv.Itoa(len(out.Initial) + i + 1))
	}
	return out
}

// copied is the event of copy k, counted from 0, of an object of its own.
func (e TraceEvent) copied(of TraceResource, k int, separator string) TraceEvent {
	obj := synthetic.ShallowCopy(e.Object)
	meta := synthetic.Accessor(obj)
	e.Object = obj
	if k == 0 {
		return e
	}
	suffix := separator + strconv.Itoa(k+1)
	if of.Namespaced {
		meta.SetNamespace(meta.GetNamespace() + suffix)
	} else {
		meta.SetName(meta.GetName() + suffix)
	}
	if uid := meta.GetUID(); uid != "" {
		meta.SetUID(uid + types.UID(suffix))
	}
	if node := nodeOf(obj); node != "" {
		switch o := obj.(type) {
		case *corev1.Pod:
			o.Spec.NodeName = node + suffix
		case *unstructured.Unstructured:
			spec := maps.Clone(o.Object["spec"].(map[string]any))
			spec["nodeName"] = node + suffix
			o.Object["spec"] = spec
		}
	}
	e.Key = synthetic.Key(obj)
	return e
}
