// The program controller-runtime runs a manager of sigs.k8s.io/controller-runtime on our
// informer and our queue. Two import paths, marked (1) and (2), put them under it; nothing else
// differs from the program as it was written for controller-runtime and client-go, and a test
// runs its tests on their packages too.
//
//	go run ./examples/controller-runtime
//	go run ./examples/controller-runtime --kubeconfig ~/.kube/config
//
// Its controller reads each pod that changed from the cache and counts it; a line a
// second tells how many. Without --kubeconfig the program starts an API server of
// its own on loopback (load/apiserver) with --pods pods and changes
// --writes of them a second through client-go's clientset; a cluster is only read.
// Ctrl-C, or the end of --for, stops the changes, waits until the cache equals the
// server, says so, and ends: exit code 0 if it did.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	// (1) was k8s.io/client-go/tools/cache
	toolscache "github.com/informerbench/informerbench/dropin/cache"
	// (2) was sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue
	"github.com/informerbench/informerbench/dropin/priorityqueue"
)

func main() {
	// for as long as the process lives
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "",
		"the cluster to read; without it, an API server on loopback")
	flag.IntVar(&o.pods, "pods", 1000, "pods that the API server on loopback begins with; at least 1")
	flag.IntVar(&o.writes, "writes", 200, "changes a second that are made to them; 0 for none")
	flag.DurationVar(&o.duration, "for", 0, "how long; 0 until Ctrl-C")
	flag.Parse()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "controller-runtime example:", err)
		os.Exit(1)
	}
}

type options struct {
	kubeconfig   string
	pods, writes int
	duration     time.Duration
}

// run starts the server, if there is to be one, the manager and the writer, reports
// until ctx or the duration ends, and compares.
func run(ctx context.Context, o options, out io.Writer) error {
	if o.pods < 1 || o.writes < 0 || o.duration < 0 {
		return fmt.Errorf(
			"--pods %d, --writes %d, --for %v: there must be a pod, and nothing may be negative", o.pods,
			o.writes, o.duration)
	}
	ctrllog.SetLogger(klog.Background().V(1)) // errors only, unless klog is asked for more
	config, stopServer, err := connect(o, out)
	if err != nil {
		return err
	}
	defer stopServer()
	pods := &podReconciler{}
	mgr, err := newManager(config, pods)
	if err != nil {
		return err
	}

	// Ask before anything starts: a cluster that is not there, or that forbids it, would
	// only make the informer try again and again.
	if err := mgr.GetAPIReader().List(ctx, &corev1.PodList{}, client.Limit(1)); err != nil {
		return fmt.Errorf("listing pods at %s: %w", config.Host, err)
	}

	// The manager outlives ctx: it must still follow what was written last.
	managing, stopManager := context.WithCancel(context.WithoutCancel(ctx))
	defer stopManager()
	syncing, stopSyncing := context.WithCancel(ctx)
	defer stopSyncing()
	ended := make(chan error, 1)
	go func() {
		defer stopSyncing()
		defer close(ended) // who asks again is answered too
		ended <- mgr.Start(managing)
	}()
	if !mgr.GetCache().WaitForCacheSync(syncing) {
		stopManager()
		if err := <-ended; err != nil {
			return err
		}
		return errors.New("stopped before the cache was filled")
	}

	err = observe(ctx, o, config, mgr, pods, out, ended)
	stopManager()
	if managerErr := <-ended; err == nil {
		err = managerErr
	}
	if err == nil {
		fmt.Fprintln(out, "the manager ended")
	}
	return err
}

// newManager returns a manager with one controller, for pods.
func newManager(config *rest.Config, pods *podReconciler) (manager.Manager, error) {
	mgr, err := manager.New(config, manager.Options{
		Logger:                 logr.Discard(),
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		Cache:                  cache.Options{NewInformer: toolscache.NewSharedIndexInformer},
	})
	if err != nil {
		return nil, err
	}
	pods.cached = mgr.GetClient()
	return mgr, builder.ControllerManagedBy(mgr).
		For(&corev1.Pod{}).
		WithOptions(controller.Options{
			NewQueue:                newQueue,
			MaxConcurrentReconciles: 2,
			SkipNameValidation:      new(true), // tests run this twice in one process
		}).
		Complete(pods)
}

// newQueue returns the queue of a controller.
func newQueue(name string,
	limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	return priorityqueue.New(name, func(o *priorityqueue.Opts[reconcile.Request]) {
		o.RateLimiter = limiter
	})
}

// podReconciler reads the pod that it is called for and counts.
type podReconciler struct {
	cached      client.Reader
	found, gone atomic.Int64
}

func (r *podReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result,
	error) {
	var pod corev1.Pod
	err := r.cached.Get(ctx, req.NamespacedName, &pod)
	switch {
	case apierrors.IsNotFound(err):
		r.gone.Add(1)
	case err != nil:
		return reconcile.Result{}, err
	default:
		r.found.Add(1)
	}
	return reconcile.Result{}, nil
}

// connect returns the way to a cluster: the one of --kubeconfig, or one of our own.
func connect(o options, out io.Writer) (config *rest.Config, stop func(), err error) {
	if o.kubeconfig == "" {
		return startServer(o.pods, out)
	}
	config, err = clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	return config, func() {}, err
}
