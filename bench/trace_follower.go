package bench

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/load"
)

// follower is a handler of an informer that a trace is replayed through. It keeps the last
// that it was told of each object, and finds out when what it is told next does not
// follow from that: something was lost, or came twice.
//
// The informer calls it from one goroutine. Others may look at its fields when the
// mark has come through, which they learn from marked, or when the informer was stopped.
type follower struct {
	group   load.Group
	sees    *observer
	objects map[string]any // by key
	told    int            // events
	broken  string         // the first thing that did not follow; "" if all did
	marked  chan struct{}  // of capacity one: the mark came, or it went
}

var _ cache.ResourceEventHandler = (*follower)(nil)

func newFollower(g load.Group, t *timeline, resource int) *follower {
	return &follower{group: g, sees: t.observer(g.Name, resource), objects: map[string]any{}, marked: make(chan struct{}, 1)}
}

// handlers are the followers as an informer takes them.
func handlers(followers []*follower) []cache.ResourceEventHandler {
	out := make([]cache.ResourceEventHandler, len(followers))
	for i, f := range followers {
		out[i] = f
	}
	return out
}

func (f *follower) OnAdd(obj any, _ bool) {
	key, last, known := f.notified(obj, false)
	if key == markName {
		return
	}
	if known {
		f.breaks("%s is added in version %s, and was there in version %s", key, versionOf(obj), versionOf(last))
	}
	f.objects[key] = obj
	f.handled()
}

func (f *follower) OnUpdate(old, obj any) {
	key, last, known := f.notified(obj, false)
	switch {
	case !known:
		f.breaks("%s is changed, and was not there", key)
	case last != old && versionOf(last) != versionOf(old):
		f.breaks("%s is changed from version %s, and the last one told was %s", key, versionOf(old), versionOf(last))
	}
	f.objects[key] = obj
	f.handled()
}

func (f *follower) OnDelete(obj any) {
	key, _, known := f.notified(obj, true)
	if key == markName {
		return
	}
	if !known {
		f.breaks("%s is deleted, and was not there", key)
	}
	delete(f.objects, key)
	f.handled()
}

// notified ends the wait of an event, or of whoever waits for the mark, and
// returns the last that was told of its object.
func (f *follower) notified(obj any, deleted bool) (key string, last any, known bool) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		panic(fmt.Sprintf("bench: the informer tells of a %T, which nobody sent", obj))
	}
	if key == markName {
		f.marked <- struct{}{}
		return key, nil, false
	}
	f.sees.saw(obj, deleted)
	last, known = f.objects[key]
	return key, last, known
}

// handled is the handler's own work.
func (f *follower) handled() {
	if f.group.Work > 0 {
		time.Sleep(f.group.Work)
	}
	f.told++
}

func (f *follower) breaks(format string, args ...any) {
	if f.broken == "" {
		f.broken = fmt.Sprintf(format, args...)
	}
}

// versionOf is the resource version of what a handler is told; "" if it has none.
func versionOf(obj any) string {
	m, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return m.GetResourceVersion()
}
