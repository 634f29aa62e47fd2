package replay

import (
	"fmt"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/bench/internal/staleness"
	"github.com/informerbench/informerbench/load"
)

// follower is a handler of an informer that a trace is replayed through. It keeps the last
// state it was told of each object and detects a notification that does not follow from it:
// an event was lost, or came twice.
//
// The informer calls it from one goroutine. Others may read its fields after the mark has
// come through, which marked signals, or after the informer was stopped.
type follower struct {
	group   load.Group
	sees    *staleness.Observer
	objects map[string]any // by key
	told    int            // events it was told of
	broken  string         // the first notification that did not follow; "" if all did
	marked  chan struct{}  // of capacity one: the mark was added, or deleted
}

var _ cache.ResourceEventHandler = (*follower)(nil)

func newFollower(g load.Group, t *staleness.Timeline, resource int) *follower {
	return &follower{group: g, sees: t.Observer(g.Name, resource), objects: map[string]any{},
		marked: make(chan struct{}, 1)}
}

// handlers returns the followers as event handlers.
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
		f.breaks("%s is added in version %s, and was there in version %s", key, staleness.VersionOf(obj),
			staleness.VersionOf(last))
	}
	f.objects[key] = obj
	f.handled()
}

func (f *follower) OnUpdate(old, obj any) {
	key, last, known := f.notified(obj, false)
	switch {
	case !known:
		f.breaks("%s is changed, and was not there", key)
	case last != old && staleness.VersionOf(last) != staleness.VersionOf(old):
		f.breaks("%s is changed from version %s, and the last one told was %s", key,
			staleness.VersionOf(old), staleness.VersionOf(last))
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

// notified ends the wait of an event, or of the goroutine that waits for the mark. It
// returns the state of the object that the handler was told last.
func (f *follower) notified(obj any, deleted bool) (key string, last any, known bool) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		panic(fmt.Sprintf("bench: the informer tells of a %T, which nobody sent", obj))
	}
	if key == markName {
		f.marked <- struct{}{}
		return key, nil, false
	}
	f.sees.Saw(obj, deleted)
	last, known = f.objects[key]
	return key, last, known
}

// handled does the handler's own work.
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
