package apiserver

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/informerbench/informerbench/load/synthetic"
)

// newHTTPClient makes a client that leaves no open connection.
func newHTTPClient(t *testing.T, config *rest.Config) (*http.Client, error) {
	h, err := rest.HTTPClientFor(config)
	if err == nil {
		t.Cleanup(h.CloseIdleConnections)
	}
	return h, err
}

// TestTypedClient calls every verb of the typed client, with each encoding of bodies.
func TestTypedClient(t *testing.T) {
	t.Parallel()
	for name, form := range forms() {
		for _, secure := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/tls=%v", name, secure), func(t *testing.T) {
				t.Parallel()
				f := start(t, somePods(20), Options{TLS: secure, Token: "secret"}, synthetic.SourceOptions{})
				config := form(f.RESTConfig())
				pods := clientset(t, config).CoreV1().Pods("ns-00")
				driveTyped(t, f, pods)
			})
		}
	}
}

func driveTyped(t *testing.T, f *fixture, pods typedcorev1.PodInterface) {
	ctx := within(t)
	list := must[*corev1.PodList](t)(pods.List(ctx, metav1.ListOptions{}))
	if len(list.Items) != 7 || list.ResourceVersion != f.pods.ResourceVersion() ||
		list.Items[0].Namespace != "ns-00" {
		t.Fatalf("listed %d at %s, want the 7 of ns-00 at %s", len(list.Items), list.ResourceVersion,
			f.pods.ResourceVersion())
	}
	w := must[watch.Interface](t)(
		pods.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion}))
	defer w.Stop()

	created := must[*corev1.Pod](t)(pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "mine-", Labels: map[string]string{"app": "x"}},
		Spec: corev1.PodSpec{NodeName: "n",
			Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}, metav1.CreateOptions{}))
	if !strings.HasPrefix(created.Name, "mine-") || created.Namespace != "ns-00" ||
		created.UID == "" || created.CreationTimestamp.IsZero() {
		t.Errorf("created %+v, want a name, the namespace, a UID and the time", created.ObjectMeta)
	}
	_, err := pods.Create(ctx, smallPod("", created.Name), metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		t.Errorf("created again: %v, want AlreadyExists", err)
	}
	must[*corev1.Pod](t)(
		pods.Create(ctx, smallPod("", "dry"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}))
	if _, err := pods.Get(ctx, "dry", metav1.GetOptions{}); !apierrors.IsNotFound(err) ||
		!strings.Contains(err.Error(), `pods "dry" not found`) {
		t.Errorf("what a dry run made: %v, want NotFound", err)
	}

	got := must[*corev1.Pod](t)(pods.Get(ctx, created.Name, metav1.GetOptions{}))
	if diff := cmp.Diff(created, got); diff != "" {
		t.Errorf("got another than was created:\n%s", diff)
	}
	stale := got.DeepCopy()
	got.Spec.Containers[0].Image = "j"
	got.Status.Phase = corev1.PodFailed
	updated := must[*corev1.Pod](t)(pods.Update(ctx, got, metav1.UpdateOptions{}))
	if updated.Spec.Containers[0].Image != "j" || updated.Status.Phase != "" ||
		updated.ResourceVersion == created.ResourceVersion {
		t.Errorf("updated %+v, want the new image, no status, a new version", updated)
	}
	again := must[*corev1.Pod](t)(pods.Update(ctx, updated, metav1.UpdateOptions{}))
	if again.ResourceVersion != updated.ResourceVersion {
		t.Errorf("an update of nothing made version %s of %s", again.ResourceVersion,
			updated.ResourceVersion)
	}
	stale.Labels = nil
	if _, err := pods.Update(ctx, stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("update from an old version: %v, want a conflict", err)
	}
	stale.ResourceVersion = ""
	must[*corev1.Pod](t)(pods.Update(ctx, stale, metav1.UpdateOptions{}))
	updated.Status.Phase = corev1.PodRunning
	updated.ResourceVersion = ""
	updated.Spec.NodeName = "elsewhere"
	status := must[*corev1.Pod](t)(pods.UpdateStatus(ctx, updated, metav1.UpdateOptions{}))
	if status.Status.Phase != corev1.PodRunning || status.Spec.NodeName != "n" ||
		len(status.Labels) != 0 {
		t.Errorf("after UpdateStatus %+v, want the phase and nothing else", status)
	}
	patched := must[*corev1.Pod](t)(
		pods.Patch(ctx, created.Name, types.StrategicMergePatchType,
			[]byte(`{"spec":{"containers":[{"name":"d","image":"k"}]}}`), metav1.PatchOptions{}))
	if len(patched.Spec.Containers) != 2 {
		t.Errorf("%d containers after the strategic patch, want 2", len(patched.Spec.Containers))
	}
	patched = must[*corev1.Pod](t)(
		pods.Patch(ctx, created.Name, types.MergePatchType,
			[]byte(`{"status":{"phase":"Failed","message":"m"}}`), metav1.PatchOptions{}, "status"))
	if patched.Status.Phase != corev1.PodFailed || len(patched.Spec.Containers) != 2 {
		t.Errorf("after the merge patch of the status %+v", patched)
	}
	wrong := types.UID("other")
	if err := pods.Delete(ctx, created.Name,
		metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &wrong}}); !apierrors.IsConflict(
		err) {
		t.Errorf("deletion of another UID: %v, want a conflict", err)
	}
	if err := pods.Delete(ctx, created.Name,
		metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &created.UID,
				ResourceVersion: &patched.ResourceVersion}}); err != nil {
		t.Error(err)
	}
	if err := pods.Delete(ctx, created.Name, metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("deletion of nothing: %v, want NotFound", err)
	}
	if err := pods.DeleteCollection(ctx, metav1.DeleteOptions{},
		metav1.ListOptions{FieldSelector: "metadata.name=pod-000000"}); err != nil {
		t.Error(err)
	}
	var seen []string
	for range 8 {
		e := <-w.ResultChan()
		seen = append(seen, string(e.Type))
	}
	if want := "ADDED MODIFIED MODIFIED MODIFIED MODIFIED MODIFIED DELETED DELETED"; strings.Join(seen,
		" ") != want {
		t.Errorf("the watch saw %v, want %s", seen, want)
	}
	if n := len(f.pods.Snapshot()); n != 19 {
		t.Errorf("%d pods left, want 19 of 20: pods of other namespaces are not touched", n)
	}
}

