package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func pod(name, node string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PodSpec{NodeName: node}}
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
	// as no scheduler would
	if _, err := pods.Update(ctx, pod("b", "two"), metav1.UpdateOptions{}); err != nil {
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
	out := &counts{last: map[string]int{}, changed: func(sum int) {
		if sum == 20 {
			cancel()
		}
	}}
	if err := run(ctx, "", 20, out); err != nil {
		t.Fatal(err)
	}
}

// counts reads the lines that the program prints, and calls changed with the sum of what each
// node has.
type counts struct {
	last    map[string]int // one goroutine at a time writes
	changed func(sum int)
}

func (c *counts) Write(line []byte) (int, error) {
	var node string
	var pods, sum int
	if _, err := fmt.Sscanf(string(line), "%s has %d pods\n", &node, &pods); err != nil {
		return 0, fmt.Errorf("the line %q: %w", line, err)
	}
	c.last[node] = pods
	for _, n := range c.last {
		sum += n
	}
	c.changed(sum)
	return len(line), nil
}

func TestBadOptions(t *testing.T) {
	for want, try := range map[string]func() error{
		"--pods 0: there must be a pod": func() error { return run(t.Context(), "", 0, &bytes.Buffer{}) },
		"nothing.kubeconfig": func() error {
			return run(t.Context(), "testdata/nothing.kubeconfig", 1, &bytes.Buffer{})
		},
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}
