package informer

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// longList is the duration above which a list is logged as slow.
const longList = 10 * time.Second

// maxForetold is the most remaining items, as announced by the server, for which list makes
// room: 16 MiB. A longer list grows as its items come. A server that miscounts, as those of
// aggregated APIs may, costs no more than this.
const maxForetold = 1 << 20

// list fetches all objects by list requests and gives them to the store.
func (r *Reflector) list(ctx context.Context) error {
	started, version := r.clock.Now(), r.listVersion()
	limit := r.pageLimit(version)
	l, err := r.pages(ctx, version, limit)
	leadsNowhere := version != "" && l.version != "" && l.version == r.expired
	if isExpired(err) || isTooLarge(err) || leadsNowhere ||
		isMatchRefused(err, listOptions(version, limit)) {
		// None of these happens to a list at "", which means the newest version. A list leads
		// nowhere if it has the version from which the last watch was answered 410: a watch
		// from it would be answered so again. A server that ignores ResourceVersionMatch, or a
		// replica that lags, returns such a list.
		r.unavailable = true
		l, err = r.pages(ctx, r.listVersion(), limit)
	}
	if err != nil {
		return &listError{r.typeDescription, err}
	}
	if version == "0" && l.paged && !r.unavailable {
		// client-go counts the pages of the second attempt too, which it means not to: a
		// server answers "" in pages even with a watch cache.
		r.paged = true
	}
	r.unavailable = false
	if l.unexpected > 0 {
		utilruntime.HandleErrorWithContext(ctx, nil, "Unexpected list item type", "reflector", r.name,
			"expectedType", r.expectedType, "actualType", l.unexpectedType, "items", l.unexpected)
	}
	n, fetched := len(l.items), r.clock.Now()
	replace := r.store.Replace
	if l.transform != nil {
		replace = r.store.(transformedStore).replaceTransformed
	}
	if l.refused == nil {
		l.refused = replace(l.items, l.version)
	}
	if l.refused != nil {
		return fmt.Errorf("unable to sync list result: %w", l.refused)
	}
	r.setVersion(l.version)
	if total := r.clock.Since(started); total > longList {
		klog.FromContext(ctx).Info("Warning: the list took long", "reflector", r.name, "type",
			r.typeDescription, "items", n, "fetched", fetched.Sub(started), "total", total)
	}
	return nil
}

// listVersion is the version to list at. At first it is "0", any version that the server
// has at hand. Later it is the version that the store has seen: the list is that or newer.
// If the server could not answer that, it is "", the newest version (a quorum read).
func (r *Reflector) listVersion() string {
	if r.unavailable {
		return ""
	}
	if version := r.LastSyncResourceVersion(); version != "" {
		return version
	}
	return "0"
}

// pageLimit is client-go's rule. A watch cache answers "at least this version" only to a
// request without a limit. Many clients that page at a version after a master's restart
// would all go to etcd. So at a version there are no pages, unless options ask for them or
// the server has shown that it has no cache. At "0" a cache ignores the limit. The second
// attempt of a list, at "", keeps the limit of the first, as client-go does.
func (r *Reflector) pageLimit(version string) int64 {
	switch {
	case r.options.PageSize != 0:
		return max(0, r.options.PageSize)
	case r.paged || version == "" || version == "0":
		return DefaultPageSize
	default:
		return 0
	}
}

// listing is the outcome of one or more list requests.
type listing struct {
	items          []any // what goes to Replace, which owns it from then on
	version        string
	transform      cache.TransformFunc // of each page, so that no list is there untrimmed; nil: none
	refused        error               // transform's error, which ends the list
	started, paged bool
	unexpected     int // items of another type, left out
	unexpectedType reflect.Type
}

// errSameToken is the error of a list that would have no end.
var errSameToken = errors.New("the list gives the same continue token twice, so it has no end")

// listOptions asks for the state at a version or a newer one.
//
// A version without a limit means that by itself. A version with a limit means exactly
// that version, unless the match says otherwise (Kubernetes API concepts, "semantics for
// get and list"). An exact version is wrong here. After a restart of its watch cache a
// server serves the old state at that version from etcd, and answers the watch from it with
// 410, until etcd is compacted. client-go v0.37.2 asks for the exact version and stays stale
// for that long (kubernetes#133810); see docs/informer.md.
func listOptions(version string, limit int64) metav1.ListOptions {
	o := metav1.ListOptions{ResourceVersion: version, Limit: limit}
	if limit > 0 && version != "" && version != "0" {
		o.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
	}
	return o
}

// isMatchRefused reports whether err may be about the match of a list request. A server refuses
// a match without a version, which it gets if the ListerWatcher takes the version out of the
// options, as those do that want the newest state.
func isMatchRefused(err error, o metav1.ListOptions) bool {
	return o.ResourceVersionMatch != "" && (apierrors.IsInvalid(err) || apierrors.IsBadRequest(err))
}