// TestDynamicClient does the same for a resource without a Go type.
func TestDynamicClient(t *testing.T) {
	t.Parallel()
	f := start(t, nil, Options{}, synthetic.SourceOptions{})
	config := f.RESTConfig()
	h := must[*http.Client](t)(newHTTPClient(t, config))
	c := must[*dynamic.DynamicClient](t)(dynamic.NewForConfigAndClient(config, h)).Resource(widgets)
	ctx := within(t)
	in := c.Namespace("a")

	w := must[*unstructured.Unstructured](t)(
		in.Create(ctx, widget("a", "one", 1<<60), metav1.CreateOptions{}))
	if w.GetUID() == "" || w.GetResourceVersion() == "" || w.GetKind() != "Widget" {
		t.Errorf("created %v, want a kind, a UID and a version", w)
	}
	must[*unstructured.Unstructured](t)(in.Create(ctx, widget("a", "two", 2), metav1.CreateOptions{}))
	must[*unstructured.Unstructured](t)(
		c.Namespace("b").Create(ctx, widget("b", "one", 3), metav1.CreateOptions{}))
	if l := must[*unstructured.UnstructuredList](t)(c.List(ctx, metav1.ListOptions{})); len(
		l.Items) != 3 || l.GetKind() != "WidgetList" ||
		l.GetResourceVersion() != f.widgets.ResourceVersion() {
		t.Errorf("listed %d of kind %s at %s, want 3 of WidgetList at %s", len(l.Items), l.GetKind(),
			l.GetResourceVersion(), f.widgets.ResourceVersion())
	}
	if l := must[*unstructured.UnstructuredList](t)(in.List(ctx, metav1.ListOptions{Limit: 1})); len(
		l.Items) != 1 || l.GetContinue() == "" {
		t.Errorf("a page of %d with the token %q, want 1 and one", len(l.Items), l.GetContinue())
	}
	w = must[*unstructured.Unstructured](t)(
		in.Patch(ctx, "one", types.MergePatchType,
			[]byte(`{"spec":{"color":"red"},"status":{"lost":true}}`), metav1.PatchOptions{}))
	if size, _, _ := unstructured.NestedInt64(w.Object, "spec", "size"); size != 1<<60 {
		t.Errorf("the patch made the size %d of %d", size, int64(1)<<60)
	}
	if _, found := w.Object["status"]; found {
		t.Errorf("a patch of the main resource wrote the status: %v", w)
	}
	w.Object["status"] = map[string]any{"ready": true}
	w.Object["spec"] = map[string]any{"size": int64(0)}
	w = must[*unstructured.Unstructured](t)(in.UpdateStatus(ctx, w, metav1.UpdateOptions{}))
	if size, _, _ := unstructured.NestedInt64(w.Object, "spec", "size"); size != 1<<60 {
		t.Errorf("UpdateStatus changed the spec: %v", w)
	}
	if ready, _, _ := unstructured.NestedBool(w.Object, "status", "ready"); !ready {
		t.Errorf("UpdateStatus did not write: %v", w)
	}
	_, err := in.Patch(ctx, "one", types.StrategicMergePatchType, []byte(`{}`), metav1.PatchOptions{})
	if !apierrors.IsUnsupportedMediaType(err) {
		t.Errorf("a strategic patch without Go type: %v, want 415", err)
	}
	_, err = in.Create(
		ctx, &unstructured.Unstructured{
			Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Gadget",
				"metadata": map[string]any{"name": "x"}}}, metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) {
		t.Errorf("another kind: %v, want 422", err)
	}
	if err := in.Delete(ctx, "one", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if err := in.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
	if left := f.widgets.Snapshot(); len(left) != 1 || left["b/one"] == nil {
		t.Errorf("left %v, want b/one", left)
	}
}

