package apiserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/informerbench/informerbench/load/synthetic"
)

// collect reads events as text until it has n, or the watch ends.
func collect(t *testing.T, w watch.Interface, n int) []string {
	t.Helper()
	defer w.Stop()
	var got []string
	for len(got) < n {
		select {
		case e, open := <-w.ResultChan():
			if !open {
				return append(got, "end")
			}
			got = append(got, text(e))
		case <-time.After(patience):
			t.Fatalf("only %v after %v", got, patience)
		}
	}
	return got
}

func text(e watch.Event) string {
	if status, ok := e.Object.(*metav1.Status); ok {
		return fmt.Sprintf("%s %d", e.Type, status.Code)
	}
	m := synthetic.Accessor(e.Object)
	s := fmt.Sprintf("%s %s@%s", e.Type, m.GetName(), m.GetResourceVersion())
	if m.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
		s += " initial"
	}
	return s
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("saw  %s\nwant %s", strings.Join(got, ", "), strings.Join(want, ", "))
	}
}

// onNode makes a pod on a node.
func onNode(name, node string) *corev1.Pod {
	p := smallPod("a", name)
	p.Spec.NodeName = node
	return p
}

// TestWatch checks the events of a watch, in each encoding that streams.
func TestWatch(t *testing.T) {
	t.Parallel()
	for name, form := range forms() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t, nil, Options{}, synthetic.SourceOptions{BookmarkEvery: time.Millisecond})
			pods := clientset(t, form(f.RESTConfig())).CoreV1().Pods("")
			ctx := within(t)
			open := func(o metav1.ListOptions) watch.Interface {
				return must[watch.Interface](t)(pods.Watch(ctx, o))
			}
			must[runtime.Object](t)(f.pods.Create(onNode("p", "n1"))) // version 2
			must[runtime.Object](t)(f.pods.Create(onNode("q", "n2")))
			must[runtime.Object](t)(f.pods.Update(onNode("p", "n2")))
			must[runtime.Object](t)(f.pods.Update(onNode("p", "n1")))
			must[runtime.Object](t)(f.pods.Delete("a/p")) // version 6

			same(t, collect(t, open(metav1.ListOptions{ResourceVersion: "1"}), 5),
				"ADDED p@2", "ADDED q@3", "MODIFIED p@4", "MODIFIED p@5", "DELETED p@6")
			same(t, collect(t, open(
				metav1.ListOptions{ResourceVersion: "1", FieldSelector: "spec.nodeName=n1"}), 4),
				"ADDED p@2", "DELETED p@4", "ADDED p@5", "DELETED p@6")
			same(t, collect(t, open(
				metav1.ListOptions{ResourceVersion: "1", FieldSelector: "spec.nodeName!=n1,metadata.name=p"}),
				2),
				"ADDED p@4", "DELETED p@5")
			same(t, collect(t, open(metav1.ListOptions{}), 1), "ADDED q@3")
			same(t, collect(t, open(metav1.ListOptions{ResourceVersion: "6", AllowWatchBookmarks: true}), 1),
				"BOOKMARK @6")
			same(t, collect(t, open(
				metav1.ListOptions{SendInitialEvents: ptr.To(true), AllowWatchBookmarks: true,
					ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}), 2), "ADDED q@3",
				"BOOKMARK @6 initial")
			same(t, collect(t, open(
				metav1.ListOptions{ResourceVersion: "6", TimeoutSeconds: ptr.To[int64](1)}), 1), "end")
		})
	}
}

// TestWatchesOfOneNamespace does the same for a path with a namespace.
func TestWatchesOfOneNamespace(t *testing.T) {
	t.Parallel()
	f := start(t, nil, Options{}, synthetic.SourceOptions{})
	pods := clientset(t, f.RESTConfig()).CoreV1().Pods("b")
	must[runtime.Object](t)(f.pods.Create(smallPod("a", "p")))
	must[runtime.Object](t)(f.pods.Create(smallPod("b", "p")))
	w := must[watch.Interface](t)(pods.Watch(within(t), metav1.ListOptions{ResourceVersion: "1"}))
	same(t, collect(t, w, 1), "ADDED p@3")
}

