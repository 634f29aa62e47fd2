package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func pod(name, node string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.PodSpec{NodeName: node}}
}

// The controller reports each node's count when it changes, from the list and from the watch.
func TestCounts(t *testing.T) {
	type count struct {
		node string
		pods int
	}
	ctx, cancel := context.WithCancel(t.Context())
	clientset := fake.NewClientset(pod("a", "one"), pod("b", "one"), pod("c", "two"))
	counts := make(chan count)
	c, err := newController(clientset, func(node string, pods int) {
		select {
		case counts <- count{node, pods}:
		case <-ctx.Done():
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- c.run(ctx) }()
	last := map[string]int{}
	await := func(node string, pods int) {
		t.Helper()
		for last[node] != pods {
			got := <-counts
			last[got.node] = got.pods
		}
	}
	await("one", 2)
	await("two", 1)
	pods := clientset.CoreV1().Pods("default")
	if _, err := pods.Create(ctx, pod("d", "two"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	await("two", 2)
	if err := pods.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await("one", 1)
	if _, err := pods.Update(ctx, pod("b", "two"), metav1.UpdateOptions{}); err != nil { // as no scheduler would
		t.Fatal(err)
	}
	await("two", 3)
	await("one", 0)
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// The program counts every pod of its own API server.
func TestRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &lines{}
	out.full = func() {
		if strings.Count(out.text.String(), " pods\n") >= 1 {
			cancel()
		}
	}
	if err := run(ctx, "", 20, out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.text.String(), " has ") {
		t.Errorf("the program printed %q", out.text.String())
	}
}

// lines calls full after each write.
type lines struct {
	text bytes.Buffer // written by one goroutine at a time
	full func()
}

func (l *lines) Write(p []byte) (int, error) {
	defer l.full()
	return l.text.Write(p)
}

func TestBadOptions(t *testing.T) {
	for want, try := range map[string]func() error{
		"--pods 0: there must be a pod": func() error { return run(t.Context(), "", 0, &bytes.Buffer{}) },
		"nothing.kubeconfig":            func() error { return run(t.Context(), "testdata/nothing.kubeconfig", 1, &bytes.Buffer{}) },
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}
