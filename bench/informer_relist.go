package bench

import (
	"fmt"

	kruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/informerbench/informerbench/measure"
)

// relister has informers list again. Before each relist a new informer with one handler
// is started and takes the readers over, and its watch ends with a 410; what is
// timed begins when the source answers the list that follows, in which every object has a later version,
// and ends when the handler has been told of each. By then the store has them all.
//
// A new one each time, because reflectors wait before they list again, and the longer
// the more often they had to: 0.8 to 1.6 s at first, up to 30 s.
func (s *informerSubject) relister() Actor {
	var h *notified
	var l *live
	var ready bool // the list waits to be answered
	check := len(s.checks)
	s.checks = append(s.checks, measure.CheckResult{Name: "the cache equals the source after each relist", Passed: true, Detail: "no relist"})
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
	return Actor{
		idles: true,
		Prepare: func(int) {
			ready = false
			s.verify()
			old := s.current.Load()
			h = newNotified()
			if l = s.start(newEventSource(s.first, s.objects.Version(), false), h); l == nil {
				return
			}
			l.watches(s.stopping)
			if !h.adds.await(int64(len(second)), s.stopping) {
				return
			}
			s.current.Store(l)
			if old != nil {
				s.end(old)
			}
			select {
			case <-l.feed.hold(second):
				ready = true
			case <-s.stopping:
			}
		},
		Loop: func(n int) int {
			if n == 0 || !ready {
				return 0
			}
			l.feed.release()
			if !h.updates.await(int64(len(second)), s.stopping) {
				return 0
			}
			s.unverified = verify
			return n
		},
	}
}

// differs names an object that the informer has not as the source has it.
func (s *informerSubject) differs(l *live, want []kruntime.Object) string {
	for i, obj := range want {
		if got, ok, err := l.informer.GetStore().GetByKey(s.objects.Key(i)); err != nil || !ok || got != any(obj) {
			return s.objects.Key(i) + " is not what the source has"
		}
	}
	if n := len(l.informer.GetStore().ListKeys()); n != len(want) {
		return fmt.Sprintf("the store has %d objects, the source %d", n, len(want))
	}
	return ""
}
