package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// settleWithin is how long the cache may take to equal a server that nobody
// changes any more.
const settleWithin = 30 * time.Second

// observe changes pods of our own server and tells once a second what was
// reconciled, until ctx or the duration ends; then it compares cache and server.
func observe(ctx context.Context, o options, config *rest.Config, mgr manager.Manager,
	pods *podReconciler, out io.Writer, ended <-chan error) error {
	if o.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.duration)
		defer cancel()
	}
	var wrote chan error // nil: nobody writes
	if o.kubeconfig == "" && o.writes > 0 {
		wrote = make(chan error, 1)
		go func() { wrote <- write(ctx, config, o.writes) }()
	}
	begun := time.Now()
	report := func() {
		found, gone := pods.found.Load(), pods.gone.Load()
		fmt.Fprintf(out, "%3.0f s: reconciled %d (%d of them deleted)\n", time.Since(begun).Seconds(),
			found+gone, gone)
	}
	everySecond := time.NewTicker(time.Second)
	defer everySecond.Stop()
	var err error
	for running := true; running; {
		select {
		case <-everySecond.C:
			report()
		case managerErr := <-ended:
			return errors.Join(errors.New("the manager ended by itself"), managerErr)
		case err = <-wrote:
			wrote, running = nil, false
		case <-ctx.Done():
			running = false
		}
	}
	report()
	if wrote != nil {
		err = <-wrote
	}
	if err != nil {
		return fmt.Errorf("changing pods: %w", err)
	}
	return settle(context.WithoutCancel(ctx), mgr, out)
}

// write changes pods, n a second: mostly updates, and now and then a pod is deleted
// and another created.
func write(ctx context.Context, config *rest.Config, n int) error {
	config = rest.CopyConfig(config)
	config.QPS = -1 // the ticker below is the limit
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	list, err := clientset.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return stopped(ctx, err)
	}
	pods := list.Items
	if len(pods) == 0 {
		return errors.New("the server has no pods")
	}
	tick := time.NewTicker(time.Second / time.Duration(n))
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		pod := &pods[rand.IntN(len(pods))]
		if err := change(ctx, clientset, pod, i); err != nil {
			return err
		}
	}
}

// change makes the i-th change, to pod, and leaves in pod what the server has. It is
// finished when ctx ends: a pod that is deleted has its successor.
func change(ctx context.Context, clientset kubernetes.Interface, pod *corev1.Pod, i int) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWithin)
	defer cancel()
	client := clientset.CoreV1().Pods(pod.Namespace)
	var now *corev1.Pod
	var err error
	if i%10 == 9 {
		if err := client.Delete(ctx, pod.Name, metav1.DeleteOptions{}); err != nil {
			return err
		}
		successor := pod.DeepCopy()
		successor.Name, successor.ResourceVersion, successor.UID = "new-"+strconv.Itoa(i), "", ""
		now, err = client.Create(ctx, successor, metav1.CreateOptions{})
	} else {
		changed := pod.DeepCopy()
		metav1.SetMetaDataAnnotation(&changed.ObjectMeta, "example/change", strconv.Itoa(i))
		now, err = client.Update(ctx, changed, metav1.UpdateOptions{})
	}
	if err == nil {
		*pod = *now
	}
	return err
}

// stopped is nil in place of an error that only says that ctx ended.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// settle waits until the manager's cache holds what the server lists.
func settle(ctx context.Context, mgr manager.Manager, out io.Writer) error {
	var difference error
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, settleWithin, true,
		func(ctx context.Context) (bool, error) {
			server, err := versions(ctx, mgr.GetAPIReader())
			if err != nil {
				return false, err
			}
			cached, err := versions(ctx, mgr.GetCache())
			if err != nil {
				return false, err
			}
			if difference = compare(server, cached); difference != nil {
				return false, nil
			}
			fmt.Fprintf(out, "the cache equals the server: %d pods\n", len(server))
			return true, nil
		})
	if wait.Interrupted(err) {
		return fmt.Errorf(
			"after %v the cache still differs from the server (a cluster that changes all the time never "+
				"agrees): %w", settleWithin, difference)
	}
	return err
}

func versions(ctx context.Context, from client.Reader) (map[client.ObjectKey]string, error) {
	var list corev1.PodList
	if err := from.List(ctx, &list); err != nil {
		return nil, err
	}
	out := make(map[client.ObjectKey]string, len(list.Items))
	for i := range list.Items {
		out[client.ObjectKeyFromObject(&list.Items[i])] = list.Items[i].ResourceVersion
	}
	return out, nil
}

func compare(server, cached map[client.ObjectKey]string) error {
	for key, version := range server {
		if cached[key] != version {
			return fmt.Errorf("%v has version %s at the server and %q in the cache", key, version,
				cached[key])
		}
	}
	if len(cached) != len(server) {
		return fmt.Errorf("the cache holds %d pods, the server %d", len(cached), len(server))
	}
	return nil
}
