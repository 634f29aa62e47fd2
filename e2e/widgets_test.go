package e2e

// The custom resource of the tests, its objects, and the goroutines that change them.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

var widgets = schema.GroupVersionResource{Group: "e2e.informerbench.dev", Version: "v1",
	Resource: "widgets"}

const widgetKind = "Widget"

// widgetCRD is a resource with a spec of any fields and a status of its own.
func widgetCRD() *apiextensionsv1.CustomResourceDefinition {
	anything := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: widgets.GroupResource().String()},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: widgets.Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: widgets.Resource,
				Singular: "widget", Kind: widgetKind, ListKind: widgetKind + "List"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: widgets.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
						Type:       "object",
						Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": anything, "status": anything},
					}},
				Subresources: &apiextensionsv1.CustomResourceSubresources{
					Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}

// createWidgets defines the resource and creates n objects, and returns when the
// server answers lists from its watch cache.
func (c *cluster) createWidgets(ctx context.Context, n int) {
	c.t.Helper()
	c.createWidgetsWithoutCache(ctx, n)
	c.awaitWatchCache(ctx)
}

func (c *cluster) createWidgetsWithoutCache(ctx context.Context, n int) {
	c.t.Helper()
	client := c.crds.ApiextensionsV1().CustomResourceDefinitions()
	must1(client.Create(ctx, widgetCRD(), metav1.CreateOptions{}))(c.t)
	eventually(c.t, "the resource is served", func() error {
		_, err := c.dynamic.Resource(widgets).List(ctx, metav1.ListOptions{Limit: 1})
		return err
	})
	var creating sync.WaitGroup
	var next atomic.Int64
	var failed atomic.Pointer[error]
	for range writerCount {
		creating.Go(func() {
			for i := next.Add(1); i <= int64(n) && failed.Load() == nil; i = next.Add(1) {
				if _, err := c.dynamic.Resource(widgets).Namespace(namespaceOf(int(i))).Create(ctx,
					widget(int(i), 0), metav1.CreateOptions{}); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	creating.Wait()
	if err := failed.Load(); err != nil {
		c.t.Fatal(*err)
	}
}

// awaitWatchCache waits until a list at "0" ignores its limit, as a watch cache does.
func (c *cluster) awaitWatchCache(ctx context.Context) {
	c.t.Helper()
	eventually(c.t, "the server's watch cache is filled", func() error {
		list, err := c.dynamic.Resource(widgets).List(ctx,
			metav1.ListOptions{ResourceVersion: "0", Limit: 1})
		if err == nil && list.GetContinue() != "" {
			err = errors.New("the server answers from etcd")
		}
		return err
	})
}

// changeCRD changes the definition in a way that leaves its objects alone. The server
// drops the resource's storage with its watch cache, and ends every watch.
func (c *cluster) changeCRD(ctx context.Context) {
	c.t.Helper()
	patch := fmt.Appendf(
		nil, `{"spec":{"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
		"schema":{"openAPIV3Schema":{"type":"object","description":"change %d","properties":{
			"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
			"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}}`, rand.Uint64())
	_, err := c.crds.ApiextensionsV1().CustomResourceDefinitions().Patch(ctx,
		widgets.GroupResource().String(), types.MergePatchType, patch, metav1.PatchOptions{})
	must(c.t, err)
}

// state is every object that the server has, by key: a consistent read.
func (c *cluster) state(ctx context.Context) (map[string]metav1.Object, error) {
	list, err := c.dynamic.Resource(widgets).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	objects := make(map[string]metav1.Object, len(list.Items))
	for i := range list.Items {
		objects[cache.MetaObjectToName(&list.Items[i]).String()] = &list.Items[i]
	}
	return objects, nil
}

func namespaceOf(i int) string { return fmt.Sprintf("ns%d", i%5) }

func widget(i, round int) *unstructured.Unstructured {
	w := &unstructured.Unstructured{
		Object: map[string]any{"spec": map[string]any{"round": int64(round)}}}
	w.SetGroupVersionKind(widgets.GroupVersion().WithKind(widgetKind))
	w.SetNamespace(namespaceOf(i))
	w.SetName(fmt.Sprintf("widget-%d", i))
	return w
}

// writerCount is how many goroutines write at once.
const writerCount = 20

// writers change random objects until stop.
type writers struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
	done    atomic.Int64 // writes that succeeded

	mu struct {
		sync.Mutex
		err error // the first that no disturbance explains
	}
}

// startWriters changes objects out of the first n, with padding bytes in each change.
func (c *cluster) startWriters(ctx context.Context, n, padding int) *writers {
	ctx, cancel := context.WithCancel(ctx)
	w := &writers{cancel: cancel}
	for range writerCount {
		w.running.Go(func() {
			for ctx.Err() == nil {
				// A request that is given up may still be carried out, after the writers are
				// said to rest. So each one is waited for.
				switch err := c.write(context.WithoutCancel(ctx), 1+rand.IntN(n), padding); {
				case err == nil:
					w.done.Add(1)
				case transient(err):
				default:
					w.mu.Lock()
					w.mu.err = errors.Join(w.mu.err, err)
					w.mu.Unlock()
					return
				}
			}
		})
	}
	c.t.Cleanup(func() { cancel(); w.running.Wait() })
	return w
}

// write makes one random change to the i-th object.
func (c *cluster) write(ctx context.Context, i, padding int) error {
	client := c.dynamic.Resource(widgets).Namespace(namespaceOf(i))
	name := fmt.Sprintf("widget-%d", i)
	round, pad := rand.Uint32(), strings.Repeat("x", padding)
	var err error
	switch p := rand.IntN(100); {
	case p < 50:
		_, err = client.Patch(ctx, name, types.MergePatchType,
			fmt.Appendf(nil, `{"spec":{"round":%d,"padding":%q}}`, round, pad), metav1.PatchOptions{})
	case p < 70:
		_, err = client.Patch(ctx, name, types.MergePatchType,
			fmt.Appendf(nil, `{"status":{"round":%d}}`, round), metav1.PatchOptions{}, "status")
	case p < 80:
		err = client.Delete(ctx, name, metav1.DeleteOptions{})
	default:
		_, err = client.Create(ctx, widget(i, int(round)), metav1.CreateOptions{})
	}
	if apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) {
		return nil // another writer was there first
	}
	return err
}

// transient reports whether a server that is away, or comes back, explains the error.
func transient(err error) bool {
	var network net.Error
	var address *url.Error
	switch {
	case errors.As(err, &network), errors.As(err, &address), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE):
		return true
	}
	return apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) ||
		apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) ||
		// etcd's leader is gone for a moment, or the request met the server's end.
		apierrors.IsInternalError(err) || strings.Contains(err.Error(), "http2:")
}

