package apiserver

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/restmapper"
	"k8s.io/utils/ptr"

	"github.com/informerbench/informerbench/load/synthetic"
)

// The requests of kubectl that client-go's clients do not send, for machines without
// kubectl.

// answer is the answer to a request, with its body read to the end.
type answer struct {
	code   int
	header http.Header
	body   []byte
}

// request sends a request; headers are pairs.
func request(t *testing.T, method, url, body string, headers ...string) answer {
	t.Helper()
	req := must[*http.Request](t)(
		http.NewRequestWithContext(within(t), method, url, strings.NewReader(body)))
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	res := must[*http.Response](t)(
		(&http.Client{Transport: transport}).Do(req)) //nolint:bodyclose // it is closed below
	data, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, data}
}

// acceptTable is the Accept header of kubectl get.
const acceptTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"

func tableFrom(t *testing.T, data []byte) metav1.Table {
	t.Helper()
	var table metav1.Table
	if err := json.Unmarshal(data, &table); err != nil || table.Kind != "Table" ||
		table.APIVersion != "meta.k8s.io/v1" {
		t.Fatalf("%v: no table: %.200s", err, data)
	}
	return table
}

func columnNames(table metav1.Table) (names []string) {
	for _, c := range table.ColumnDefinitions {
		names = append(names, c.Name)
	}
	return names
}

