package e2e

// The informers under test, and how they are compared with the server.

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/informer"
)

// source is what an informer lists and watches. It counts requests, and can change
// them on the way.
type source struct {
	cache.ListerWatcherWithContext
	noStreaming bool
	// watchSeconds, if it is not 0, replaces the timeout of each watch.
	watchSeconds *atomic.Int64
	// beforePage, if it is set, is called before each page but the first.
	beforePage func()

	// fetches counts fetches of the whole state: lists and streaming lists.
	fetches, pages, watches atomic.Int64
	firstPaged              atomic.Bool // the answer to the first list had a second page
}

// IsWatchListSemanticsUnSupported is how a source tells client-go not to stream lists.
func (s *source) IsWatchListSemanticsUnSupported() bool { return s.noStreaming }

func (s *source) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object,
	error) {
	first := false
	if o.Continue == "" {
		first = s.fetches.Add(1) == 1
	} else {
		s.pages.Add(1)
		if s.beforePage != nil {
			s.beforePage()
		}
	}
	list, err := s.ListerWatcherWithContext.ListWithContext(ctx, o)
	if l, ok := list.(metav1.ListInterface); ok && err == nil && first {
		s.firstPaged.Store(l.GetContinue() != "")
	}
	return list, err
}

func (s *source) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface,
	error) {
	if seconds := s.watchSeconds.Load(); seconds != 0 {
		o.TimeoutSeconds = &seconds
	}
	if o.SendInitialEvents != nil && *o.SendInitialEvents {
		s.fetches.Add(1)
	}
	w, err := s.ListerWatcherWithContext.WatchWithContext(ctx, o)
	// Counted when its connection is there: one that is not yet open would outlive a cut.
	s.watches.Add(1)
	return w, err
}

// List and Watch are there for cache.ListerWatcher; informers call those with a context.
func (s *source) List(o metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), o)
}

func (s *source) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), o)
}

// kind of informer: by whom, with which client, how it fetches the state.
type kind struct {
	name      string
	clientGo  bool
	metadata  bool // the metadata client; otherwise the dynamic client
	streaming bool
	pageSize  int64 // ours only
}

// kinds are all that the scenarios run at once.
var kinds = []kind{
	{name: "ours/dynamic/streaming", streaming: true},
	{name: "ours/dynamic/list"},
	{name: "ours/dynamic/pages", pageSize: 100},
	{name: "ours/metadata/streaming", metadata: true, streaming: true},
	{name: "ours/metadata/pages", metadata: true, pageSize: 100},
	{name: "client-go/dynamic/streaming", clientGo: true, streaming: true},
	{name: "client-go/dynamic/list", clientGo: true},
	{name: "client-go/metadata/streaming", clientGo: true, metadata: true, streaming: true},
}

// subject is a running informer with a handler that judges what it is told.
type subject struct {
	kind
	source   *source
	informer cache.SharedIndexInformer
	witness  []*handler // the first from before the start
	cancel   context.CancelFunc
	ended    chan struct{}
}

// newSource makes the source of a kind, over the line that tests disturb.
func (c *cluster) newSource(k kind) *source {
	dynamicClient, metadataClient := c.lineClients()
	lw := informer.NewListWatch(dynamicClient, dynamicClient.Resource(widgets), nil)
	if k.metadata {
		lw = informer.NewListWatch(metadataClient, metadataClient.Resource(widgets), nil)
	}
	return &source{ListerWatcherWithContext: cache.ToListerWatcherWithContext(lw),
		noStreaming: !k.streaming, watchSeconds: &c.watchSeconds}
}

// newSubject makes an informer of a kind. It does not run yet.
func (c *cluster) newSubject(k kind) *subject {
	s := &subject{kind: k, source: c.newSource(k)}
	var example runtime.Object = &unstructured.Unstructured{}
	if k.metadata {
		example = &metav1.PartialObjectMetadata{}
	}
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	if k.clientGo {
		s.informer = cache.NewSharedIndexInformer(s.source, example, 0, indexers)
	} else {
		s.informer = informer.New(s.source, example,
			informer.Options{Indexers: indexers, PageSize: k.pageSize, UseWatchList: new(k.streaming)})
	}
	s.addWitness(c.t)
	return s
}

func (s *subject) addWitness(t testing.TB) {
	h := newHandler()
	must1(s.informer.AddEventHandler(h))(t)
	s.witness = append(s.witness, h)
}

// start runs the informer until the test ends.
func (s *subject) start(t testing.TB) {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel, s.ended = cancel, make(chan struct{})
	go func() {
		defer close(s.ended)
		s.informer.RunWithContext(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-s.ended
	})
}

// difference compares the store, its index, and what each handler was told, with a
// state of the server.
func (s *subject) difference(want map[string]metav1.Object) error {
	have := map[string]metav1.Object{}
	for _, obj := range s.informer.GetStore().List() {
		m, ok := obj.(metav1.Object)
		if !ok {
			return fmt.Errorf("the store has a %T", obj)
		}
		have[cache.MetaObjectToName(m).String()] = m
	}
	if d := compareVersions(have, want); len(d) > 0 {
		return fmt.Errorf("the store differs from the server in %d objects: %s", len(d),
			strings.Join(d[:min(3, len(d))], "; "))
	}
	indexed := 0
	for _, namespace := range s.informer.GetIndexer().ListIndexFuncValues(cache.NamespaceIndex) {
		objects, err := s.informer.GetIndexer().ByIndex(cache.NamespaceIndex, namespace)
		if err != nil {
			return err
		}
		indexed += len(objects)
	}
	if indexed != len(have) {
		return fmt.Errorf("the index has %d objects, the store %d", indexed, len(have))
	}
	for i, h := range s.witness {
		if d := compareVersions(h.Objects(), want); len(d) > 0 {
			return fmt.Errorf("what handler %d was told differs from the server in %d objects: %s", i,
				len(d), strings.Join(d[:min(3, len(d))], "; "))
		}
	}
	return nil
}

// compare waits until every subject has the server's state, and looks for illegal
// histories. No writer may run meanwhile.
func (c *cluster) compare(t testing.TB, subjects []*subject) {
	t.Helper()
	var want map[string]metav1.Object
	eventually(t, "the server's state", func() (err error) {
		want, err = c.state(t.Context())
		return err
	})
	// All have the same time: what they were late with is not added up.
	deadline := time.Now().Add(patience)
	for _, s := range subjects {
		if err := within(t.Context(), max(time.Second, time.Until(deadline)), func() error {
			return s.difference(want)
		}); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		for i, h := range s.witness {
			for _, p := range h.Problems() {
				t.Errorf("%s: handler %d: %s", s.name, i, p)
			}
		}
	}
	if !t.Failed() {
		t.Logf("%d objects: every store and every handler agrees with the server", len(want))
	}
}
