package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/informerbench/informerbench/load/apiserver"
	"github.com/informerbench/informerbench/load/synthetic"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// until calls found when the text that was written matches, and keeps the text.
type until struct {
	match *regexp.Regexp
	found context.CancelFunc
	text  bytes.Buffer // written by one goroutine at a time
}

func (u *until) Write(p []byte) (int, error) {
	n, err := u.text.Write(p)
	if u.match.Match(u.text.Bytes()) {
		u.found()
	}
	return n, err
}

// The program reconciles every pod and every change, its cache equals the server
// in the end, and Ctrl-C (the context) ends it with nothing left running.
func TestTheManagerReconcilesOnOurInformerAndQueue(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// 200 pods, and then at least 20 changes with a deletion among them.
	out := &until{match: regexp.MustCompile(`reconciled (2[2-9]\d|[3-9]\d\d|\d{4,}) \([1-9]`),
		found: cancel}
	if err := run(ctx, options{pods: 200, writes: 400}, out); err != nil {
		t.Fatalf("%v\n%s", err, out.text.String())
	}
	for _, want := range []string{"an API server with 200 pods at http://127.0.0.1:",
		"the cache equals the server: 200 pods\n", "the manager ended\n"} {
		if !strings.Contains(out.text.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.text.String())
		}
	}
}

// The seven metrics of a controller's queue are where controller-runtime publishes its own.
func TestTheQueueHasItsMetrics(t *testing.T) {
	if err := run(t.Context(), options{pods: 10, duration: time.Millisecond}, io.Discard); err != nil {
		t.Fatal(err)
	}
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "workqueue_") && len(f.GetMetric()) > 0 {
			found = append(found, f.GetName())
			if got := f.GetMetric()[0].GetLabel()[0]; got.GetName() != "controller" ||
				got.GetValue() != "pod" {
				t.Errorf("%s has the label %s=%s, want controller=pod", f.GetName(), got.GetName(),
					got.GetValue())
			}
		}
	}
	if len(found) != 7 {
		t.Errorf("the queue's metrics are %q, want seven", found)
	}
}

func TestItEndsByItself(t *testing.T) {
	out := &bytes.Buffer{}
	if err := run(t.Context(), options{pods: 10, duration: time.Millisecond}, out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "the cache equals the server: 10 pods\n") {
		t.Error(out)
	}
}

// With --kubeconfig a cluster is read and nothing in it is changed.
func TestAClusterIsOnlyRead(t *testing.T) {
	pods := synthetic.NewSource(
		synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: 30}, 1).All(),
		synthetic.SourceOptions{})
	defer pods.Stop()
	server, err := apiserver.New(
		map[schema.GroupVersionResource]*synthetic.Source{apiserver.Pods: pods},
		apiserver.Options{TLS: true, Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	kubeconfig, err := server.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	before, out := pods.ResourceVersion(), &bytes.Buffer{}
	if err := run(t.Context(), options{kubeconfig: path, pods: 1, writes: 100,
		duration: 100 * time.Millisecond}, out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "the cache equals the server: 30 pods\n") ||
		pods.ResourceVersion() != before {
		t.Errorf("version %s, was %s\n%s", pods.ResourceVersion(), before, out)
	}
}

func TestBadOptions(t *testing.T) {
	nobody := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: "http://127.0.0.1:1"}},
		Contexts:       map[string]*clientcmdapi.Context{"c": {Cluster: "c"}},
		CurrentContext: "c",
	}, nobody); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]options{
		"there must be a pod":                  {pods: 0},
		"listing pods at http://127.0.0.1:1: ": {pods: 1, kubeconfig: nobody},
		"nothing.kubeconfig":                   {pods: 1, kubeconfig: "testdata/nothing.kubeconfig"},
	} {
		if err := run(t.Context(), o, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want an error with %q", o, err, want)
		}
	}
}