// runningPod has a ready container and one in CrashLoopBackOff.
func runningPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p"},
		Spec: corev1.PodSpec{NodeName: "n",
			Containers: []corev1.Container{{Name: "c"}, {Name: "d"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1",
			ContainerStatuses: []corev1.ContainerStatus{
				{Name: "c", Ready: true, RestartCount: 2,
					State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
				{Name: "d", State: corev1.ContainerState{
					Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}},
			}},
	}
}

// TestTables reads lists, objects and watches as tables, of typed and of recorded pods.
func TestTables(t *testing.T) {
	t.Parallel()
	f := start(t, []runtime.Object{runningPod(), smallPod("b", "q"), smallPod("b", "r")}, Options{},
		synthetic.SourceOptions{})
	recorded := must[map[string]any](t)(
		runtime.DefaultUnstructuredConverter.ToUnstructured(runningPod()))
	recorded["apiVersion"], recorded["kind"] = "v1", "Pod"
	other := synthetic.NewSource([]runtime.Object{&unstructured.Unstructured{Object: recorded}},
		synthetic.SourceOptions{})
	t.Cleanup(other.Stop)
	replayed := must[*Server](t)(
		New(map[schema.GroupVersionResource]*synthetic.Source{Pods: other}, Options{}))
	if err := replayed.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(replayed.Stop)
	want := []any{"p", "1/2", "CrashLoopBackOff", "2", "<unknown>", "n"}
	for _, url := range []string{f.URL(), replayed.URL()} {
		table := tableFrom(
			t, request(t, "GET", url+"/api/v1/namespaces/a/pods", "", "Accept", acceptTable).body)
		if got := strings.Join(columnNames(table),
			","); got != "Name,Ready,Status,Restarts,Age,Node" {
			t.Errorf("columns %s", got)
		}
		if len(table.Rows) != 1 {
			t.Fatalf("%d rows, want 1", len(table.Rows))
		}
		if diff := cmp.Diff(want, table.Rows[0].Cells); diff != "" {
			t.Errorf("the cells: %s", diff)
		}
		one := tableFrom(t, request(t, "GET", url+"/api/v1/namespaces/a/pods/p", "", "Accept",
			acceptTable).body)
		if diff := cmp.Diff(table.Rows, one.Rows); diff != "" {
			t.Errorf("the pod alone has another row: %s", diff)
		}
	}
	page := tableFrom(t, request(t, "GET", f.URL()+"/api/v1/pods?limit=2", "", "Accept",
		acceptTable).body)
	if len(page.Rows) != 2 || page.Continue == "" ||
		page.ResourceVersion != f.pods.ResourceVersion() || ptr.Deref(page.RemainingItemCount, 0) != 1 {
		t.Errorf("a page of %d rows, %+v", len(page.Rows), page.ListMeta)
	}
	nodes := tableFrom(t, request(t, "GET", f.URL()+"/api/v1/nodes", "", "Accept", acceptTable).body)
	if len(nodes.Rows) != 3 || nodes.Rows[0].Cells[0] != "node-00000" ||
		nodes.Rows[0].Cells[1] != "Ready" {
		t.Errorf("nodes: %+v", nodes.Rows)
	}
	must[runtime.Object](t)(f.widgets.Create(widget("a", "w", 3)))
	widgets := tableFrom(
		t, request(t, "GET", f.URL()+"/apis/example.com/v1/widgets", "", "Accept", acceptTable).body)
	if got := strings.Join(columnNames(widgets), ","); got != "Name,Age" || len(widgets.Rows) != 1 ||
		widgets.Rows[0].Cells[0] != "w" {
		t.Errorf("widgets: %s, %+v", got, widgets.Rows)
	}
}

// TestTableObjects: rows contain the requested part of their object.
func TestTableObjects(t *testing.T) {
	t.Parallel()
	f := start(t, []runtime.Object{runningPod()}, Options{}, synthetic.SourceOptions{})
	for policy, want := range map[string]struct{ kind, node string }{
		"": {"PartialObjectMetadata", ""}, "Metadata": {"PartialObjectMetadata", ""},
		"Object": {"Pod", "n"}, "None": {},
	} {
		table := tableFrom(
			t, request(t, "GET", f.URL()+"/api/v1/pods?includeObject="+policy, "", "Accept",
				acceptTable).body)
		var pod corev1.Pod
		if raw := table.Rows[0].Object.Raw; len(raw) > 0 && string(raw) != "null" {
			if err := json.Unmarshal(raw, &pod); err != nil {
				t.Fatal(err)
			}
		}
		if pod.Kind != want.kind || pod.Spec.NodeName != want.node || want.kind != "" && pod.Name != "p" {
			t.Errorf("%q: a row has a %s %q of node %q, want %+v", policy, pod.Kind, pod.Name,
				pod.Spec.NodeName, want)
		}
	}
	if got := request(t, "GET", f.URL()+"/api/v1/pods?includeObject=Some", "", "Accept",
		acceptTable); got.code != 400 || !strings.Contains(string(got.body), "Metadata") {
		t.Errorf("includeObject=Some: %d %s, want 400 that says which there are", got.code, got.body)
	}
	if got := request(t, "GET", f.URL()+"/api/v1/pods", "", "Accept",
		runtime.ContentTypeProtobuf+";as=Table;v=v1;g=meta.k8s.io"); got.code != 406 {
		t.Errorf("a table as Protobuf: %d, want 406: there is none", got.code)
	}
}

// TestTableWatch: several clients watch tables and one watches whole objects, with the same
// events.
func TestTableWatch(t *testing.T) {
	t.Parallel()
	f := start(t, []runtime.Object{runningPod()}, Options{}, synthetic.SourceOptions{})
	var streams []*json.Decoder
	for _, accept := range []string{acceptTable, acceptTable, runtime.ContentTypeJSON} {
		req := must[*http.Request](t)(
			http.NewRequestWithContext(within(t), http.MethodGet,
				f.URL()+"/api/v1/pods?watch=1&includeObject=Object&resourceVersion="+f.pods.ResourceVersion(),
				nil))
		req.Header.Set("Accept", accept)
		transport := &http.Transport{}
		t.Cleanup(transport.CloseIdleConnections)
		res := must[*http.Response](t)(
			(&http.Client{Transport: transport}).Do(req)) //nolint:bodyclose // it is closed at the end
		t.Cleanup(func() { _ = res.Body.Close() }) // read only
		streams = append(streams, json.NewDecoder(res.Body))
	}
	gone := runningPod()
	gone.Status.ContainerStatuses = nil
	must[runtime.Object](t)(f.pods.Update(gone))
	must[runtime.Object](t)(f.pods.Delete("a/p"))
	for i, stream := range streams {
		for _, want := range []string{"MODIFIED", "DELETED"} {
			var e metav1.WatchEvent
			if err := stream.Decode(&e); err != nil || e.Type != want {
				t.Fatalf("watch %d: %v, %s, want %s", i, err, e.Type, want)
			}
			data := e.Object.Raw
			if i < 2 {
				table := tableFrom(t, data)
				if len(table.Rows) != 1 || table.Rows[0].Cells[1] != "0/2" ||
					table.Rows[0].Cells[2] != "Running" || table.ResourceVersion == "" {
					t.Fatalf("watch %d: %+v", i, table.Rows)
				}
				data = table.Rows[0].Object.Raw
			}
			var pod corev1.Pod
			if err := json.Unmarshal(data, &pod); err != nil || pod.Kind != "Pod" || pod.Name != "p" {
				t.Errorf("watch %d: %v, %s %s", i, err, pod.Kind, pod.Name)
			}
		}
	}
}

// TestPodStatus checks the word in the Status column for each state of a pod.
func TestPodStatus(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	for want, change := range map[string]func(p *corev1.Pod){
		"Running": func(*corev1.Pod) {},
		"<none>":  func(p *corev1.Pod) { p.Status = corev1.PodStatus{} },
		"Evicted": func(p *corev1.Pod) {
			p.Status.Phase, p.Status.Reason = corev1.PodFailed, "Evicted"
		},
		"Terminating": func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: now} },
		"ErrImagePull": func(p *corev1.Pod) {
			p.Status.ContainerStatuses[1].State = corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}}
		},
	} {
		p := runningPod()
		p.Status.ContainerStatuses[1].State = running
		change(p)
		if got := podCells(p, now)[2]; got != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
	p := runningPod()
	p.CreationTimestamp = metav1.NewTime(now.Add(-50 * time.Hour))
	if cells := podCells(p, now); cells[4] != "2d2h" {
		t.Errorf("age %v, want 2d2h", cells[4])
	}
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"},
		Spec: corev1.NodeSpec{Unschedulable: true}}
	n.Status.Conditions = []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
	if got := nodeCells(n, now); got[1] != "NotReady,SchedulingDisabled" {
		t.Errorf("node: %v", got)
	}
}

