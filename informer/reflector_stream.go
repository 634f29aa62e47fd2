package informer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/consistencydetector"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// streamPatience is how long a streaming list may bring nothing of the initial state. Then its
// bookmark is taken for lost, as behind a proxy that strips it, and the objects are listed instead.
// client-go v0.37.2 waits for ever and never syncs (kubernetes#135895, #140890).
const streamPatience = 10 * time.Second

// maxIncompleteStreams is the number of streaming lists that end without their bookmark before the
// objects are listed instead, as long as streamPatience lasts for all of them together.
const maxIncompleteStreams = 3

// After a streaming list that came to nothing, relists do not try another for a while: a minute,
// twice as long each time, an hour at most.
const (
	streamPause    = time.Minute
	maxStreamPause = time.Hour
)

// watchList fetches all objects by a streaming list: a watch that begins with an
// ADDED event for each object and a bookmark after the last
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists). It gives
// them to the store with one Replace and returns the watch, open, at the version of
// the bookmark. On an error the caller must list.
func (r *Reflector) watchList(ctx context.Context) (watch.Interface, error) {
	logger := klog.FromContext(ctx)
	begun := r.clock.Now()
	for incomplete := 0; ; {
		version := r.streamVersion()
		items, w, err := r.stream(ctx, version, begun)
		switch {
		case err == nil:
			if err := r.syncStream(ctx, items, w); err != nil {
				return nil, err
			}
			return w, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case isUnreachable(err):
			begun = r.clock.Now() // a list would not fare better
			r.note(err)
			logger.V(2).Info("Streaming list failed, backing off", "reflector", r.name, "type",
				r.typeDescription, "err", err)
		case (isExpired(err) || isTooLarge(err)) && version != "":
			r.unavailable = true // the next attempt asks for the newest version, which cannot fail so
			continue
		case errors.Is(err, errIncompleteStream) && incomplete+1 < maxIncompleteStreams &&
			r.clock.Since(begun) < streamPatience:
			incomplete++
			logger.V(2).Info("Streaming list ended early, backing off", "reflector", r.name, "type",
				r.typeDescription)
		case errors.Is(err, errIncompleteStream), errors.Is(err, errStalledStream):
			r.streamPause = min(max(streamPause, 2*r.streamPause), maxStreamPause)
			r.streamAfter = r.clock.Now().Add(r.streamPause)
			logger.Info("Warning: the streaming list has no end, the objects are listed instead",
				"reflector", r.name, "type", r.typeDescription, "err", err, "nextStreamIn", r.streamPause)
			return nil, err
		default:
			return nil, err
		}
		if !r.backOff(ctx) {
			return nil, ctx.Err()
		}
	}
}

// streamVersion is the oldest version that a streaming list may have; "" means the newest,
// as by a quorum read.
func (r *Reflector) streamVersion() string {
	if r.unavailable {
		return ""
	}
	return r.LastSyncResourceVersion()
}

// stream makes one attempt of a streaming list that was begun then. Without an error the watch is
// open.
func (r *Reflector) stream(ctx context.Context, version string, begun time.Time) (*initialItems,
	watch.Interface, error) {
	items := &initialItems{}
	if r.transformer != nil {
		items.transform = r.transformer.Transformer()
	}
	s := session{r: r, sink: items, started: r.clock.Now(), streaming: true,
		quietSince: begun}
	var err error
	s.w, err = r.openStream(ctx, metav1.ListOptions{
		ResourceVersion:      version,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		SendInitialEvents:    ptr.To(true),
	})
	if err != nil {
		return nil, nil, err
	}
	if err := s.run(ctx); err != nil {
		return nil, nil, err
	}
	if !s.complete {
		return nil, nil, errIncompleteStream
	}
	items.version = s.version
	if took := r.clock.Since(s.started); took > longList {
		klog.FromContext(ctx).Info("Warning: the streaming list took long", "reflector", r.name, "type",
			r.typeDescription, "events", s.events, "fetched", took)
	}
	return items, s.w, nil
}

