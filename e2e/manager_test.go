package e2e

// A controller-runtime manager on our informer and our queue, set up as in
// examples/controller-runtime, whose controller writes status.

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientgo "k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informerbench/informerbench/dropin/ctrlqueue"
	"github.com/informerbench/informerbench/informer"
)

// statusWriter sets an object's status.observed to its spec.round.
type statusWriter struct {
	client           client.Client
	found, conflicts atomic.Int64
	lastError        atomic.Pointer[error]
}

func (r *statusWriter) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result,
	error) {
	w := newWidget()
	if err := r.client.Get(ctx, req.NamespacedName, w); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	r.found.Add(1)
	if unobserved(w) == nil {
		return reconcile.Result{}, nil
	}
	round, _, _ := unstructured.NestedInt64(w.Object, "spec", "round")
	w = w.DeepCopy() // the cache's objects are shared
	if err := unstructured.SetNestedField(w.Object, round, "status", "observed"); err != nil {
		return reconcile.Result{}, err
	}
	// Not found is tried again too: a server that starts answers so before it has read
	// its CRDs, and an object that is gone ends it at the next Get.
	err := r.client.Status().Update(ctx, w)
	if apierrors.IsConflict(err) {
		r.conflicts.Add(1) // the cache was behind: its next event comes with another call
		return reconcile.Result{}, nil
	}
	if err != nil {
		r.lastError.Store(&err)
	}
	return reconcile.Result{}, err
}

func newWidget() *unstructured.Unstructured {
	w := &unstructured.Unstructured{}
	w.SetGroupVersionKind(widgets.GroupVersion().WithKind(widgetKind))
	return w
}

// unobserved returns an error if the controller has not written the object's status.
func unobserved(w *unstructured.Unstructured) error {
	round, _, _ := unstructured.NestedInt64(w.Object, "spec", "round")
	observed, ok, _ := unstructured.NestedInt64(w.Object, "status", "observed")
	if !ok || round != observed {
		return fmt.Errorf("%s/%s is at round %d, its status at %d (%t)", w.GetNamespace(), w.GetName(),
			round, observed, ok)
	}
	return nil
}

func TestManagerWritesStatus(t *testing.T) {
	const objects = 500
	c := newCluster(t)
	c.createWidgets(t.Context(), objects)
	ctrllog.SetLogger(logr.Discard())
	mgr := must1(manager.New(c.restConfig(c.line), manager.Options{
		Logger:                 logr.Discard(),
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		// our informer
		Cache:  cache.Options{NewInformer: informer.NewSharedIndexInformer},
		Client: client.Options{Cache: &client.CacheOptions{Unstructured: true}},
	}))(t)
	r := &statusWriter{client: mgr.GetClient()}
	must(t, builder.ControllerManagedBy(mgr).Named("e2e-status").
		For(newWidget()).
		WithOptions(controller.Options{
			NewQueue: ctrlqueue.New[reconcile.Request], // our queue
			// The default lets ten retries a second through for all objects together, which
			// would stretch the failures of one dead server over minutes.
			RateLimiter: clientgo.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](
				5*time.Millisecond, time.Second),
			MaxConcurrentReconciles: 4,
			SkipNameValidation:      new(true),
		}).
		Complete(r))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-ended)
	})

	w := c.startWriters(t.Context(), objects, 0)
	w.awaitWrites(t, 300)
	c.line.cut()
	w.awaitWrites(t, 300)
	c.restart()
	w.awaitWrites(t, 300)
	w.stop(t)
	// Nothing but the controller writes now.
	t.Cleanup(func() {
		if err := r.lastError.Load(); err != nil {
			t.Logf("the last write of a status that failed: %v", *err)
		}
	})
	eventually(t, "every status is written", func() error {
		state, err := c.state(t.Context())
		if err != nil {
			return err
		}
		var missing []error
		for _, obj := range state {
			if err := unobserved(obj.(*unstructured.Unstructured)); err != nil {
				missing = append(missing, err)
			}
		}
		if len(missing) > 0 {
			return fmt.Errorf("%d of %d are missing: %w", len(missing), len(state), missing[0])
		}
		return nil
	})
	want := must1(c.state(t.Context()))(t)
	eventually(t, "the manager's cache equals the server", func() error {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(widgets.GroupVersion().WithKind(widgetKind + "List"))
		if err := mgr.GetCache().List(t.Context(), list); err != nil {
			return err
		}
		have := map[string]metav1.Object{}
		for i := range list.Items {
			have[client.ObjectKeyFromObject(&list.Items[i]).String()] = &list.Items[i]
		}
		if d := compareVersions(have, want); len(d) > 0 {
			return fmt.Errorf("%d differences: %s", len(d), strings.Join(d[:min(3, len(d))], "; "))
		}
		return nil
	})
	t.Logf("%d objects, %d reconciliations, %d conflicts", len(want), r.found.Load(),
		r.conflicts.Load())
}