// TestShortNames resolves the short names of resources.
func TestShortNames(t *testing.T) {
	t.Parallel()
	f := start(t, nil, Options{}, synthetic.SourceOptions{})
	config := f.RESTConfig()
	d := memory.NewMemCacheClient(
		must[*discovery.DiscoveryClient](t)(
			discovery.NewDiscoveryClientForConfigAndClient(config,
				must[*http.Client](t)(newHTTPClient(t, config)))))
	mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(d), d, nil)
	for short, want := range map[string]schema.GroupVersionResource{"po": Pods, "no": Nodes,
		"pod": Pods, "widget": widgets} {
		if got, err := mapper.ResourceFor(schema.GroupVersionResource{Resource: short}); got != want ||
			err != nil {
			t.Errorf("%s is %v, %v, want %v", short, got, err, want)
		}
	}
	all, ok := restmapper.NewDiscoveryCategoryExpander(d).Expand("all")
	if !ok || !slices.Equal(all, []schema.GroupResource{Pods.GroupResource()}) {
		t.Errorf("all is %v, want pods", all)
	}
}

// TestOpenAPI reads the documents that kubectl reads before a write.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	f := start(t, nil, Options{}, synthetic.SourceOptions{})
	config := f.RESTConfig()
	d := must[*discovery.DiscoveryClient](t)(
		discovery.NewDiscoveryClientForConfigAndClient(config,
			must[*http.Client](t)(newHTTPClient(t, config))))
	root := openapi3.NewRoot(d.OpenAPIV3())
	for gv, at := range map[schema.GroupVersion]string{
		Pods.GroupVersion():    "/api/v1/namespaces/{namespace}/pods/{name}",
		widgets.GroupVersion(): "/apis/example.com/v1/namespaces/{namespace}/widgets/{name}",
	} {
		spec, err := root.GVSpec(gv)
		if err != nil {
			t.Fatal(err)
		}
		path := spec.Paths.Paths[at]
		if path == nil || path.Patch == nil {
			t.Fatalf("%s: no patch at %s", gv, at)
		}
		var parameters []string
		for _, p := range path.Patch.Parameters {
			parameters = append(parameters, p.Name)
		}
		if !slices.Contains(parameters, "fieldValidation") || !slices.Contains(parameters, "dryRun") {
			t.Errorf("%s: a patch has %v", gv, parameters)
		}
		var kind metav1.GroupVersionKind
		if err := path.Patch.Extensions.GetObject("x-kubernetes-group-version-kind", &kind); err != nil ||
			kind.Version != "v1" {
			t.Errorf("%s: a patch is of %+v, %v", gv, kind, err)
		}
		if spec.Components == nil || spec.Components.Schemas[kind.Kind] == nil {
			t.Errorf("%s: no schema of %s", gv, kind.Kind)
		}
	}
	if got := request(t, "GET", f.URL()+"/openapi/v3/apis/apps/v1", ""); got.code != 404 {
		t.Errorf("a version that is not served: %d, want 404", got.code)
	}
}