// stop ends the writers and returns when the last write has been answered.
func (w *writers) stop(t testing.TB) {
	t.Helper()
	w.cancel()
	w.running.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	must(t, w.mu.err)
}

// awaitWrites returns when n more writes were answered.
func (w *writers) awaitWrites(t testing.TB, n int64) {
	t.Helper()
	goal := w.done.Load() + n
	eventually(t, fmt.Sprintf("%d more writes", n), func() error {
		if done := w.done.Load(); done < goal {
			return fmt.Errorf("%d are missing", goal-done)
		}
		return nil
	})
}

// patience bounds every wait for a state that must come. The back-off of a client that
// met a dead server takes up to 30 s, and is the longest thing waited for.
const patience = 90 * time.Second

// within polls until condition returns nil, and returns its last error after limit.
func within(ctx context.Context, limit time.Duration, condition func() error) error {
	last := errors.New("never asked")
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, limit, true,
		func(context.Context) (bool, error) {
			last = condition()
			return last == nil, nil
		})
	if err != nil {
		return fmt.Errorf("after %s: %w", limit, last)
	}
	return nil
}

// eventually fails the test unless condition returns nil in time.
func eventually(t testing.TB, what string, condition func() error) {
	t.Helper()
	if err := within(t.Context(), patience, condition); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
