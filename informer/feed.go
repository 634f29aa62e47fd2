package informer

// From the Reflector into the FIFO.

import (
	"fmt"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/objects"
)

// feed stands between the Reflector and the FIFO: it transforms objects, whatever the
// FIFO, and notes when the FIFO has synced. A FIFO syncs in a Pop or, with nothing to pop,
// in a producing call. So noteSynced runs after each of both; no goroutine waits.
type feed struct {
	fifo      contract.FIFO
	bookmarks cache.ReflectorBookmarkStore // nil: the FIFO takes none
	transform contract.TransformFunc       // nil: none
	keeper    contract.ObjectKeeper        // a part of transform; nil: none
	meter     *meter                       // nil: no metrics

	synced atomic.Bool
	done   chan struct{}
	once   sync.Once
	// onSynced is called once, before synced is set.
	onSynced func()
}

var (
	_ cache.ReflectorStore         = (*feed)(nil)
	_ cache.TransformingStore      = (*feed)(nil)
	_ cache.ReflectorBookmarkStore = (*feed)(nil)
	_ cache.DoneChecker            = (*feed)(nil)
	_ transformedStore             = (*feed)(nil)
	_ transformedStore             = versionedFeed{}
)

// versionedFeed is the feed of a FIFO that is a cache.ResourceVersionUpdater.
type versionedFeed struct {
	*feed
	cache.ResourceVersionUpdater
}

func newFeed(config *Config, m *meter) *feed {
	f := &feed{fifo: config.FIFO, transform: objects.Transform(config.Transform, config.keeper),
		keeper: config.keeper, meter: m, done: make(chan struct{}), onSynced: func() {}}
	f.bookmarks, _ = f.fifo.(cache.ReflectorBookmarkStore)
	return f
}

func (f *feed) noteSynced() {
	if f.synced.Load() || !f.fifo.HasSynced() {
		return
	}
	f.once.Do(func() {
		f.onSynced()
		f.synced.Store(true)
		close(f.done)
	})
}

func (f *feed) Name() string          { return fmt.Sprintf("Controller over %T", f.fifo) }
func (f *feed) Done() <-chan struct{} { return f.done }

// Transformer is the FIFO's own where the feed has none. A streaming list then leaves out the
// objects for which it fails. Else the FIFO would refuse the whole list because of one of them.
func (f *feed) Transformer() contract.TransformFunc {
	if fifo, ok := f.fifo.(cache.TransformingStore); ok && f.transform == nil {
		return fifo.Transformer()
	}
	return f.transform
}

func (f *feed) ownTransform() contract.TransformFunc { return f.transform }

func (f *feed) object(transformed any) any { return objects.Open(f.keeper, transformed) }

func (f *feed) Add(obj any) error    { return f.put(obj, f.fifo.Add) }
func (f *feed) Update(obj any) error { return f.put(obj, f.fifo.Update) }
func (f *feed) Delete(obj any) error { return f.put(obj, f.fifo.Delete) }

func (f *feed) put(obj any, put func(any) error) error {
	obj, err := transformed(obj, f.transform)
	if err != nil {
		return err
	}
	err = put(obj)
	f.noteSynced()
	if f.meter != nil && err == nil {
		f.meter.came()
	}
	return err
}

// transformed is what transform makes of an object; nil and tombstones change nothing.
func transformed(obj any, transform contract.TransformFunc) (any, error) {
	if _, tombstone := obj.(contract.DeletedFinalStateUnknown); tombstone || transform == nil {
		return obj, nil
	}
	changed, err := transform(obj)
	if err != nil {
		return nil, fmt.Errorf("transforming a %T: %w", obj, err)
	}
	return changed, nil
}

// Replace owns list.
func (f *feed) Replace(list []any, resourceVersion string) error {
	if err := transformAll(list, f.transform); err != nil {
		return err
	}
	return f.replaceTransformed(list, resourceVersion)
}

// transformAll puts what transform makes of objects in their place; a nil one leaves them.
func transformAll(list []any, transform contract.TransformFunc) error {
	if transform == nil {
		return nil
	}
	for i, obj := range list {
		changed, err := transformed(obj, transform)
		if err != nil {
			return fmt.Errorf("object %d of a list of %d: %w", i, len(list), err)
		}
		list[i] = changed
	}
	return nil
}

// replaceTransformed is Replace for a list that the Reflector has transformed.
func (f *feed) replaceTransformed(list []any, resourceVersion string) error {
	err := f.fifo.Replace(list, resourceVersion)
	f.noteSynced()
	f.changed()
	return err
}

func (f *feed) Resync() error {
	defer f.changed()
	return f.fifo.Resync()
}

func (f *feed) Bookmark(resourceVersion string) error {
	if f.bookmarks == nil {
		return nil
	}
	defer f.changed()
	return f.bookmarks.Bookmark(resourceVersion)
}

// changed publishes the FIFO's length after a call that is not an event.
func (f *feed) changed() {
	if f.meter != nil {
		f.meter.publishQueued()
	}
}