// TestMetadataClient reads metadata alone, of typed and of unstructured objects.
func TestMetadataClient(t *testing.T) {
	t.Parallel()
	f := start(t, somePods(10), Options{}, synthetic.SourceOptions{})
	must[runtime.Object](t)(f.widgets.Create(widget("a", "one", 1)))
	config := f.RESTConfig()
	h := must[*http.Client](t)(newHTTPClient(t, config))
	c := must[metadata.Interface](t)(metadata.NewForConfigAndClient(metadata.ConfigFor(config), h))
	ctx := within(t)
	for gvr, want := range map[schema.GroupVersionResource]int{Pods: 10, widgets: 1, Nodes: 3} {
		l, err := c.Resource(gvr).List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Items) != want || l.Items[0].Name == "" || l.Items[0].ResourceVersion == "" {
			t.Errorf("%s: %d items, the first %+v; want %d with metadata", gvr.Resource, len(l.Items),
				l.Items[:1], want)
		}
		one := l.Items[0]
		p, err := c.Resource(gvr).Namespace(one.Namespace).Get(ctx, one.Name, metav1.GetOptions{})
		if err != nil || p.Name != one.Name || p.UID != one.UID {
			t.Errorf("%s: got %v, %v", gvr.Resource, p, err)
		}
		w, err := c.Resource(gvr).Watch(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		e := <-w.ResultChan()
		if m, ok := e.Object.(*metav1.PartialObjectMetadata); !ok || m.Name != one.Name {
			t.Errorf("%s: the watch gave %+v, want the metadata of %s", gvr.Resource, e, one.Name)
		}
		w.Stop()
	}
}

// TestDiscovery queries the server's resources, as kubectl and RESTMappers do.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	f := start(t, nil, Options{}, synthetic.SourceOptions{})
	config := f.RESTConfig()
	h := must[*http.Client](t)(newHTTPClient(t, config))
	d := must[*discovery.DiscoveryClient](t)(discovery.NewDiscoveryClientForConfigAndClient(config, h))
	for _, legacy := range []bool{false, true} {
		d.UseLegacyDiscovery = legacy
		groups, lists, err := d.ServerGroupsAndResources()
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, l := range lists {
			for _, r := range l.APIResources {
				have = append(have, fmt.Sprintf("%s/%s %s %v", l.GroupVersion, r.Name, r.Kind, r.Namespaced))
			}
		}
		slices.Sort(have)
		want := []string{
			"example.com/v1/widgets Widget true", "example.com/v1/widgets/status Widget true",
			"v1/nodes Node false", "v1/nodes/status Node false", "v1/pods Pod true",
			"v1/pods/status Pod true",
		}
		if !slices.Equal(have, want) || len(groups) != 2 {
			t.Errorf("legacy %v: %d groups with\n%s\nwant 2 with\n%s", legacy, len(groups),
				strings.Join(have, "\n"), strings.Join(want, "\n"))
		}
	}
	v, err := d.ServerVersion()
	if err != nil || v.Major != "1" {
		t.Errorf("version %v, %v", v, err)
	}
	if _, err := d.ServerResourcesForGroupVersion("nowhere/v1"); !apierrors.IsNotFound(err) {
		t.Errorf("an unknown group: %v, want 404", err)
	}
	mapper := must[meta.RESTMapper](t)(apiutil.NewDynamicRESTMapper(config, h))
	m, err := mapper.RESTMapping(schema.GroupKind{Group: "example.com", Kind: "Widget"})
	if err != nil || m.Resource != widgets || m.Scope.Name() != "namespace" {
		t.Errorf("controller-runtime maps Widget to %+v, %v", m, err)
	}
}

