package main

import (
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/informerbench/informerbench/load/apiserver"
	"github.com/informerbench/informerbench/load/synthetic"
)

// startServer starts an API server on loopback that holds n pods.
func startServer(n int, out io.Writer) (config *rest.Config, stop func(), err error) {
	pods := synthetic.NewSource(
		synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: n}, 1).All(),
		synthetic.SourceOptions{})
	server, err := apiserver.New(
		map[schema.GroupVersionResource]*synthetic.Source{apiserver.Pods: pods}, apiserver.Options{})
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		pods.Stop()
		return nil, nil, err
	}
	fmt.Fprintf(out, "an API server with %d pods at %s\n", n, server.URL())
	return server.RESTConfig(), func() {
		server.Stop()
		pods.Stop()
	}, nil
}
