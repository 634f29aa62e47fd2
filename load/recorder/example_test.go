package recorder_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/apiserver"
	"github.com/informerbench/informerbench/load/recorder"
	"github.com/informerbench/informerbench/load/synthetic"
)

// A recording of the pods of a server, and the trace that is read back.
func Example() {
	objects := synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: 20}, 1)
	pods := synthetic.NewSource(objects.All(), synthetic.SourceOptions{})
	defer pods.Stop()
	server, err := apiserver.New(
		map[schema.GroupVersionResource]*synthetic.Source{apiserver.Pods: pods}, apiserver.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := server.Start(); err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()

	cluster, err := recorder.ConnectTo(server.RESTConfig(), "default") // or Connect, with a kubeconfig
	if err != nil {
		fmt.Println(err)
		return
	}
	resources, err := cluster.Resolve(context.Background(), []string{"pods"})
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "record")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "pods.trace")
	if _, err := cluster.File(context.Background(), path,
		recorder.Options{Resources: resources, For: 100 * time.Millisecond}); err != nil {
		fmt.Println(err)
		return
	}
	trace, err := load.ReadTraceFile(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(trace.FinalState()[0]), trace.Resources[0])
	// Output: 20 pods
}
