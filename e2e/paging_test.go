package e2e

// The paging fault: an informer that pages stays stale after a 410 until etcd is
// compacted, because a list with a limit at a version means exactly that version.

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/informer"
)

// pagedObjects is more than one page of the default size, which is 500.
const pagedObjects = 600

// freshWithin bounds how long an informer may miss a write after a 410. Its watch is
// opened again after at most a few back-offs of a second.
const freshWithin = 20 * time.Second

// staleFor is how long a stale informer is watched before it is called stale: several
// of its rounds of list and watch.
const staleFor = 10 * time.Second

// TestPagingInformerSeesWritesAfter410 changes the CRD, which restarts the watch cache,
// or kills the server, and then writes. etcd is never compacted.
func TestPagingInformerSeesWritesAfter410(t *testing.T) {
	for _, c := range []struct {
		name string
		kind kind
		// filling: the first list meets a server whose watch cache is not filled yet. It
		// answers in pages then, and the informer goes on with pages.
		filling bool
		// stale: client-go has the fault too, so its informer must be stale here. If it no
		// longer is, docs/informer.md has to be corrected.
		stale bool
	}{
		{name: "ours with PageSize", kind: kind{pageSize: 100}},
		{name: "ours by default, first list from etcd", filling: true},
		{name: "client-go with WatchListPageSize", kind: kind{clientGo: true, pageSize: 100},
			stale: true},
		{name: "client-go by default, first list from etcd", kind: kind{clientGo: true}, filling: true,
			stale: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // each has a server of its own, and mostly waits
			server := newCluster(t)
			server.createWidgets(t.Context(), pagedObjects)
			reader := server.newReader(c.kind)
			if c.filling {
				server.restart()
			}
			reader.start(t)
			eventually(t, "the first list", func() error { return reader.has(pagedObjects, "") })
			if c.filling && !reader.source.firstPaged.Load() {
				t.Fatal("the server answered the first list from its watch cache: the scenario shows nothing")
			}
			for _, disturbance := range []struct {
				name string
				do   func()
			}{
				{"the CRD changed", func() { server.changeCRD(t.Context()) }},
				{"the server was killed", func() {
					// With a write that the informer has not seen: the new watch cache begins behind it.
					server.line.setDown(true)
					server.mark("unseen")
					server.restart()
					server.line.setDown(false)
				}},
			} {
				server.mark(disturbance.name + ", before")
				if err := within(t.Context(), freshWithin, func() error {
					return reader.has(pagedObjects, disturbance.name+", before")
				}); err != nil {
					t.Fatalf("%s: the informer is stale already: %v", disturbance.name, err)
				}
				before := reader.source.fetches.Load()
				disturbance.do()
				eventually(t, "a 410 and a list", func() error {
					if reader.source.fetches.Load() == before {
						return fmt.Errorf("the informer has not listed since %s", disturbance.name)
					}
					return nil
				})
				server.mark(disturbance.name)
				if c.stale {
					checkUpstreamFault(t, server, reader, disturbance.name)
					return
				}
				if err := within(t.Context(), freshWithin, func() error {
					return reader.has(pagedObjects, disturbance.name)
				}); err != nil {
					t.Fatalf("%s: the informer misses a write that came later: %v; it fetched the state %d "+
						"times since", disturbance.name, err, reader.source.fetches.Load()-before)
				}
			}
		})
	}
}

// checkUpstreamFault shows that client-go's informer is stale, and that it is for
// the reason given: compaction ends it.
func checkUpstreamFault(t *testing.T, server *cluster, reader *reader, mark string) {
	t.Helper()
	fetched := reader.source.fetches.Load()
	err := within(t.Context(), staleFor, func() error { return reader.has(pagedObjects, mark) })
	if err == nil {
		t.Errorf("client-go's informer sees the write: the fault is mended upstream, or the scenario " +
			"no longer provokes it")
		return
	}
	t.Logf("known upstream fault: %s: client-go's informer is stale: %v; it fetched the state %d "+
		"times meanwhile", mark, err, reader.source.fetches.Load()-fetched)
	must(t, server.compact(t.Context()))
	eventually(t, "after compaction client-go's informer sees the write", func() error {
		return reader.has(pagedObjects, mark)
	})
}

// mark writes a value into one object.
func (c *cluster) mark(value string) {
	c.t.Helper()
	must(c.t, c.tryMark(value))
}

// tryMark is mark for goroutines that must not end the test.
func (c *cluster) tryMark(value string) error {
	err := within(c.t.Context(), patience, func() error {
		_, err := c.dynamic.Resource(widgets).Namespace(namespaceOf(1)).Patch(c.t.Context(), "widget-1",
			types.MergePatchType,
			fmt.Appendf(nil, `{"metadata":{"annotations":{"mark":%q}}}`, value), metav1.PatchOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("mark widget-1 with %q: %w", value, err)
	}
	return nil
}

// reader is a Reflector with a store: the part of an informer that lists and watches.
// client-go's shared informer has no option for pages; its Reflector has.
type reader struct {
	source *source
	store  cache.Store
	run    func(ctx context.Context)
}

func (c *cluster) newReader(k kind) *reader {
	r := &reader{source: c.newSource(k)}
	if k.clientGo {
		r.store = cache.NewStore(cache.MetaNamespaceKeyFunc)
		reflector := cache.NewReflectorWithOptions(r.source, &unstructured.Unstructured{}, r.store,
			cache.ReflectorOptions{})
		reflector.WatchListPageSize = k.pageSize
		r.run = reflector.RunWithContext
		return r
	}
	i := informer.New(r.source, &unstructured.Unstructured{},
		informer.Options{PageSize: k.pageSize, UseWatchList: new(k.streaming)})
	r.store, r.run = i.GetStore(), i.RunWithContext
	return r
}

// start runs the reader until the test ends.
func (r *reader) start(t testing.TB) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { r.run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
}

// has returns an error unless the store has n objects, and a mark, if it is not "".
func (r *reader) has(n int, mark string) error {
	if have := len(r.store.ListKeys()); have != n {
		return fmt.Errorf("%d objects, want %d", have, n)
	}
	if mark == "" {
		return nil
	}
	obj, _, err := r.store.GetByKey(namespaceOf(1) + "/widget-1")
	if err != nil {
		return err
	}
	w, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("widget-1 is a %T", obj)
	}
	if got := w.GetAnnotations()["mark"]; got != mark {
		return fmt.Errorf("widget-1 is marked %q at version %s, want %q", got, w.GetResourceVersion(),
			mark)
	}
	return nil
}