// pages lists page by page. If a continue token expires it begins anew, once, with one
// request for everything. client-go does the same, but takes the answer for the whole list
// even if that continues.
func (r *Reflector) pages(ctx context.Context, version string, limit int64) (listing, error) {
	var l listing
	if s, ok := r.store.(transformedStore); ok {
		l.transform = s.ownTransform()
	}
	options, tokens := listOptions(version, limit), map[string]bool{}
	for full := false; ; {
		if err := ctx.Err(); err != nil {
			return listing{}, err
		}
		page, err := await(ctx, r, func(ctx context.Context) (runtime.Object, error) {
			return r.lw.ListWithContext(ctx, options)
		}, func(runtime.Object) {})
		if err != nil {
			if full || options.Continue == "" || !apierrors.IsResourceExpired(err) {
				return listing{}, err
			}
			full = true
			options = listOptions(version, 0)
			clear(l.items)
			l = listing{items: l.items[:0], paged: true, transform: l.transform}
			continue
		}
		next, err := l.add(page, r.expectedType)
		if err != nil {
			return listing{}, err
		}
		if next == "" || l.refused != nil {
			return l, nil
		}
		if tokens[next] {
			return listing{}, errSameToken
		}
		tokens[next] = true
		l.paged = true
		// The token has the version in it; the server refuses to be told both.
		options.ResourceVersion, options.ResourceVersionMatch, options.Continue = "", "", next
	}
}

// add takes the items out of a page and returns the token of the next. The list
// has the version of its first page.
func (l *listing) add(page runtime.Object, expected reflect.Type) (next string, err error) {
	if isTable(page) {
		return "", fmt.Errorf(
			"the server answered with a %v, which has no objects: ask for the objects themselves",
			page.GetObjectKind().GroupVersionKind())
	}
	m, err := meta.ListAccessor(page)
	if err != nil {
		return "", fmt.Errorf("unable to understand list result of type %T: %w", page, err)
	}
	if !l.started {
		l.started, l.version = true, m.GetResourceVersion()
		n := meta.LenList(page)
		if remaining := m.GetRemainingItemCount(); remaining != nil && *remaining > 0 {
			n += int(min(*remaining, maxForetold))
		}
		l.items = slices.Grow(l.items, n)
	}
	before := len(l.items)
	err = eachItem(page, func(obj runtime.Object) error {
		if obj == nil {
			return errors.New("an item is nil")
		}
		if t := reflect.TypeOf(obj); expected != nil && t != expected {
			l.unexpected, l.unexpectedType = l.unexpected+1, t
			return nil
		}
		l.items = append(l.items, obj)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("unable to understand list result of type %T: %w", page, err)
	}
	l.refused = transformAll(l.items[before:], l.transform)
	return m.GetContinue(), nil
}

// eachItem calls f with each item of a list. An item that is a struct is copied, one
// by one: a pointer into the page would keep the whole page alive as long as one
// of its objects is in the store (kubernetes#113305).
func eachItem(list runtime.Object, f func(runtime.Object) error) error {
	switch l := list.(type) {
	case *metainternal.List: // what a pager and many fakes return: no reflection is needed
		for _, obj := range l.Items {
			if err := f(obj); err != nil {
				return err
			}
		}
		return nil
	case *metav1.List: // of raw extensions, whose undecoded items EachListItem would lose
		items, err := meta.ExtractListWithAlloc(l)
		if err != nil {
			return err
		}
		for _, obj := range items {
			if err := f(obj); err != nil {
				return err
			}
		}
		return nil
	default:
		return meta.EachListItemWithAlloc(list, f)
	}
}

// isTable reports whether an object is a server-side printed table, which has rows
// in the place of objects (kubernetes#132926).
func isTable(obj runtime.Object) bool {
	switch obj.(type) {
	case *unstructured.Unstructured, *unstructured.UnstructuredList:
	default:
		return false
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	return gvk.Kind == "Table" && gvk.Group == metav1.GroupName &&
		(gvk.Version == "v1" || gvk.Version == "v1beta1")
}

// errGoexit is the error of a call that ended its goroutine, as t.FailNow does in a fake.
var errGoexit = errors.New("the ListerWatcher ended its goroutine (runtime.Goexit)")

// await calls a ListerWatcher in a goroutine of its own. It returns what the call returns,
// or the error of ctx if ctx is done before. Exactly one side gets the outcome: both wait
// for ctx too and the channel has no buffer. So either the caller receives it or the
// goroutine hands the value to late. A panic of the call goes on in the caller. Its stack,
// which would be lost on the way (client-go loses it), is logged.
func await[T any](ctx context.Context, r *Reflector, call func(context.Context) (T, error),
	late func(T)) (T, error) {
	type outcome struct {
		value T
		err   error
		panic any
	}
	outcomes := make(chan outcome)
	go func() {
		o := outcome{err: errGoexit} // until the call returns
		defer func() {
			if o.panic = recover(); o.panic != nil {
				klog.FromContext(ctx).Error(nil, "The ListerWatcher panicked", "reflector", r.name, "type",
					r.typeDescription, "panic", o.panic, "stack", string(debug.Stack()))
			}
			select {
			case outcomes <- o:
			case <-ctx.Done():
				if o.panic == nil && o.err == nil {
					late(o.value)
				}
			}
		}()
		o.value, o.err = call(ctx)
	}()
	select {
	case o := <-outcomes:
		if o.panic != nil {
			panic(o.panic)
		}
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