// openStream opens the watch of a streaming list, or fails with errStalledStream after
// streamPatience.
func (r *Reflector) openStream(ctx context.Context, options metav1.ListOptions) (watch.Interface,
	error) {
	ctx, cancel := context.WithCancelCause(ctx)
	opened, timer := make(chan struct{}), r.clock.NewTimer(streamPatience)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		defer timer.Stop()
		select {
		case <-timer.C():
			cancel(errStalledStream)
		case <-opened:
		}
	})
	w, err := r.openWatch(ctx, options)
	close(opened)
	waiting.Wait()
	if cause := context.Cause(ctx); cause != nil && w != nil {
		w.Stop() // opened at the last moment
		return nil, cause
	}
	if err != nil {
		err = cmp.Or(context.Cause(ctx), err)
		cancel(nil)
		return nil, err
	}
	return cancelledWatch{w, cancel}, nil
}

// cancelledWatch ends the context of its request when it is stopped.
type cancelledWatch struct {
	watch.Interface
	cancel context.CancelCauseFunc
}

func (w cancelledWatch) Stop() {
	w.Interface.Stop()
	w.cancel(nil)
}

// syncStream gives the objects of a complete streaming list to the store. If the store refuses
// them, or panics, it stops the list's watch, which client-go leaves open on an error.
func (r *Reflector) syncStream(ctx context.Context, items *initialItems, w watch.Interface) error {
	synced := false
	defer func() {
		if !synced {
			w.Stop()
		}
	}()
	r.unavailable, r.streamPause = false, 0
	list := items.list(func(err error) {
		utilruntime.HandleErrorWithContext(ctx, err, "An object of a streaming list was left out",
			"reflector", r.name, "type", r.typeDescription)
	})
	if consistencydetector.IsDataConsistencyDetectionForWatchListEnabled() {
		r.checkConsistency(ctx, items, list)
	}
	replace := r.store.Replace
	if s, ok := r.store.(transformedStore); ok && items.transform != nil {
		replace = s.replaceTransformed
	}
	if err := replace(list, items.version); err != nil {
		return fmt.Errorf("unable to sync streaming list result: %w", err)
	}
	r.setVersion(items.version)
	synced = true
	return nil
}

// checkConsistency is for CI, with KUBE_WATCHLIST_INCONSISTENCY_DETECTOR=true: it panics if a list
// of the same version has other objects. Both are compared as readers see them.
func (r *Reflector) checkConsistency(ctx context.Context, items *initialItems, list []any) {
	object := func(transformed any) any { return transformed }
	if s, ok := r.store.(transformedStore); ok {
		object = s.object
	}
	consistencydetector.CheckDataConsistency(ctx, r.name, items.version, r.lw.ListWithContext,
		func(obj any) (any, error) {
			obj, err := transformed(obj, items.transform)
			return object(obj), err
		}, metav1.ListOptions{}, func() []any {
			seen := make([]any, len(list)) // it is sorted
			for i, obj := range list {
				seen[i] = object(obj)
			}
			return seen
		})
}

// initialItems collects the objects of a streaming list, whose length is not known before.
// It collects them in chunks, and makes the slice for Replace of the chunks at the end. A
// slice that grows leaves five times its length in garbage behind.
//
// Servers send objects in the order of their keys. As long as that holds, no object can
// come twice, so nothing is looked up and there are only the chunks. The first event that
// is out of order, or no addition, builds the index by name, which is kept from then on. So
// does a transform that changes a name or takes it away, because later events have the server's
// name. client-go keeps a whole store beside the list.
type initialItems struct {
	chunks    [][]any // of itemsChunk, but for the last
	version   string
	transform cache.TransformFunc
	last      types.NamespacedName // of the last item, while index is nil
	index     map[types.NamespacedName]int
}

// untransformed is an item for which transform failed. list tries it once more.
type untransformed struct{ obj any }

// itemsChunk is the number of objects in a chunk: 16 KiB of interface values.
const itemsChunk = 1024

func (l *initialItems) at(i int) *any { return &l.chunks[i/itemsChunk][i%itemsChunk] }

