package workqueue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/dropin/workqueue"
)

// Every queue can be paused, and one over a queue of the caller's if that can.
func TestPausable(t *testing.T) {
	t.Parallel()
	limiter := workqueue.DefaultTypedControllerRateLimiter[string]()
	over := func(q workqueue.TypedInterface[string]) workqueue.TypedRateLimitingInterface[string] {
		return workqueue.NewTypedRateLimitingQueueWithConfig(limiter,
			workqueue.TypedRateLimitingQueueConfig[string]{
				DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(
					workqueue.TypedDelayingQueueConfig[string]{Queue: q}),
			})
	}
	for name, newQueue := range map[string]func() workqueue.TypedInterface[string]{
		"plain": func() workqueue.TypedInterface[string] { return workqueue.NewTyped[string]() },
		"delaying": func() workqueue.TypedInterface[string] {
			return workqueue.NewTypedDelayingQueue[string]()
		},
		"rate-limiting": func() workqueue.TypedInterface[string] {
			return workqueue.NewTypedRateLimitingQueue(limiter)
		},
		"over ours": func() workqueue.TypedInterface[string] {
			return over(workqueue.NewTyped[string]())
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue()
				q.(workqueue.Pausable).Pause()
				q.Add("now")
				if later, ok := q.(workqueue.TypedDelayingInterface[string]); ok {
					later.AddAfter("later", time.Second)
				}
				var got []string
				go func() {
					for {
						item, shutdown := q.Get()
						if shutdown {
							return
						}
						got = append(got, item)
						q.Done(item)
					}
				}()
				time.Sleep(time.Minute) // of the bubble
				synctest.Wait()
				if len(got) > 0 {
					t.Errorf("%q come while the queue is paused", got)
				}
				q.(workqueue.Pausable).Resume()
				synctest.Wait()
				if len(got) == 0 || got[0] != "now" {
					t.Errorf("%q come after Resume", got)
				}
				q.ShutDown()
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		q := over(struct {
			workqueue.TypedInterface[string]
		}{workqueue.NewTyped[string]()})
		defer q.ShutDown()
		if _, ok := q.(workqueue.Pausable); ok {
			t.Error("a queue over one that cannot be paused says that it can")
		}
	})
}