// TestFieldValidation: a misspelt field is reported in the way that the client requests.
func TestFieldValidation(t *testing.T) {
	t.Parallel()
	const (
		slip   = `{"metadata":{"name":"NAME"},"spec":{"nodename":"n"}}`
		twice  = "metadata:\n  name: NAME\n  name: NAME\n"
		repeat = `{"metadata":{"name":"NAME","name":"NAME"}}`
	)
	f := start(t, nil, Options{}, synthetic.SourceOptions{})
	at := f.URL() + "/api/v1/namespaces/a/pods"
	for i, c := range []struct {
		query, mediaType, body, want string
		code                         int
		warned                       bool
	}{
		{"", runtime.ContentTypeJSON, slip, `unknown field \"spec.nodename\"`, 201, true},
		{"?fieldValidation=Warn", runtime.ContentTypeJSON, repeat, `duplicate field \"metadata.name\"`,
			201, true},
		{"?fieldValidation=Ignore", runtime.ContentTypeJSON, slip, "", 201, false},
		{"?fieldValidation=Strict", runtime.ContentTypeJSON, slip, `unknown field \"spec.nodename\"`, 400,
			false},
		{"?fieldValidation=Strict", runtime.ContentTypeYAML, twice, `already set in map`, 400, false},
		{"?fieldValidation=Strict", runtime.ContentTypeJSON,
			`{"metadata":{"name":"NAME"},"spec":{"nodeName":"n"}}`, "", 201, false},
		{"?fieldValidation=Loud", runtime.ContentTypeJSON, slip, "Strict", 422, false},
	} {
		body := strings.ReplaceAll(c.body, "NAME", "p"+string(rune('a'+i)))
		got := request(t, "POST", at+c.query, body, "Content-Type", c.mediaType)
		warning := got.header.Get("Warning")
		if got.code != c.code || (warning != "") != c.warned {
			t.Errorf("%s %s: %d, warning %q; want %d, warned %v", c.query, body, got.code, warning, c.code,
				c.warned)
		}
		if !strings.Contains(warning+string(got.body), c.want) {
			t.Errorf("%s %s: %q and %s do not say %s", c.query, body, warning, got.body, c.want)
		}
	}
	patch := `{"spec":{"nodename":"m"}}`
	for query, code := range map[string]int{"?fieldValidation=Strict": 422, "": 200} {
		got := request(t, "PATCH", at+"/pa"+query, patch, "Content-Type", string(types.MergePatchType))
		if got.code != code || (got.header.Get("Warning") != "") != (code == 200) {
			t.Errorf("patch%s: %d, warning %q; want %d", query, got.code, got.header.Get("Warning"), code)
		}
	}
}

