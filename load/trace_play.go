package load

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/load/synthetic"
)

// NewSource makes a source for one resource of the trace, with its initial objects. Play
// applies the events.
func (t *Trace) NewSource(resource int, options synthetic.SourceOptions) *synthetic.Source {
	var objects []runtime.Object
	for _, e := range t.Initial {
		if e.Resource == resource {
			objects = append(objects, e.Object)
		}
	}
	if options.Example == nil {
		options.Example = t.Example(resource)
	}
	return synthetic.NewSource(objects, options)
}

// Example is an object of a resource's type: the first of the trace or, if there is none,
// an unstructured one of the kind. Do not change it.
func (t *Trace) Example(resource int) runtime.Object {
	for e := range t.all() {
		if e.Resource == resource {
			return e.Object
		}
	}
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(t.Resources[resource].GVK())
	return u
}

// Sources makes a source for each resource of the trace, with its initial objects. Play
// applies the events; Stop each source when it is no longer needed.
func (t *Trace) Sources(
	options synthetic.SourceOptions) map[schema.GroupVersionResource]*synthetic.Source {
	sources := make(map[schema.GroupVersionResource]*synthetic.Source, len(t.Resources))
	for i, r := range t.Resources {
		sources[r.GVR()] = t.NewSource(i, options)
	}
	return sources
}

// PlayOptions configures Play. The zero value plays a trace at its own speed.
type PlayOptions struct {
	// Compress divides all times; 0 means 1.
	Compress float64
	// Clock is the clock of the events; the default is the real one.
	Clock clock.WithTicker
	// Shared says that others write to the sources too. An event is left out if others have
	// already added its object, or deleted it.
	Shared bool
	// Applied, if not nil, is called for each event that a source has taken, with its due
	// time and the source's object. It runs in Play's goroutine.
	Applied func(e TraceEvent, due time.Time, written runtime.Object)
}

// Play applies the events of a trace to its sources, each when it is due, and returns after
// the last one or with the context. Events of a resource without a source are left out. The
// sources give the objects resource versions of their own.
//
// It sleeps until the next event is due and never skips a late one: if a source is slow,
// later events are late. The error is the context's, or that of a source whose objects
// differ from the trace's.
func Play(ctx context.Context, t *Trace, sources map[schema.GroupVersionResource]*synthetic.Source,
	o PlayOptions) error {
	if o.Compress == 0 {
		o.Compress = 1
	}
	if o.Compress < 0 {
		return fmt.Errorf("play: compress by %v: use a number above 0", o.Compress)
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	to := make([]*synthetic.Source, len(t.Resources))
	for i, r := range t.Resources {
		to[i] = sources[r.GVR()]
	}
	start := o.Clock.Now()
	for i, e := range t.Events {
		if to[e.Resource] == nil {
			continue
		}
		due := start.Add(time.Duration(float64(e.At) / o.Compress))
		if err := sleepUntil(ctx, o.Clock, due); err != nil {
			return err
		}
		written, err := PlayEvent(to[e.Resource], e)
		if o.Shared && (apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err)) {
			continue
		}
		if err != nil {
			return fmt.Errorf("play event %d, %s of %s %s: %w", i, e.Type, t.Resources[e.Resource], e.Key,
				err)
		}
		if o.Applied != nil {
			o.Applied(e, due, written)
		}
	}
	return nil
}

// PlayEvent applies one event to a source and returns the source's object.
func PlayEvent(source *synthetic.Source, e TraceEvent) (runtime.Object, error) {
	switch e.Type {
	case watch.Added:
		return source.Create(e.Object)
	case watch.Modified:
		return source.Update(e.Object)
	default:
		return source.Delete(e.Key)
	}
}

func sleepUntil(ctx context.Context, c clock.WithTicker, due time.Time) error {
	wait := due.Sub(c.Now())
	if wait <= 0 {
		return ctx.Err()
	}
	timer := c.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
