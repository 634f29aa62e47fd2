package apiserver

import (
	"bytes"
	"context"
	"flag"
	"log"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/load/synthetic"
)

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "8") // they wait for streams and pauses
	// The handlers would log every injected fault.
	utilruntime.ErrorHandlers = nil
	klog.SetLogger(logr.Discard())
	goleak.VerifyTestMain(m)
}

// widgets is a custom resource without a Go type.
var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

func widget(namespace, name string, size int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"namespace": namespace, "name": name},
		"spec":     map[string]any{"size": size},
	}}
}

func smallPod(namespace, name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// fixture is a server with pods, nodes and widgets.
type fixture struct {
	*Server
	pods, nodes, widgets *synthetic.Source
}

func start(t *testing.T, pods []runtime.Object, o Options, so synthetic.SourceOptions) *fixture {
	t.Helper()
	f := &fixture{}
	so.Example = &corev1.Pod{}
	f.pods = synthetic.NewSource(pods, so)
	f.nodes = synthetic.NewSource(
		synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindNode, Count: 3}, 1).All(),
		synthetic.SourceOptions{})
	f.widgets = synthetic.NewSource(nil, synthetic.SourceOptions{Example: widget("", "", 0)})
	var err error
	f.Server, err = New(
		map[schema.GroupVersionResource]*synthetic.Source{Pods: f.pods, Nodes: f.nodes,
			widgets: f.widgets}, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.Stop()
		f.pods.Stop()
		f.nodes.Stop()
		f.widgets.Stop()
	})
	return f
}

func somePods(n int) []runtime.Object {
	return synthetic.Generate(
		synthetic.ObjectSpec{Kind: synthetic.KindSmall, Count: n, Namespaces: 3, Nodes: 4}, 1).All()
}

// serverLog collects what a server logs.
type serverLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *serverLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *serverLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *serverLog) logger() *log.Logger { return log.New(l, "", 0) }

// patience is how long a test waits for an expected event.
const patience = time.Minute

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(within(t), 2*time.Millisecond, patience, true,
		func(context.Context) (bool, error) {
			return holds(), nil
		})
	if err != nil {
		t.Fatalf("%s: it did not come in %v", what, patience)
	}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// forms are the content types that clients may ask for.
func forms() map[string]func(*rest.Config) *rest.Config {
	return map[string]func(*rest.Config) *rest.Config{
		"json": func(c *rest.Config) *rest.Config {
			c.ContentType = runtime.ContentTypeJSON // typed clients prefer Protobuf
			return c
		},
		"protobuf": func(c *rest.Config) *rest.Config {
			c.ContentType = runtime.ContentTypeProtobuf
			c.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
			return c
		},
		"yaml": func(c *rest.Config) *rest.Config {
			c.ContentType = runtime.ContentTypeYAML
			// YAML does not stream
			c.AcceptContentTypes = runtime.ContentTypeYAML + "," + runtime.ContentTypeJSON
			return c
		},
	}
}

// clientset makes a typed client whose connections end with the test.
func clientset(t *testing.T, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	h := must[*http.Client](t)(newHTTPClient(t, config))
	return must[*kubernetes.Clientset](t)(kubernetes.NewForConfigAndClient(config, h))
}
