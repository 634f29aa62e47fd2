package informer_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/load/synthetic"
)

// printer is a store that prints what a Reflector tells it.
type printer struct {
	cache.Store
	told chan struct{}
}

func (p printer) Replace(items []any, version string) error {
	fmt.Println("Replace with", len(items), "objects at", version)
	p.told <- struct{}{}
	return nil
}

func (p printer) Update(obj any) error {
	fmt.Println("Update of", obj.(*corev1.Pod).Name)
	p.told <- struct{}{}
	return nil
}

// A Reflector fetches the state, here from a stand-in for an API server, and
// follows it.
func ExampleNewReflector() {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", ResourceVersion: "7"}}
	source := synthetic.NewSource([]runtime.Object{pod}, synthetic.SourceOptions{})
	defer source.Stop()

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	store := printer{told: make(chan struct{})}
	reflector := informer.NewReflector(source, &corev1.Pod{}, store, informer.ReflectorOptions{})
	go func() {
		defer close(done)
		reflector.RunWithContext(ctx)
	}()
	<-store.told
	if _, err := source.Update(pod); err != nil {
		fmt.Println(err)
	}
	<-store.told
	cancel()
	<-done

	// Output:
	// Replace with 1 objects at 7
	// Update of web
}
