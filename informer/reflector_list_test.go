package informer

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"reflect"
	goruntime "runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	errGone    = apierrors.NewResourceExpired("too old resource version")
	errOldGone = &apierrors.StatusError{
		ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusGone,
			Reason: metav1.StatusReasonGone, Message: "too old resource version"}}
	errInternal = apierrors.NewInternalError(errors.New("etcd leader changed"))
	errMatch    = apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"},
		"", field.ErrorList{
			field.Forbidden(field.NewPath("resourceVersionMatch"),
				"resourceVersionMatch is forbidden unless resourceVersion is provided"),
		})
	errBusy = apierrors.NewTooManyRequests("slow down", 1)
)

// errFuture is "too large resource version" as servers told it over time.
func errFuture(age string) error {
	const text = "Too large resource version"
	err := apierrors.NewTimeoutError("timed out", 1)
	err.ErrStatus.Code = http.StatusGatewayTimeout
	switch age {
	case "today":
		err.ErrStatus.Details.Causes = []metav1.StatusCause{
			{Type: metav1.CauseTypeResourceVersionTooLarge}}
	case "1.18":
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: text}}
	case "1.16":
		err.ErrStatus.Message = text + ": 9, current: 5"
	}
	return err
}

func TestListRequests(t *testing.T) {
	t.Parallel()
	gone := ends(errorEvent(errGone))
	runScripts(t, []scripted{
		{
			name:     "any version first, then a watch from the list's",
			lists:    []listAnswer{gives("5", "", "a", "b")},
			requests: []string{"list 0 limit 500", "watch 5"},
			calls:    []string{"replace 5: a b"}, version: "5",
		}, {
			name:     "a relist asks for the known version, without pages",
			lists:    []listAnswer{gives("5", "", "a"), gives("9", "", "b")},
			watches:  []watchAnswer{ends(append(events("ADDED b 7"), errorEvent(errGone))...)},
			requests: []string{"list 0 limit 500", "watch 5", "list 7", "watch 9"},
			calls:    []string{"replace 5: a", "add b", "replace 9: b"}, version: "9",
		}, {
			name: "pages, and pages from then on where there is no watch cache",
			lists: []listAnswer{gives("5", "t1", "a", "b"), gives("5", "t2", "c"), gives("5", "", "d"),
				gives("6", "", "e")},
			watches: []watchAnswer{gone},
			requests: []string{"list 0 limit 500", "list  limit 500 continue t1",
				"list  limit 500 continue t2", "watch 5", "list 5 or newer limit 500", "watch 6"},
			calls: []string{"replace 5: a b c d", "replace 6: e"},
		}, {
			name: "pages of the newest version say nothing about the watch cache",
			lists: []listAnswer{listFails(errGone), gives("5", "t1", "a"), gives("5", "", "b"),
				gives("6", "", "c")},
			watches: []watchAnswer{gone},
			requests: []string{"list 0 limit 500", "list  limit 500", "list  limit 500 continue t1",
				"watch 5", "list 5", "watch 6"},
			calls: []string{"replace 5: a b", "replace 6: c"},
		}, {
			name:    "a page size of one's own, at any version",
			options: ReflectorOptions{PageSize: 2},
			lists:   []listAnswer{gives("5", "", "a"), gives("6", "", "b")}, watches: []watchAnswer{gone},
			requests: []string{"list 0 limit 2", "watch 5", "list 5 or newer limit 2", "watch 6"},
		}, {
			name:    "pages of a version or newer",
			options: ReflectorOptions{PageSize: 1},
			lists:   []listAnswer{gives("5", "", "a"), gives("6", "t1", "a"), gives("6", "", "b")},
			watches: []watchAnswer{gone},
			requests: []string{"list 0 limit 1", "watch 5", "list 5 or newer limit 1",
				"list  limit 1 continue t1", "watch 6"},
			calls: []string{"replace 5: a", "replace 6: a b"},
		}, {
			name: "a server that answers with the very version that it cannot watch from: the newest " +
				"at once",
			lists:    []listAnswer{gives("5", "", "a"), gives("5", "", "a"), gives("6", "", "b")},
			watches:  []watchAnswer{gone},
			requests: []string{"list 0 limit 500", "watch 5", "list 5", "list", "watch 6"},
			calls:    []string{"replace 5: a", "replace 6: b"},
		}, {
			name:    "the same, where the watch is refused as a whole",
			options: ReflectorOptions{PageSize: 2},
			lists:   []listAnswer{gives("5", "", "a"), gives("5", "", "a"), gives("6", "", "b")},
			watches: []watchAnswer{watchFails(errGone)}, handled: []string{"too old"},
			requests: []string{"list 0 limit 2", "watch 5", "list 5 or newer limit 2", "list  limit 2",
				"watch 6"},
			calls: []string{"replace 5: a", "replace 6: b"},
		}, {
			name:    "a ListerWatcher that takes the version out, so that the server refuses the match",
			options: ReflectorOptions{PageSize: 2},
			lists: []listAnswer{gives("5", "", "a"), listFails(errMatch), gives("6", "", "b"),
				gives("7", "", "c")}, watches: []watchAnswer{gone, gone},
			requests: []string{"list 0 limit 2", "watch 5", "list 5 or newer limit 2", "list  limit 2",
				"watch 6", "list 6 or newer limit 2", "watch 7"},
			calls: []string{"replace 5: a", "replace 6: b", "replace 7: c"},
		}, {
			name:     "a refusal that is not of the match",
			lists:    []listAnswer{gives("5", "", "a"), listFails(errMatch), gives("6", "", "b")},
			watches:  []watchAnswer{gone},
			handled:  []string{"forbidden unless resourceVersion is provided"},
			requests: []string{"list 0 limit 500", "watch 5", "list 5", "list 5", "watch 6"},
		}, {
			name:     "the version that another watch had is no such version",
			lists:    []listAnswer{gives("5", "", "a"), gives("6", "", "a"), gives("6", "", "a")},
			watches:  []watchAnswer{gone, sends(errorEvent(errInternal))},
			requests: []string{"list 0 limit 500", "watch 5", "list 5", "watch 6", "list 6", "watch 6"},
		}, {
			name:    "never pages",
			options: ReflectorOptions{PageSize: -1},
			lists:   []listAnswer{gives("5", "", "a")}, requests: []string{"list 0", "watch 5"},
		}, {
			name:     "an expired token: all at once, and what was there is forgotten",
			lists:    []listAnswer{gives("5", "t1", "a", "b"), listFails(errGone), gives("7", "", "b", "c")},
			requests: []string{"list 0 limit 500", "list  limit 500 continue t1", "list 0", "watch 7"},
			calls:    []string{"replace 7: b c"}, version: "7",
		}, {
			name: "all at once, which the server pages all the same",
			lists: []listAnswer{gives("5", "t1", "a"), listFails(errGone), gives("7", "t2", "b"),
				gives("7", "", "c")},
			requests: []string{"list 0 limit 500", "list  limit 500 continue t1", "list 0",
				"list  continue t2", "watch 7"},
			calls: []string{"replace 7: b c"},
		}, {
			name: "a token that expires twice: the newest version",
			lists: []listAnswer{gives("5", "t1", "a"), listFails(errGone), gives("7", "t2", "b"),
				listFails(errGone), gives("8", "", "c")},
			requests: []string{"list 0 limit 500", "list  limit 500 continue t1", "list 0",
				"list  continue t2", "list  limit 500", "watch 8"},
			calls: []string{"replace 8: c"},
		}, {
			name: "expired: the newest version at once, and the known one next time",
			lists: []listAnswer{gives("5", "", "a"), listFails(errGone), gives("7", "", "b"),
				gives("8", "", "c")},
			watches: []watchAnswer{gone, gone},
			requests: []string{"list 0 limit 500", "watch 5", "list 5", "list", "watch 7", "list 7",
				"watch 8"},
		}, {
			name:     "gone, as servers before 1.18 said",
			lists:    []listAnswer{gives("5", "", "a"), listFails(errOldGone), gives("7", "", "b")},
			watches:  []watchAnswer{ends(errorEvent(errOldGone))},
			requests: []string{"list 0 limit 500", "watch 5", "list 5", "list", "watch 7"},
		}, {
			name: "expired and then refused: the newest version until a list succeeds",
			lists: []listAnswer{gives("5", "", "a"), listFails(errGone), listFails(errInternal),
				gives("7", "", "b")},
			watches: []watchAnswer{gone}, handled: []string{"etcd leader changed"},
			requests: []string{"list 0 limit 500", "watch 5", "list 5", "list", "list  limit 500",
				"watch 7"},
		}, {
			name:     "a failing list: told, and tried again after a while",
			lists:    []listAnswer{listFails(errInternal), listFails(io.EOF), gives("5", "", "a")},
			handled:  []string{"failed to list *v1.Pod: Internal error", "EOF"},
			requests: []string{"list 0 limit 500", "list 0 limit 500", "list 0 limit 500", "watch 5"},
			reported: []string{"etcd leader changed", "Pod: EOF"},
		}, {
			name:    "a failing page fails the list, with nothing half written",
			lists:   []listAnswer{gives("5", "t1", "a"), listFails(errInternal), gives("6", "", "b")},
			handled: []string{"Internal error"},
			calls:   []string{"replace 6: b"},
		}, {
			name:     "a store that refuses",
			store:    &tape{fail: map[string]int{"replace": 1}},
			lists:    []listAnswer{gives("5", "", "a"), gives("6", "", "b")},
			handled:  []string{"unable to sync list result"},
			requests: []string{"list 0 limit 500", "list 0 limit 500", "watch 6"}, version: "6",
		}, {
			name:     "a list without a version, as fakes give",
			lists:    []listAnswer{gives("", "", "a")},
			requests: []string{"list 0 limit 500", "watch"}, calls: []string{"replace : a"},
		}, {
			name: "items of another type are reported and left out",
			lists: []listAnswer{
				page(&metainternal.List{ListMeta: metav1.ListMeta{ResourceVersion: "5"},
					Items: []runtime.Object{testPod("a", "1"), &corev1.Node{}, &corev1.Node{}}})},
			calls: []string{"replace 5: a"}, reported: []string{"Unexpected list item type"},
		}, {
			name: "any type", expected: nothingExpected{},
			lists: []listAnswer{
				page(&metainternal.List{ListMeta: metav1.ListMeta{ResourceVersion: "5"},
					Items: []runtime.Object{testPod("a", "1"),
						&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}}})},
			calls: []string{"replace 5: a n"}, reported: []string{"!Unexpected"},
		}, {
			name: "what is no list, is nil or is a table",
			lists: []listAnswer{page(testPod("a", "1")), page(nil), page(table(true)),
				page(&metainternal.List{Items: []runtime.Object{nil}}), gives("5", "", "a")},
			handled: []string{"unable to understand list result of type *v1.Pod", "of type <nil>",
				"meta.k8s.io/v1, Kind=Table", "an item is nil"},
			calls: []string{"replace 5: a"},
		},
	})
	for _, age := range []string{"today", "1.18", "1.16"} {
		runScripts(t, []scripted{{
			name:     "a version of the future, as told " + age,
			lists:    []listAnswer{gives("5", "", "a"), listFails(errFuture(age)), gives("7", "", "b")},
			watches:  []watchAnswer{gone},
			requests: []string{"list 0 limit 500", "watch 5", "list 5", "list", "watch 7"},
		}})
	}
	if isTooLarge(errFuture("never")) || isTooLarge(errors.New("Too large resource version")) {
		t.Error("another error is taken for a version of the future")
	}
}