func (l *initialItems) len() int {
	if len(l.chunks) == 0 {
		return 0
	}
	last := len(l.chunks) - 1
	return last*itemsChunk + len(l.chunks[last])
}

func (l *initialItems) append(obj any) {
	if l.len()%itemsChunk == 0 {
		l.chunks = append(l.chunks, make([]any, 0, itemsChunk))
	}
	last := &l.chunks[len(l.chunks)-1]
	*last = append(*last, obj)
}

// transformedStore is a store that can take a list whose objects are transformed already.
// Other stores transform them once more in Replace, as client-go's do. Over them a
// transformer must be idempotent.
type transformedStore interface {
	// ownTransform is what the store would apply to an object itself; nil: nothing.
	ownTransform() cache.TransformFunc
	replaceTransformed(list []any, resourceVersion string) error
	// object is what readers see of what ownTransform returned.
	object(transformed any) any
}

// Add appends an object, or replaces the one of its name.
func (l *initialItems) Add(obj any) error {
	name, err := nameOf(obj)
	if err != nil {
		return err
	}
	item, renamed := obj, false
	if l.transform != nil {
		// Trimmed at once, objects take less memory until the list is complete.
		if t, err := l.transform(obj); err == nil {
			item = t
			kept, err := nameOf(item)
			renamed = err != nil || kept != name
		} else {
			item = untransformed{obj}
		}
	}
	if l.index == nil {
		if !renamed && (len(l.chunks) == 0 || inKeyOrder(l.last, name)) {
			l.last = name
			l.append(item)
			return nil
		}
		l.buildIndex()
	}
	if i, ok := l.index[name]; ok {
		*l.at(i) = item
		return nil
	}
	l.index[name] = l.len()
	l.append(item)
	return nil
}

// Update is Add.
func (l *initialItems) Update(obj any) error { return l.Add(obj) }

// Delete takes out the object of the same name, if there is one.
func (l *initialItems) Delete(obj any) error {
	name, err := nameOf(obj)
	if err != nil {
		return err
	}
	if l.index == nil {
		l.buildIndex()
	}
	if i, ok := l.index[name]; ok {
		*l.at(i) = nil // list leaves it out
		delete(l.index, name)
	}
	return nil
}

func (l *initialItems) buildIndex() {
	n := l.len()
	l.index = make(map[types.NamespacedName]int, n)
	for i := range n {
		if name, err := nameOf(*l.at(i)); err == nil { // it had a name when it came in
			l.index[name] = i
		}
	}
}

// list returns the objects. It may be called once, at the end. An object for which transform
// fails a second time is left out and reported, as by client-go: it must not keep the others
// from the store.
func (l *initialItems) list(report func(error)) []any {
	items := make([]any, 0, l.len())
	for i, chunk := range l.chunks {
		for _, item := range chunk {
			if failed, is := item.(untransformed); is {
				var err error
				if item, err = l.transform(failed.obj); err != nil {
					report(fmt.Errorf("transforming a %T: %w", failed.obj, err))
					continue
				}
			}
			if item != nil {
				items = append(items, item)
			}
		}
		l.chunks[i] = nil
	}
	return items
}

func nameOf(obj any) (types.NamespacedName, error) {
	if failed, is := obj.(untransformed); is {
		obj = failed.obj
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return types.NamespacedName{}, err
	}
	return types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetName()}, nil
}

// inKeyOrder reports whether a comes before b by their keys, "namespace/name", which
// is how etcd and the watch cache order them. The keys themselves are not put together.
func inKeyOrder(a, b types.NamespacedName) bool {
	if a.Namespace == b.Namespace {
		return a.Name < b.Name
	}
	n := min(len(a.Namespace), len(b.Namespace))
	if x, y := a.Namespace[:n], b.Namespace[:n]; x != y {
		return x < y
	}
	// One namespace begins with the other, whose key goes on with the slash.
	if len(a.Namespace) == n {
		return '/' < b.Namespace[n]
	}
	return a.Namespace[n] < '/'
}
