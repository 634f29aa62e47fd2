package apiserver

import (
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/informerbench/informerbench/load/synthetic"
)

// TestZeroValue serves pods and nodes without any options.
func TestZeroValue(t *testing.T) {
	t.Parallel()
	s := must[*Server](t)(New(nil, Options{}))
	if s.URL() != "" || len(s.Struck()) != 0 {
		t.Errorf("before Start: %q, %v", s.URL(), s.Struck())
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err == nil {
		t.Error("it started twice")
	}
	must[runtime.Object](t)(s.Source(Pods).Create(smallPod("a", "p")))
	c := clientset(t, s.RESTConfig())
	must[*corev1.Pod](t)(c.CoreV1().Pods("a").Get(within(t), "p", metav1.GetOptions{}))
	must[*corev1.NodeList](t)(c.CoreV1().Nodes().List(within(t), metav1.ListOptions{}))
	if s.Source(widgets) != nil {
		t.Error("it has a source of widgets")
	}
	s.Stop()
	s.Stop()
	if _, err := c.CoreV1().Nodes().List(within(t), metav1.ListOptions{}); err == nil {
		t.Error("it answers after Stop")
	}
	if _, err := s.Source(Pods).Create(smallPod("a", "q")); err == nil {
		t.Error("its own source outlives it")
	}
}

// TestStopEndsWatches stops a server with streaming, slow and half-closed connections.
func TestStopEndsWatches(t *testing.T) {
	t.Parallel()
	for _, faults := range [][]synthetic.Fault{nil, {{Kind: FaultSlow, Delay: time.Hour}},
		{{Kind: FaultHalfClose}}} {
		for _, secure := range []bool{false, true} {
			f := start(t, somePods(3), Options{TLS: secure, Faults: faults}, synthetic.SourceOptions{})
			w := must[watch.Interface](t)(
				clientset(t, f.RESTConfig()).CoreV1().Pods("").Watch(within(t),
					metav1.ListOptions{ResourceVersion: "3"}))
			must[runtime.Object](t)(f.pods.Update(somePods(1)[0]))
			if len(faults) == 0 {
				<-w.ResultChan()
			} else {
				eventually(t, "the fault", func() bool { return f.Struck()[faults[0].Kind] == 1 })
			}
			f.Stop()
			for range w.ResultChan() { // until it is closed
			}
		}
	}
}

func TestStopBeforeStart(t *testing.T) {
	t.Parallel()
	s := must[*Server](t)(New(nil, Options{}))
	s.Stop()
	if err := s.Start(); err == nil {
		t.Error("it started after Stop")
	}
}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	pods := synthetic.NewSource(nil, synthetic.SourceOptions{})
	defer pods.Stop()
	untyped := synthetic.NewSource(nil, synthetic.SourceOptions{Example: widget("", "", 0)})
	defer untyped.Stop()
	for _, c := range []struct {
		name    string
		sources map[schema.GroupVersionResource]*synthetic.Source
		o       Options
		want    []string
	}{
		{"every interface", nil, Options{Address: "0.0.0.0:0"},
			[]string{"0.0.0.0:0", "loopback", "127.0.0.1"}},
		{"no host", nil, Options{Address: ":8080"}, []string{":8080", "loopback"}},
		{"a name", nil, Options{Address: "example.com:1"}, []string{"example.com", "loopback"}},
		{"no port", nil, Options{Address: "127.0.0.1"}, []string{"127.0.0.1", "HOST:PORT"}},
		{"unknown fault", nil, Options{Faults: []synthetic.Fault{{Kind: FaultCut}, {Kind: "cute"}}},
			[]string{"faults[1]", `"cute"`, "half-close"}},
		{"fault of a source", nil, Options{Faults: []synthetic.Fault{{Kind: synthetic.FaultGone}}},
			[]string{"faults[0]", `"gone"`, "SourceOptions"}},
		{"no delay", nil, Options{Faults: []synthetic.Fault{{Kind: FaultSlow}}},
			[]string{"delay", "slow"}},
		{"delay of a cut", nil, Options{Faults: []synthetic.Fault{{Kind: FaultCut, Delay: 1}}},
			[]string{"delay", "cut"}},
		{"no source", map[schema.GroupVersionResource]*synthetic.Source{Pods: nil}, Options{},
			[]string{"pods", "NewSource"}},
		{"no version", map[schema.GroupVersionResource]*synthetic.Source{{Resource: "pods"}: pods},
			Options{}, []string{"version"}},
		{"another version", map[schema.GroupVersionResource]*synthetic.Source{
			{Group: "apps", Version: "v1", Resource: "pods"}: pods}, Options{}, []string{"pods", "v1"}},
		{"another group", map[schema.GroupVersionResource]*synthetic.Source{Pods: untyped}, Options{},
			[]string{"Widget", "apiVersion v1"}},
		{"unknown type", map[schema.GroupVersionResource]*synthetic.Source{Pods: pods},
			Options{Scheme: runtime.NewScheme()}, []string{"pods", "Scheme"}},
	} {
		_, err := New(c.sources, c.o)
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: the error does not say %q: %v", c.name, w, err)
			}
		}
	}
}

func TestAddressTaken(t *testing.T) {
	t.Parallel()
	l := must[net.Listener](t)(net.Listen("tcp", DefaultAddress))
	defer func() { _ = l.Close() }() // nothing was written to it
	s := must[*Server](t)(New(nil, Options{Address: l.Addr().String()}))
	defer s.Stop()
	if err := s.Start(); err == nil || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("%v, want an error that names %s", err, l.Addr())
	}
}

// TestToken: a request without the token gets 401, on every path.
func TestToken(t *testing.T) {
	t.Parallel()
	f := start(t, nil, Options{Token: "secret"}, synthetic.SourceOptions{})
	for _, header := range []string{"", "Bearer wrong", "Basic secret", "secret"} {
		for _, path := range []string{"/api/v1/pods", "/apis", "/version", "/nowhere"} {
			req := must[*http.Request](t)(
				http.NewRequestWithContext(within(t), http.MethodGet, f.URL()+path, nil))
			if header != "" {
				req.Header.Set("Authorization", header)
			}
			if code, status := ask(t, req); code != http.StatusUnauthorized ||
				status.Reason != metav1.StatusReasonUnauthorized {
				t.Errorf("%q at %s: %d %+v, want 401", header, path, code, status)
			}
		}
	}
	config := f.RESTConfig()
	config.BearerToken = "wrong"
	if _, err := clientset(t, config).CoreV1().Nodes().List(within(t),
		metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("%v, want Unauthorized", err)
	}
}

// TestKubeconfig uses the file as a program does.
func TestKubeconfig(t *testing.T) {
	t.Parallel()
	f := start(t, somePods(2), Options{TLS: true, Token: "secret"}, synthetic.SourceOptions{})
	config, err := clientcmd.RESTConfigFromKubeConfig(must[[]byte](t)(f.Kubeconfig()))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(config.Host, "https://127.0.0.1:") {
		t.Errorf("the server is at %s", config.Host)
	}
	l, err := clientset(t, config).CoreV1().Pods("").List(within(t), metav1.ListOptions{})
	if err != nil || len(l.Items) != 2 {
		t.Errorf("%d pods, %v", len(l.Items), err)
	}
	config.CAData = nil
	if _, err := clientset(t, config).CoreV1().Pods("").List(within(t),
		metav1.ListOptions{}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("%v, want a certificate that nobody vouches for", err)
	}
	if _, err := clientcmd.LoadFromFile(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing file was read")
	}
}