// TestExpired: an expired version gets 410, in the stream of a watch and for a list.
func TestExpired(t *testing.T) {
	t.Parallel()
	f := start(t, somePods(3), Options{},
		synthetic.SourceOptions{Window: 1, FreshWait: time.Millisecond})
	for range 3 {
		must[runtime.Object](t)(f.pods.Update(somePods(1)[0]))
	}
	pods := clientset(t, f.RESTConfig()).CoreV1().Pods("")
	same(t, collect(t, must[watch.Interface](t)(
		pods.Watch(within(t), metav1.ListOptions{ResourceVersion: "3"})), 2), "ERROR 410", "end")
	_, err := pods.List(within(t),
		metav1.ListOptions{ResourceVersion: "3", ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	if !apierrors.IsResourceExpired(err) {
		t.Errorf("a list of the past: %v, want 410 Expired", err)
	}
	// Not by client-go, which asks ten times, a second apart.
	req := must[*http.Request](t)(
		http.NewRequestWithContext(within(t), http.MethodGet, f.URL()+"/api/v1/pods?resourceVersion=1000",
			nil))
	if code, status := ask(t, req); code != http.StatusGatewayTimeout ||
		!apierrors.HasStatusCause(apierrors.FromObject(&status),
			metav1.CauseTypeResourceVersionTooLarge) {
		t.Errorf("a list of the future: %d %+v, want too large", code, status)
	}
}

// TestPages lists page by page while objects change: every page is of one version.
func TestPages(t *testing.T) {
	t.Parallel()
	for name, form := range forms() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t, somePods(25), Options{}, synthetic.SourceOptions{})
			pods := clientset(t, form(f.RESTConfig())).CoreV1().Pods("")
			o := metav1.ListOptions{Limit: 10}
			seen := map[string]bool{}
			for pages := 1; ; pages++ {
				l := must[*corev1.PodList](t)(pods.List(within(t), o))
				for _, p := range l.Items {
					seen[p.Namespace+"/"+p.Name] = true
				}
				if l.ResourceVersion != "25" {
					t.Errorf("page %d is of version %s, want 25", pages, l.ResourceVersion)
				}
				if l.Continue == "" {
					break
				}
				if want := int64(25 - 10*pages); l.RemainingItemCount == nil || *l.RemainingItemCount != want {
					t.Errorf("page %d leaves %v, want %d", pages, l.RemainingItemCount, want)
				}
				o.Continue = l.Continue
				must[runtime.Object](t)(f.pods.Delete(synthetic.Key(&l.Items[0])))
			}
			if len(seen) != 25 {
				t.Errorf("%d pods seen, want 25", len(seen))
			}
		})
	}
}

// TestEventsAreEncodedOnce opens watches of two forms, several of each.
func TestEventsAreEncodedOnce(t *testing.T) {
	t.Parallel()
	f := start(t, somePods(5), Options{}, synthetic.SourceOptions{})
	const each, events = 4, 50
	var watches []watch.Interface
	for _, name := range []string{"json", "protobuf"} {
		pods := clientset(t, forms()[name](f.RESTConfig())).CoreV1().Pods("")
		for range each {
			watches = append(
				watches, must[watch.Interface](t)(
					pods.Watch(within(t), metav1.ListOptions{ResourceVersion: "5"})))
		}
	}
	pod := somePods(1)[0]
	for range events {
		must[runtime.Object](t)(f.pods.Update(pod))
	}
	var first []string
	for i, w := range watches {
		got := collect(t, &keepOpen{w}, events)
		if i == 0 {
			first = got
		}
		same(t, got, first...)
	}
	if s := f.Stats(); s.Events != 2*each*events || s.Encoded != 2*events || s.Watches != 2*each {
		t.Errorf("%+v, want %d events sent, %d encoded, %d watches", s, 2*each*events, 2*events, 2*each)
	}
	for _, w := range watches {
		w.Stop()
	}
	eventually(t, "no watch open", func() bool { return f.Stats().Watches == 0 })
}

type keepOpen struct{ watch.Interface }

func (keepOpen) Stop() {}