// TestJSONPatch applies RFC 6902 to typed and custom objects.
func TestJSONPatch(t *testing.T) {
	t.Parallel()
	f := start(t, []runtime.Object{runningPod()}, Options{}, synthetic.SourceOptions{})
	pods := clientset(t, f.RESTConfig()).CoreV1().Pods("a")
	patched := must[*corev1.Pod](t)(pods.Patch(within(t), "p", types.JSONPatchType,
		[]byte(`[{"op":"test","path":"/spec/nodeName","value":"n"},{"op":"add","path":"/metadata/labels","value":{"x":"y"}},{"op":"remove","path":"/spec/containers/0"}]`), metav1.PatchOptions{}))
	if patched.Labels["x"] != "y" || len(patched.Spec.Containers) != 1 ||
		patched.Spec.Containers[0].Name != "d" {
		t.Errorf("patched to %+v, %+v", patched.Labels, patched.Spec.Containers)
	}
	before := f.pods.ResourceVersion()
	_, err := pods.Patch(within(t), "p", types.JSONPatchType,
		[]byte(`[{"op":"test","path":"/spec/nodeName","value":"m"},{"op":"remove","path":"/metadata/labels"}]`), metav1.PatchOptions{})
	if !apierrors.IsInvalid(err) {
		t.Errorf("a test that fails: %v, want Invalid", err)
	}
	if _, err := pods.Patch(within(t), "p", types.JSONPatchType, []byte(`{"op":"remove"}`),
		metav1.PatchOptions{}); !apierrors.IsBadRequest(err) {
		t.Errorf("no list of operations: %v, want BadRequest", err)
	}
	if f.pods.ResourceVersion() != before {
		t.Error("a patch that failed has written")
	}
	must[runtime.Object](t)(f.widgets.Create(widget("a", "w", 3)))
	got := request(t, "PATCH", f.URL()+"/apis/example.com/v1/namespaces/a/widgets/w",
		`[{"op":"replace","path":"/spec/size","value":9007199254740993}]`, "Content-Type",
		string(types.JSONPatchType))
	if got.code != 200 || !strings.Contains(string(got.body), `"size":9007199254740993`) {
		t.Errorf("a widget: %d %s, want the size to the last digit", got.code, got.body)
	}
}

// TestRecordedPodsArePatched: pods of a recording are unstructured, and kubectl patches
// pods strategically.
func TestRecordedPodsArePatched(t *testing.T) {
	t.Parallel()
	recorded := must[map[string]any](t)(
		runtime.DefaultUnstructuredConverter.ToUnstructured(runningPod()))
	recorded["apiVersion"], recorded["kind"] = "v1", "Pod"
	source := synthetic.NewSource([]runtime.Object{&unstructured.Unstructured{Object: recorded}},
		synthetic.SourceOptions{})
	t.Cleanup(source.Stop)
	s := must[*Server](t)(
		New(map[schema.GroupVersionResource]*synthetic.Source{Pods: source}, Options{}))
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	pods := clientset(t, forms()["json"](s.RESTConfig())).CoreV1().Pods("a")
	patched := must[*corev1.Pod](t)(
		pods.Patch(within(t), "p", types.StrategicMergePatchType,
			[]byte(`{"spec":{"containers":[{"name":"d","image":"i"}]}}`), metav1.PatchOptions{}))
	if len(patched.Spec.Containers) != 2 {
		t.Errorf("patched to %+v, want both containers", patched.Spec.Containers)
	}
	got := request(t, "PATCH", s.URL()+"/api/v1/namespaces/a/pods/p", "x", "Content-Type",
		string(types.ApplyPatchType))
	if got.code != 415 || !strings.Contains(string(got.body), string(types.StrategicMergePatchType)) {
		t.Errorf("server-side apply: %d %s, want 415 with what is supported", got.code, got.body)
	}
}

