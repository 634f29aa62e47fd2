package load

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informerbench/informerbench/load/synthetic"
)

// recording is the time that the rows cover.
type recording struct {
	start, end  float64 // the first time that is not negative, and the last time
	lastDeleted float64 // never, if a pod has no time of deletion
	deleteAtEnd bool
}

func (im *importer) recording() recording {
	r := recording{start: never, lastDeleted: 0, deleteAtEnd: im.options.DeleteAtEnd}
	for _, p := range im.pods {
		for _, at := range []float64{p.created, p.scheduled, p.deleted} {
			if at >= 0 && at != never {
				r.start, r.end = min(r.start, at), max(r.end, at)
			}
		}
		r.lastDeleted = max(r.lastDeleted, p.deleted)
	}
	r.start = min(r.start, r.end)
	return r
}

// initial reports whether a pod is there at the start. One that exists only at that instant
// is created then.
func (r recording) initial(p csvPod) bool {
	return p.created <= r.start && (p.created < r.start || p.deleted > r.start)
}

// outlives reports whether a pod is alive at the end. Where each pod has a time of deletion,
// the last of these times is the end of the recording.
func (r recording) outlives(p csvPod) bool {
	return p.deleted == never || p.deleted == r.lastDeleted && !r.deleteAtEnd
}

// rejectOverlaps leaves out the pods whose name is taken while they live.
func (im *importer) rejectOverlaps(file string, of recording) {
	slices.SortStableFunc(im.pods, func(a, b csvPod) int { return cmp.Compare(a.created, b.created) })
	last := make(map[string]*csvPod, len(im.pods))
	im.pods = slices.DeleteFunc(im.pods, func(p csvPod) bool {
		before, known := last[p.Key()]
		if known && (of.outlives(*before) || p.created < before.deleted || before.deleted <= of.start &&
			p.created <= of.start) {
			im.reject(&FieldError{File: file, Line: p.line, Path: fieldName,
				Problem: "the name is taken by a pod that is alive",
				Allowed: fmt.Sprintf("another name than on line %d, or times outside of that pod's life",
					before.line)}, p.Name)
			im.report.Pods--
			return true
		}
		last[p.Key()] = &p
		return false
	})
}

// trace makes the events of the rows, ordered by time.
func (im *importer) trace(of recording) (*PodTrace, error) {
	start, end := of.start, of.end
	if end-start > maxSeconds {
		return nil, fmt.Errorf(
			"its times span %.3g seconds, from %.10g to %.10g: use times within %.0e seconds, of one "+
				"unit and one origin", end-start, start, end, maxSeconds)
	}
	// The pods of the start come first. rejectOverlaps has sorted by creation.
	slices.SortStableFunc(im.pods, func(a, b csvPod) int {
		return cmp.Compare(laterIf(!of.initial(a)), laterIf(!of.initial(b)))
	})
	t := &PodTrace{Seed: im.options.Seed, Compress: im.options.Compress,
		Pods: make([]TracePod, 0, len(im.pods))}
	var begun []PodEvent
	events := make([]PodEvent, 0, len(PodEventTypes())*len(im.pods))
	for n, p := range im.pods {
		t.Pods = append(t.Pods, p.TracePod)
		there := of.initial(p)
		add := func(at float64, e PodEvent) {
			e.At, e.Pod = time.Duration((max(at, start)-start)/im.options.Compress*float64(time.Second)), n
			if there && at <= start && e.Type != TraceDeleted {
				begun = append(begun, e)
			} else {
				events = append(events, e)
			}
		}
		add(p.created, PodEvent{Type: TraceCreated})
		since, until := p.created, min(p.deleted, end)
		if p.scheduled != never {
			since = p.scheduled
			add(p.scheduled, PodEvent{Type: TraceScheduled, Node: p.node})
		} else {
			im.report.NeverScheduled++
		}
		within := min(1, (until-since)/2)
		switch p.phase {
		case corev1.PodRunning:
			add(since+within, PodEvent{Type: TracePhase, Phase: p.phase})
		case corev1.PodSucceeded, corev1.PodFailed:
			add(until-within, PodEvent{Type: TracePhase, Phase: p.phase})
		}
		if there {
			im.report.AliveAtStart++
		}
		if p.deleted == p.created {
			im.report.Instant++
		}
		if of.outlives(p) {
			im.report.AliveAtEnd++
			continue
		}
		add(p.deleted, PodEvent{Type: TraceDeleted})
	}
	// Stable: the events of one pod stay in the order of its life, and pods
	// created in the same instant in the order of their numbers.
	slices.SortStableFunc(events, func(a, b PodEvent) int { return cmp.Compare(a.At, b.At) })
	if len(events) == 0 {
		return nil, fmt.Errorf(
			"all of its %d pods are there from the start to the end, and nothing happens to them: a "+
				"replay needs events", len(im.pods))
	}
	t.Initial, t.Events = len(begun), slices.Concat(begun, events)
	if im.drawn {
		im.drawNodes(t)
	}
	return t, nil
}

func laterIf(later bool) int {
	if later {
		return 1
	}
	return 0
}

// drawNodes gives nodes to the scheduled pods that have none, DefaultPerNode of the pods that
// live at once to each.
func (im *importer) drawNodes(t *PodTrace) {
	live, most := 0, 0
	for _, e := range t.Events {
		switch e.Type {
		case TraceCreated:
			live++
		case TraceDeleted:
			live--
		}
		most = max(most, live)
	}
	nodes := int(math.Ceil(float64(most) / synthetic.DefaultPerNode))
	for i, e := range t.Events {
		if e.Type == TraceScheduled && e.Node == "" {
			t.Events[i].Node = fmt.Sprintf("node-%04d", im.draw(t.Pods[e.Pod].Name, nodes))
		}
	}
}
