package informer_test

import (
	"context"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/informer"
)

// failing is a provider with the metric of failed attempts too.
type failing struct{ *published }

func (p failing) NewFailedAttemptsMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return p.metric("failed", id)
}

// kubernetes#79610: while a resource is gone, its informer asks for ever. Its state and a metric
// say so, however lists and watches fail and whether lists stream.
func TestFailure(t *testing.T) {
	for _, stream := range []bool{true, false} {
		for is, fails := range map[string]error{
			"gone": apierrors.NewNotFound(corev1.Resource("things"), ""), "refused": syscall.ECONNREFUSED,
		} {
			t.Run(is, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testFailure(t, stream, fails) })
			})
		}
	}
}

func testFailure(t *testing.T, stream bool, fails error) {
	name := newName(t, t.Name())
	source, broken := newSource(t, 1), atomic.Bool{}
	var open watch.Interface
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			if broken.Load() {
				return nil, fails
			}
			return source.ListWithContext(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (
			w watch.Interface, err error) {
			if broken.Load() {
				return nil, fails
			}
			open, err = source.WatchWithContext(ctx, o)
			return open, err
		},
	}
	p := failing{newPublished()}
	check := func(want int) {
		t.Helper()
		if got, _ := p.of(name.Name()); got["failed"] != float64(want) {
			t.Errorf("published %v failed attempts, want %d", got["failed"], want)
		}
	}
	inf := informer.New(lw, &corev1.Pod{}, informer.Options{UseWatchList: &stream,
		Identifier:              name.WithResource(metricResource),
		InformerMetricsProvider: p})
	if f := inf.Failure(); f != nil {
		t.Errorf("before the start: %v", f)
	}
	broken.Store(true)
	start(t, inf)
	for range 2 {
		begun := time.Now()
		time.Sleep(time.Minute)
		synctest.Wait()
		f := inf.Failure()
		if f == nil || f.Attempts < 2 || f.Since.Sub(begun) > time.Second ||
			apierrors.IsNotFound(f.Err) != apierrors.IsNotFound(fails) ||
			utilnet.IsConnectionRefused(f.Err) != utilnet.IsConnectionRefused(fails) {
			t.Fatalf("while it is broken: %+v", f)
		}
		check(f.Attempts)
		broken.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		if f := inf.Failure(); f != nil {
			t.Errorf("when it works again: %+v", f)
		}
		check(0)
		broken.Store(true)
		open.Stop()
	}
}
