package staleness

import (
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// Visibility knows up to which version of the source a store shows the writes. A reflector
// applies versions in order, and a list contains all versions up to its own, so one number
// suffices.
type Visibility struct {
	Tracker[uint64] // for its clock and groups; the stamps are in pending
	mu              struct {
		sync.Mutex
		version uint64
		since   int64 // when the store reached version
		pending map[uint64]pendingWrite
	}
}

type pendingWrite struct {
	Moment
	by *Sightings
}

// Wrote records that an event that waits since m has become a version of the source.
func (v *Visibility) Wrote(version uint64, m Moment, by *Sightings) {
	if m.Since == 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if version <= v.mu.version {
		by.Saw(m, max(m.Since, v.mu.since))
		return
	}
	if v.mu.pending == nil {
		v.mu.pending = map[uint64]pendingWrite{}
	}
	v.mu.pending[version] = pendingWrite{m, by}
}

// Shows records that the store has everything up to a version.
func (v *Visibility) Shows(version string) {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.At(time.Now())
	for ; v.mu.version < n; v.mu.version++ {
		if w, ok := v.mu.pending[v.mu.version+1]; ok {
			w.by.Saw(w.Moment, now)
			delete(v.mu.pending, v.mu.version+1)
		}
		v.mu.since = now
	}
}

// Leave counts the writes that were not visible by end. Call it when all writers have ended. The
// Reflector goes on; a write that it shows later is not counted again.
func (v *Visibility) Leave(end time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, w := range v.mu.pending {
		w.by.Left(w.Moment, v.At(end))
	}
	clear(v.mu.pending)
}

// WatchedStore is the store that a reflector fills; it reports when a version is visible.
type WatchedStore struct {
	cache.ReflectorStore
	*Visibility
}

// Add is part of cache.ReflectorStore.
func (s WatchedStore) Add(obj any) error { return s.after(obj, s.ReflectorStore.Add(obj)) }

// Update is part of cache.ReflectorStore.
func (s WatchedStore) Update(obj any) error { return s.after(obj, s.ReflectorStore.Update(obj)) }

// Delete is part of cache.ReflectorStore.
func (s WatchedStore) Delete(obj any) error { return s.after(obj, s.ReflectorStore.Delete(obj)) }

// Replace is part of cache.ReflectorStore.
func (s WatchedStore) Replace(list []any, version string) error {
	err := s.ReflectorStore.Replace(list, version)
	if err == nil {
		s.Shows(version)
	}
	return err
}

func (s WatchedStore) after(obj any, err error) error {
	if m, e := meta.Accessor(obj); err == nil && e == nil {
		s.Shows(m.GetResourceVersion())
	}
	return err
}
