package informertest

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// line is a watch that passes through the gate.
type line struct {
	gate   *gate
	source watch.Interface
	cancel context.CancelFunc
	most   int // number of events after which it ends; -1 for no end

	result  chan watch.Event
	once    sync.Once
	stopped chan struct{}
}

func (l *line) ResultChan() <-chan watch.Event { return l.result }

func (l *line) Stop() { l.once.Do(func() { close(l.stopped) }) }

// run forwards the events of the source. With intrude, it sends after each object one of
// another type with the same name and version. With linger, the watch stays open after an
// error event, until it is stopped.
func (l *line) run(ctx context.Context) {
	defer func() {
		l.gate.mu.Lock()
		defer l.gate.mu.Unlock()
		l.gate.mu.open--
	}()
	defer l.cancel()
	defer close(l.result)
	for n := 0; n != l.most; n++ {
		var e watch.Event
		var ok bool
		select {
		case e, ok = <-l.source.ResultChan():
		case <-l.stopped:
		}
		if !ok || !l.send(ctx, e) {
			return
		}
		if p, ok := e.Object.(*corev1.Pod); ok && l.gate.intrude && e.Type != watch.Bookmark {
			stranger := &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name,
					ResourceVersion: p.ResourceVersion}}
			if !l.send(ctx, watch.Event{Type: watch.Modified, Object: stranger}) {
				return
			}
		}
		if e.Type == watch.Error && l.gate.linger {
			select {
			case <-l.stopped:
			case <-ctx.Done():
			case <-l.gate.over:
			}
			return
		}
	}
}

// send sends e and reports whether the watch goes on.
func (l *line) send(ctx context.Context, e watch.Event) bool {
	select {
	case l.result <- e:
		return true
	case <-l.stopped:
	case <-ctx.Done():
	}
	return false
}
