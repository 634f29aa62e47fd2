package subject

import (
	"fmt"

	kruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/measure/record"
)

// relister has informers list again. Before each relist it starts a new informer with one
// handler, moves the readers to it and ends its watch with a 410. The measured time begins
// when the source answers the following list, in which every object has a later version.
// The time ends when the handler has been told of each object; by then the store has them
// all.
//
// Each relist has a new informer, because a reflector waits before it lists again, and
// longer each time: 0.8 to 1.6 s at first, up to 30 s.
func (s *Informer) relister() engine.Actor {
	var h *notified
	var l *Live
	var ready bool // the list waits for its answer
	check := len(s.checks)
	s.checks = append(s.checks, record.CheckResult{
		Name: "the cache equals the source after each relist", Passed: true, Detail: "no relist"})
	relists := 0
	second := s.later()
	verify := func() {
		relists++
		c := &s.checks[check]
		if missing := s.differs(l, second); missing != "" {
			c.Passed, c.Detail = false, missing
		} else if c.Passed {
			c.Detail = fmt.Sprintf("%d relists of %d objects", relists, len(second))
		}
	}
	return engine.Actor{
		Idles: true,
		Prepare: func(int) {
			ready = false
			s.verify()
			old := s.Current.Load()
			h = newNotified()
			if l = s.Start(s.newSource(false), h); l == nil {
				return
			}
			l.Watches(s.stopping)
			if !h.adds.await(int64(len(second)), s.stopping) {
				return
			}
			s.Current.Store(l)
			if old != nil {
				s.end(old)
			}
			select {
			case <-l.Feed.hold(second):
				ready = true
			case <-s.stopping:
			}
		},
		Loop: func(n int) int {
			if n == 0 || !ready {
				return 0
			}
			l.Feed.release()
			if !h.updates.await(int64(len(second)), s.stopping) {
				return 0
			}
			s.unverified = verify
			return n
		},
	}
}

// differs names an object that the informer lacks or has in another version than the
// source.
func (s *Informer) differs(l *Live, want []kruntime.Object) string {
	for i, obj := range want {
		if got, ok, err := l.Informer.GetStore().GetByKey(s.Objects.Key(i)); err != nil || !ok ||
			s.version(got) != s.version(obj) {
			return s.Objects.Key(i) + " is not what the source has"
		}
	}
	if n := len(l.Informer.GetStore().ListKeys()); n != len(want) {
		return fmt.Sprintf("the store has %d objects, the source %d", n, len(want))
	}
	return ""
}