func table(list bool) runtime.Object {
	content := map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "Table",
		"metadata": map[string]any{"resourceVersion": "5"}}
	if list {
		return &unstructured.UnstructuredList{Object: content}
	}
	return &unstructured.Unstructured{Object: content}
}

// TestListKinds: the items of every kind of list come out, and not as pointers
// into the page.
func TestListKinds(t *testing.T) {
	t.Parallel()
	typed := &corev1.PodList{Items: []corev1.Pod{*testPod("a", "1"), *testPod("b", "2")}}
	loose := &unstructured.UnstructuredList{Items: []unstructured.Unstructured{
		{Object: map[string]any{"metadata": map[string]any{"name": "a"}}},
		{Object: map[string]any{"metadata": map[string]any{"name": "b"}}},
	}}
	for _, c := range []struct {
		name string
		list runtime.Object
		want string
	}{
		{"typed", typed, "a b"},
		{"unstructured", loose, "a b"},
		{"of objects", &metainternal.List{Items: []runtime.Object{testPod("a", "1")}}, "a"},
		{"raw extensions", &metav1.List{
			Items: []runtime.RawExtension{{Object: testPod("a", "1")}, {Raw: []byte("{}")}}},
			"a <*runtime.Unknown>"},
		{"only metadata", &metav1.PartialObjectMetadataList{
			Items: []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}}}, "a"},
		{"empty", &corev1.PodList{}, ""},
	} {
		var l listing
		if _, err := l.add(c.list, nil); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var names []string
		for _, obj := range l.items {
			names = append(names, nameFor(obj))
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		for i := range l.items {
			if l.items[i] == any(&typed.Items[min(i, 1)]) || l.items[i] == any(&loose.Items[min(i, 1)]) {
				t.Errorf("%s: item %d lies in the page and keeps it alive", c.name, i)
			}
		}
	}
}

