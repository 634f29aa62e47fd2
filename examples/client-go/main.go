// The program client-go is a controller written for client-go alone. It counts the pods of each
// node, and prints a node when its count changes. Two import paths, marked (1) and (2), put this
// project's informer, store and queue under it; nothing else differs from the program as it was
// written, and a test runs its tests on client-go's packages too.
//
//	go run ./examples/client-go
//	go run ./examples/client-go --kubeconfig ~/.kube/config
//
// Without --kubeconfig the program starts an API server of its own on loopback
// (load/apiserver) with --pods pods. A cluster is only read. Ctrl-C ends it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/informerbench/informerbench/load/apiserver"
	"github.com/informerbench/informerbench/load/synthetic"
)

func main() {
	// for as long as the process lives
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	kubeconfig := flag.String("kubeconfig", "",
		"the cluster to read; without it, an API server on loopback")
	pods := flag.Int("pods", 1000, "pods that the API server on loopback has; at least 1")
	flag.Parse()
	if err := run(ctx, *kubeconfig, *pods, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "client-go example:", err)
		os.Exit(1)
	}
}

// run prints counts to out until ctx ends.
func run(ctx context.Context, kubeconfig string, pods int, out io.Writer) error {
	config, stop, err := connect(kubeconfig, pods)
	if err != nil {
		return err
	}
	defer stop()
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	c, err := newController(clientset, func(node string, pods int) {
		fmt.Fprintf(out, "%s has %d pods\n", node, pods)
	})
	if err != nil {
		return err
	}
	return c.run(ctx)
}

// connect returns the way to a cluster: the one of the kubeconfig, or one of our own.
func connect(kubeconfig string, pods int) (config *rest.Config, stop func(), err error) {
	if kubeconfig != "" {
		config, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
		return config, func() {}, err
	}
	if pods < 1 {
		return nil, nil, fmt.Errorf("--pods %d: there must be a pod", pods)
	}
	source := synthetic.NewSource(
		synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: pods}, 1).All(),
		synthetic.SourceOptions{})
	server, err := apiserver.New(
		map[schema.GroupVersionResource]*synthetic.Source{apiserver.Pods: source}, apiserver.Options{})
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		source.Stop()
		return nil, nil, err
	}
	return server.RESTConfig(), func() {
		server.Stop()
		source.Stop()
	}, nil
}