// TestNamesInErrors: the error names an object that exists, although the path of a create
// has no name. A dry run finds it too.
func TestNamesInErrors(t *testing.T) {
	t.Parallel()
	f := start(t, []runtime.Object{smallPod("a", "p")}, Options{}, synthetic.SourceOptions{})
	for _, dry := range [][]string{nil, {metav1.DryRunAll}} {
		_, err := clientset(t, f.RESTConfig()).CoreV1().Pods("a").Create(within(t), smallPod("a", "p"),
			metav1.CreateOptions{DryRun: dry})
		if !apierrors.IsAlreadyExists(err) || err.Error() != `pods "p" already exists` {
			t.Errorf("dry run %v: %v, want it to name p", dry, err)
		}
	}
}

// TestStatusIsOfV1: clients other than client-go's also check the version of a Status: in
// errors, in answers to deletions, and at the end of a watch.
func TestStatusIsOfV1(t *testing.T) {
	t.Parallel()
	f := start(t, somePods(3), Options{}, synthetic.SourceOptions{})
	const want = `"kind":"Status","apiVersion":"v1"`
	for _, got := range []answer{
		request(t, "GET", f.URL()+"/api/v1/namespaces/ns-00/pods/nope", ""),
		request(t, "DELETE", f.URL()+"/api/v1/nodes/node-00000", ""),
		request(t, "GET", f.URL()+"/api/v1/pods?watch=1&resourceVersion=1", ""),
	} {
		if !strings.Contains(string(got.body), want) {
			t.Errorf("%d %s, want %s", got.code, got.body, want)
		}
	}
}

// TestDeletionIsAnswered: the Status of a deletion always has the same form; an object as
// the answer has the requested form.
func TestDeletionIsAnswered(t *testing.T) {
	t.Parallel()
	for _, as := range []string{"Table", "PartialObjectMetadata"} {
		f := start(t, []runtime.Object{runningPod()}, Options{}, synthetic.SourceOptions{})
		must[runtime.Object](t)(f.widgets.Create(widget("a", "w", 1)))
		form := "application/json;as=" + as + ";v=v1;g=meta.k8s.io"
		got := request(t, "DELETE", f.URL()+"/apis/example.com/v1/namespaces/a/widgets/w", "", "Accept",
			form)
		if got.code != 200 || !strings.Contains(string(got.body), `"status":"Success"`) {
			t.Errorf("%s: %d %s, want success", as, got.code, got.body)
		}
		got = request(t, "DELETE", f.URL()+"/api/v1/namespaces/a/pods/p", "", "Accept", form)
		if got.code != 200 || !strings.Contains(string(got.body), `"kind":"`+as+`"`) {
			t.Errorf("%s: %d %s, want the pod in that form", as, got.code, got.body)
		}
		if n := len(f.pods.Snapshot()); n != 0 {
			t.Errorf("%s: %d pods left", as, n)
		}
	}
}

// TestGeneratedNames generates the same name twice. It is not parallel, because other tests
// would draw from the random numbers.
func TestGeneratedNames(t *testing.T) {
	f := start(t, nil, Options{}, synthetic.SourceOptions{})
	pods := clientset(t, f.RESTConfig()).CoreV1().Pods("a")
	defer func() { utilrand.Seed(time.Now().UnixNano()) }()
	names := map[string]bool{}
	for range 2 {
		utilrand.Seed(1)
		names[must[*corev1.Pod](t)(
			pods.Create(within(t), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "p-"}},
				metav1.CreateOptions{})).Name] = true
	}
	if len(names) != 2 {
		t.Errorf("made %v, want two names", names)
	}
	base := strings.Repeat("a", 60)
	long := must[*corev1.Pod](t)(
		pods.Create(within(t), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: base}},
			metav1.CreateOptions{})).Name
	if len(long) != 63 || !strings.HasPrefix(long, base[:58]) {
		t.Errorf("made %q of %d bytes: a name fits into a label's value", long, len(long))
	}
}