// TestRefused checks the errors of requests that cannot be answered.
func TestRefused(t *testing.T) {
	t.Parallel()
	f := start(t, somePods(3), Options{}, synthetic.SourceOptions{})
	for _, c := range []struct {
		method, path, accept, contentType, body string
		code                                    int
		want                                    []string
	}{
		{method: "GET", path: "/api/v1/secrets", code: 404,
			want: []string{"could not find", "v1/pods", "example.com/v1/widgets"}},
		{method: "GET", path: "/apis/example.com/v2/widgets", code: 404,
			want: []string{"could not find"}},
		{method: "GET", path: "/openapi/v2", code: 404, want: []string{"NotFound"}},
		{method: "GET", path: "/", code: 404, want: []string{"NotFound"}},
		{method: "GET", path: "/api/v1/namespaces/ns-00/nodes", code: 404,
			want: []string{"could not find"}},
		{method: "GET", path: "/api/v1/pods/x", code: 404, want: []string{"could not find"}},
		{method: "GET", path: "/api/v1/namespaces/ns-00/pods/x/log", code: 404,
			want: []string{"could not find"}},
		{method: "GET", path: "/api/v1/namespaces/ns-00/pods/x", code: 404,
			want: []string{`pods \"x\" not found`}},
		{method: "GET", path: "/api/v1/pods?fieldSelector=status.hostIP%3Dx", code: 400,
			want: []string{"status.hostIP", "metadata.name", "metadata.namespace", "spec.nodeName"}},
		{method: "GET", path: "/api/v1/pods?fieldSelector=x", code: 400,
			want: []string{"field selector"}},
		{method: "GET", path: "/api/v1/pods?labelSelector=%21%21", code: 400,
			want: []string{"label selector"}},
		{method: "GET", path: "/api/v1/pods?limit=many", code: 400, want: []string{"limit=many"}},
		{method: "GET", path: "/api/v1/pods?continue=x", code: 400, want: []string{"continue"}},
		{method: "GET", path: "/api/v1/pods?resourceVersion=x", code: 400,
			want: []string{"resource version"}},
		{method: "GET", path: "/api/v1/pods?watch=1&sendInitialEvents=true", code: 422,
			want: []string{"resourceVersionMatch"}},
		{method: "GET", path: "/api/v1/pods", accept: "text/html", code: 406,
			want: []string{"text/html", "application/json"}},
		{method: "GET", path: "/api/v1/pods?watch=1", accept: "application/yaml", code: 406,
			want: []string{"application/json"}},
		{method: "GET", path: "/apis/example.com/v1/widgets", accept: runtime.ContentTypeProtobuf,
			code: 406, want: []string{"application/json"}},
		{method: "POST", path: "/api/v1/namespaces/a/pods", accept: "text/html",
			body: `{"metadata":{"name":"x"}}`, code: 406, want: []string{"text/html"}},
		{method: "PUT", path: "/api/v1/pods", code: 405, want: []string{"MethodNotAllowed"}},
		{method: "POST", path: "/api/v1/pods", body: `{}`, code: 405, want: []string{"MethodNotAllowed"}},
		{method: "POST", path: "/api/v1/namespaces/a/pods", body: `{`, code: 400,
			want: []string{"unrecognized"}},
		{method: "POST", path: "/api/v1/namespaces/a/pods", body: `{"kind":"Node","apiVersion":"v1"}`,
			code: 400, want: []string{"Node", "Pod"}},
		{method: "POST", path: "/api/v1/namespaces/a/pods",
			body: `{"metadata":{"name":"x","namespace":"b"}}`, code: 400, want: []string{"namespace"}},
		{method: "POST", path: "/api/v1/namespaces/a/pods", body: `{"metadata":{}}`, code: 422,
			want: []string{"metadata.name", "generateName"}},
		{method: "POST", path: "/api/v1/namespaces/a/pods", body: `{"metadata":{"name":"a/b"}}`,
			code: 422, want: []string{"metadata.name"}},
		{method: "POST", path: "/api/v1/namespaces/a/pods",
			body: `{"metadata":{"name":"x","resourceVersion":"3"}}`, code: 400,
			want: []string{"resourceVersion"}},
		{method: "POST", path: "/api/v1/namespaces/a/pods?dryRun=Some", body: `{"metadata":{"name":"x"}}`,
			code: 422, want: []string{"dryRun", "All"}},
		{method: "POST", path: "/api/v1/namespaces/a/pods", contentType: "text/plain", body: `x`,
			code: 415, want: []string{"text/plain", "application/json"}},
		{method: "POST", path: "/apis/example.com/v1/namespaces/a/widgets",
			contentType: runtime.ContentTypeProtobuf, body: `x`, code: 415,
			want: []string{"application/json"}},
		{method: "POST", path: "/api/v1/namespaces/a/pods", body: strings.Repeat("x", maxBody+1),
			code: 413, want: []string{"limit"}},
		{method: "PUT", path: "/api/v1/namespaces/a/pods/x", body: `{"metadata":{"name":"y"}}`, code: 400,
			want: []string{"name"}},
		{method: "PATCH", path: "/api/v1/namespaces/ns-00/pods/pod-000000",
			contentType: "application/apply-patch+yaml", body: `{}`, code: 415,
			want: []string{"application/merge-patch+json"}},
		{method: "PATCH", path: "/api/v1/namespaces/ns-00/pods/pod-000000",
			contentType: "application/merge-patch+json", body: `[]`, code: 400, want: []string{"patch"}},
		{method: "PATCH", path: "/api/v1/namespaces/ns-00/pods/pod-000000",
			contentType: "application/merge-patch+json", body: `{"metadata":{"name":"z"}}`, code: 400,
			want: []string{"name"}},
		{method: "DELETE", path: "/api/v1/namespaces/ns-00/pods/pod-000000", body: `x`, code: 400,
			want: []string{"delete options"}},
	} {
		req := must[*http.Request](t)(
			http.NewRequestWithContext(within(t), c.method, f.URL()+c.path, strings.NewReader(c.body)))
		if c.accept != "" {
			req.Header.Set("Accept", c.accept)
		}
		if c.contentType == "" {
			c.contentType = runtime.ContentTypeJSON
		}
		req.Header.Set("Content-Type", c.contentType)
		code, status := ask(t, req)
		if code != c.code || int(status.Code) != c.code || status.Kind != "Status" ||
			status.APIVersion != "v1" || status.Status != metav1.StatusFailure {
			t.Errorf("%s %s: %d with %+v, want %d with a Status", c.method, c.path, code, status, c.code)
		}
		encoded := string(must[[]byte](t)(json.Marshal(status)))
		for _, w := range c.want {
			if !strings.Contains(encoded, w) {
				t.Errorf("%s %s: the answer does not say %s: %s", c.method, c.path, w, encoded)
			}
		}
	}
	if v := f.pods.ResourceVersion(); v != "3" {
		t.Errorf("version %s, want 3: nothing was written", v)
	}
}