// TestListMakesRoomOnce: the slice that goes to Replace is made once if the server
// says how many items remain.
func TestListMakesRoomOnce(t *testing.T) {
	t.Parallel()
	remaining := int64(998)
	var l listing
	first := &metainternal.List{
		ListMeta: metav1.ListMeta{Continue: "t", RemainingItemCount: &remaining},
		Items:    []runtime.Object{testPod("a", "1"), testPod("b", "1")}}
	next, err := l.add(first, reflect.TypeFor[*corev1.Pod]())
	if err != nil || next != "t" || cap(l.items) < 1000 {
		t.Errorf("token %q, room for %d items, error %v; want t and 1000", next, cap(l.items), err)
	}
	remaining, l = math.MaxInt64, listing{}
	if _, err := l.add(first, reflect.TypeFor[*corev1.Pod]()); err != nil || len(l.items) != 2 ||
		cap(l.items) > 2*maxForetold {
		t.Errorf("a server that foretells nonsense: %d items in room for %d, error %v", len(l.items),
			cap(l.items), err)
	}
}

// TestGoexitIsAnError: a ListerWatcher that ends its goroutine, as t.FailNow does, has not
// answered. Taken for an empty list, it would empty the store.
func TestGoexitIsAnError(t *testing.T) {
	t.Parallel()
	ends := func(context.Context) (runtime.Object, error) { goruntime.Goexit(); return nil, nil }
	var store tape
	r := NewReflector(&script{lists: []listAnswer{ends}}, &corev1.Pod{}, &store,
		ReflectorOptions{UseWatchList: new(bool)})
	if err := r.ListAndWatchWithContext(t.Context()); !errors.Is(err, errGoexit) {
		t.Errorf("error %v, want %v", err, errGoexit)
	}
	if len(store.calls) > 0 {
		t.Errorf("the store was told %q", store.calls)
	}
}

// TestPanics: a panic of the ListerWatcher reaches the caller of the Reflector and leaves
// no goroutine (the bubble and goleak would tell).
func TestPanics(t *testing.T) {
	t.Parallel()
	boom := func() { panic("boom") }
	for name, s := range map[string]*script{
		"list": {lists: []listAnswer{func(context.Context) (runtime.Object, error) {
			boom()
			return nil, nil
		}}},
		"watch": {lists: []listAnswer{gives("5", "", "a")}, watches: []watchAnswer{watchPanics}},
	} {
		var log logs
		r := NewReflector(s, &corev1.Pod{}, &tape{}, ReflectorOptions{UseWatchList: new(bool)})
		func() {
			defer func() {
				if p := recover(); p != "boom" {
					t.Errorf("%s: recovered %v, want boom", name, p)
				}
			}()
			err := r.ListAndWatchWithContext(log.context(t.Context()))
			t.Errorf("%s: no panic but %v", name, err)
		}()
		if log.count("The ListerWatcher panicked") != 1 || log.count("_test.go:") != 1 {
			t.Errorf("%s: the log has not where it panicked: %q", name, log.lines)
		}
	}
}
