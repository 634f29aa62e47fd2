package bench

import (
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// visibility knows up to which version of the source a store shows the writes. A reflector
// applies versions in order, and a list contains all versions up to its own, so one number
// suffices.
type visibility struct {
	staleness[uint64] // for its clock and groups; the stamps are in pending
	mu                struct {
		sync.Mutex
		version uint64
		since   int64 // when the store reached version
		pending map[uint64]pendingWrite
	}
}

type pendingWrite struct {
	since int64
	by    *sightings
}

// wrote records that an event due at since has become a version of the source.
func (v *visibility) wrote(version uint64, since int64, by *sightings) {
	if since == 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if version <= v.mu.version {
		by.saw(since, max(since, v.mu.since))
		return
	}
	if v.mu.pending == nil {
		v.mu.pending = map[uint64]pendingWrite{}
	}
	v.mu.pending[version] = pendingWrite{since, by}
}

// shows records that the store has everything up to a version.
func (v *visibility) shows(version string) {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.at(time.Now())
	for ; v.mu.version < n; v.mu.version++ {
		if w, ok := v.mu.pending[v.mu.version+1]; ok {
			w.by.saw(w.since, now)
			delete(v.mu.pending, v.mu.version+1)
		}
		v.mu.since = now
	}
}

func (v *visibility) leave(end time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, w := range v.mu.pending {
		w.by.left(w.since, v.at(end))
	}
}

// watchedStore is the store that a reflector fills; it reports when a version is visible.
type watchedStore struct {
	cache.ReflectorStore
	*visibility
}

func (s watchedStore) Add(obj any) error    { return s.after(obj, s.ReflectorStore.Add(obj)) }
func (s watchedStore) Update(obj any) error { return s.after(obj, s.ReflectorStore.Update(obj)) }
func (s watchedStore) Delete(obj any) error { return s.after(obj, s.ReflectorStore.Delete(obj)) }

func (s watchedStore) Replace(list []any, version string) error {
	err := s.ReflectorStore.Replace(list, version)
	if err == nil {
		s.shows(version)
	}
	return err
}

func (s watchedStore) after(obj any, err error) error {
	if m, e := meta.Accessor(obj); err == nil && e == nil {
		s.shows(m.GetResourceVersion())
	}
	return err
}