// ask sends a request and reads the answer as a Status.
func ask(t *testing.T, req *http.Request) (int, metav1.Status) {
	t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	res, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		t.Fatal(err)
	}
	obj, _, err := scheme.Codecs.UniversalDeserializer().Decode(data, nil, nil)
	status, ok := obj.(*metav1.Status)
	if !ok {
		t.Fatalf("%s %s: the answer is no Status: %v: %s", req.Method, req.URL, err, data)
	}
	return res.StatusCode, *status
}

// TestRESTClient reads with the REST client, the basis of the others.
func TestRESTClient(t *testing.T) {
	t.Parallel()
	f := start(t, somePods(5), Options{}, synthetic.SourceOptions{})
	config := forms()["protobuf"](f.RESTConfig())
	config.APIPath, config.GroupVersion, config.NegotiatedSerializer = "/api",
		&schema.GroupVersion{Version: "v1"}, scheme.Codecs.WithoutConversion()
	h := must[*http.Client](t)(newHTTPClient(t, config))
	c := must[*rest.RESTClient](t)(rest.RESTClientForConfigAndClient(config, h))
	var contentType string
	var l corev1.PodList
	if err := c.Get().Resource("pods").Do(within(t)).ContentType(&contentType).Into(&l); err != nil ||
		len(l.Items) != 5 || contentType != runtime.ContentTypeProtobuf {
		t.Errorf("%d pods as %s, %v; want 5 as Protobuf", len(l.Items), contentType, err)
	}
	var n corev1.Node
	if err := c.Get().Resource("nodes").Name("node-00001").Do(context.Background()).Into(
		&n); err != nil || n.Name != "node-00001" {
		t.Errorf("node %q, %v", n.Name, err)
	}
}

// TestFrameIsAWatchEvent decodes a frame, which is written by hand, and checks that the
// source's object is unchanged.
func TestFrameIsAWatchEvent(t *testing.T) {
	t.Parallel()
	f := start(t, somePods(1), Options{}, synthetic.SourceOptions{})
	m := f.plain()
	r := f.resources[Pods]
	obj, _ := f.pods.Get("ns-00/pod-000000")
	data, err := f.frame(&bytes.Buffer{}, r, m, watch.Event{Type: watch.Modified, Object: obj})
	if err != nil {
		t.Fatal(err)
	}
	var e metav1.WatchEvent
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	var head struct {
		Kind, APIVersion string
	}
	if err := json.Unmarshal(e.Object.Raw, &head); err != nil || e.Type != "MODIFIED" ||
		head.Kind != "Pod" || head.APIVersion != "v1" {
		t.Errorf("%s: %v, %+v", data, err, head)
	}
	if obj.GetObjectKind().GroupVersionKind().Kind != "" {
		t.Error("encoding changed the source's object")
	}
}