// TestControllerRuntimeClient makes the calls of a reconciler.
func TestControllerRuntimeClient(t *testing.T) {
	t.Parallel()
	f := start(t, nil, Options{TLS: true}, synthetic.SourceOptions{})
	config := f.RESTConfig()
	h := must[*http.Client](t)(newHTTPClient(t, config))
	c := must[client.Client](t)(
		client.New(config, client.Options{Scheme: scheme.Scheme, HTTPClient: h}))
	ctx := within(t)
	pod := smallPod("a", "one")
	pod.Finalizers = []string{"example.com/hold"}
	pod.Labels = map[string]string{"app": "x"}
	if err := c.Create(ctx, pod); err != nil {
		t.Fatal(err)
	}
	for _, patch := range []client.Patch{client.MergeFrom(pod.DeepCopy()),
		client.StrategicMergeFrom(pod.DeepCopy())} {
		pod.Annotations = map[string]string{fmt.Sprintf("a-%s", pod.ResourceVersion): "b"}
		before := pod.ResourceVersion
		if err := c.Patch(ctx, pod, patch); err != nil || pod.ResourceVersion == before {
			t.Errorf("%s: %v, version %s then %s", patch.Type(), err, before, pod.ResourceVersion)
		}
	}
	stale := pod.DeepCopy()
	pod.Status.Phase = corev1.PodRunning
	if err := c.Status().Update(ctx, pod); err != nil {
		t.Fatal(err)
	}
	stale.Labels = map[string]string{"app": "y"}
	if err := c.Update(ctx, stale); !apierrors.IsConflict(err) {
		t.Errorf("update from an old version: %v, want a conflict", err)
	}
	if err := c.Patch(ctx, pod.DeepCopy(),
		client.MergeFromWithOptions(stale.DeepCopy(),
			client.MergeFromWithOptimisticLock{})); !apierrors.IsConflict(err) {
		t.Errorf("a patch with the lock of an old version: %v, want a conflict", err)
	}
	if err := c.Delete(ctx, pod); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil ||
		pod.DeletionTimestamp == nil {
		t.Fatalf("a pod with a finalizer: %v, deleted at %v; want it there and on its way", err,
			pod.DeletionTimestamp)
	}
	var list corev1.PodList
	if err := c.List(ctx, &list, client.InNamespace("a"), client.MatchingLabels{"app": "x"},
		client.MatchingFields{"status.phase": "Running"}); err != nil || len(list.Items) != 1 {
		t.Errorf("selected %d pods, %v; want 1", len(list.Items), err)
	}
	pod.Finalizers = nil
	if err := c.Update(ctx, pod); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(pod), pod); !apierrors.IsNotFound(err) {
		t.Errorf("without finalizers: %v, want it gone", err)
	}
	if err := c.DeleteAllOf(ctx, &corev1.Node{}, client.MatchingLabels{"no": "such"}); err != nil ||
		len(f.nodes.Snapshot()) != 3 {
		t.Errorf("deleting none: %v, %d nodes left of 3", err, len(f.nodes.Snapshot()))
	}
	if err := c.DeleteAllOf(ctx, &corev1.Node{}); err != nil || len(f.nodes.Snapshot()) != 0 {
		t.Errorf("deleting all: %v, %d nodes left", err, len(f.nodes.Snapshot()))
	}
}

// TestAnUpdateOfATerminatingPod: a recorded pod that waits for its kubelet is still there after
// an update, and a DELETE of a client takes it away.
func TestAnUpdateOfATerminatingPod(t *testing.T) {
	t.Parallel()
	pod := smallPod("a", "one")
	since, grace := metav1.Now(), int64(30)
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &since, &grace
	f := start(t, []runtime.Object{pod}, Options{}, synthetic.SourceOptions{})
	config := f.RESTConfig()
	h := must[*http.Client](t)(newHTTPClient(t, config))
	c := must[client.Client](t)(
		client.New(config, client.Options{Scheme: scheme.Scheme, HTTPClient: h}))
	ctx := within(t)
	var got corev1.Pod
	if err := c.Get(ctx, client.ObjectKeyFromObject(pod), &got); err != nil {
		t.Fatal(err)
	}
	got.Labels = map[string]string{"app": "x"}
	if err := c.Update(ctx, &got); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(pod), &got); err != nil ||
		got.Labels["app"] != "x" {
		t.Errorf("after an update: %v, labels %v", err, got.Labels)
	}
	if err := c.Delete(ctx, &got); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(pod), &got); !apierrors.IsNotFound(err) {
		t.Errorf("after a DELETE: %v, want it gone", err)
	}
}
