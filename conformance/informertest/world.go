package informertest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	rules "github.com/informerbench/informerbench/conformance/witness"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load/synthetic"
)

// setup is the configuration of a world. Its zero value is an empty source without faults.
type setup struct {
	objects int           // p0, p1, ... in the source from the start
	resync  time.Duration // the informer's resync period
	window  int           // number of events that the source remembers; 0 means plenty
	faults  []synthetic.Fault
	listing bool  // no streaming lists
	page    int64 // the most objects in a page of a list; 0 means the limit of the request
	// namespace is the informer's namespace; "" means all.
	namespace string
	intrude   bool // objects of another type come too
	linger    bool // watches stay open after an error event
	transform bool // the informer's transform marks objects, and the mark is checked
	// cached gives the source a watch cache, which answers a list of any version ("0")
	// without pages.
	cached bool
	// bare makes the informer without indexers.
	bare bool
}

// has reports whether an object is one of the informer's.
func (s setup) has(key string) bool {
	return s.namespace == "" || strings.HasPrefix(key, s.namespace+"/")
}

// world is one informer over one source, with the handlers that watch it, in a bubble.
type world struct {
	setup
	source   *synthetic.Source
	gate     *gate
	informer cache.SharedIndexInformer

	ctx      context.Context
	cancel   context.CancelFunc
	returned chan struct{} // closed when Run has returned; nil before start
	over     chan struct{} // closed when the world ends
	helpers  sync.WaitGroup

	witnesses []*witness // only the goroutine that runs the case uses it

	mu struct {
		sync.Mutex
		problems []problem
		// steady holds the keys that were in the source before the informer started and
		// were not deleted since.
		steady map[string]bool
		// buried holds the version of the last deletion of each key, and graves the
		// versions of all deletions.
		buried map[string]uint64
		graves map[grave]bool
	}
	synced sync.Once // runs checkSynced once
}

// grave is a deletion.
type grave struct {
	key     string
	version uint64
}

// problem is a broken clause.
type problem struct{ clause, text string }

const nodeIndex, namespaceIndex = "node", "namespace"

func byNode(obj any) ([]string, error) {
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return nil, fmt.Errorf("the index %s is of pods, not of %T", nodeIndex, obj)
	}
	return []string{p.Spec.NodeName}, nil
}

// keyOf returns the key of object number i.
func keyOf(i int) string { return fmt.Sprintf("ns%d/p%d", i%2, i) }

// pod makes an object; n determines its content.
func pod(key string, n int) *corev1.Pod {
	namespace, name, _ := strings.Cut(key, "/")
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	p.Spec.NodeName = fmt.Sprintf("node%d", n%3)
	return p
}

// open makes a world; newInformer's informer has not been started.
func open(newInformer contract.NewInformer, s setup) *world {
	var objects []runtime.Object
	w := &world{setup: s, over: make(chan struct{})}
	w.mu.steady, w.mu.buried, w.mu.graves = map[string]bool{}, map[string]uint64{}, map[grave]bool{}
	for i := range s.objects {
		p := pod(keyOf(i), i)
		p.ResourceVersion = fmt.Sprint(i + 2)
		objects = append(objects, p)
		w.mu.steady[keyOf(i)] = s.has(keyOf(i))
	}
	w.source = synthetic.NewSource(objects,
		synthetic.SourceOptions{Example: &corev1.Pod{}, Window: s.window, Faults: s.faults,
			NoWatchCache: !s.cached})
	w.gate = &gate{setup: s, source: w.source, problem: w.problem, over: w.over}
	w.ctx, w.cancel = context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	indexers := contract.Indexers{nodeIndex: byNode, namespaceIndex: cache.MetaNamespaceIndexFunc}
	if s.bare {
		indexers = contract.Indexers{}
	}
	if w.informer = newInformer(w.gate, &corev1.Pod{}, s.resync, indexers); w.informer == nil {
		panic("the constructor returned nil")
	}
	if s.transform {
		if err := w.informer.SetTransform(transform); err != nil {
			w.problem("INFORMER-16", "SetTransform before the start: %v", err)
		}
	}
	return w
}

// problem records a broken clause. Any goroutine may call it.
func (w *world) problem(clause, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	same := 0
	for _, p := range w.mu.problems {
		if p.clause == clause {
			same++
		}
	}
	if same < 12 { // of each clause, so that one that is waived hides no other
		w.mu.problems = append(w.mu.problems, problem{clause, fmt.Sprintf(format, args...)})
	}
}

func (w *world) problems() []problem {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.mu.problems)
}

// start runs the informer, and checks the store as soon as the informer says that it has
// synced.
func (w *world) start() {
	w.returned = w.begin("INFORMER-1", "Run", func() { w.informer.RunWithContext(w.ctx) })
	checker := w.informer.HasSyncedChecker()
	if checker == nil {
		panic("HasSyncedChecker returned nil")
	}
	w.helpers.Go(func() {
		select {
		case <-checker.Done():
			w.synced.Do(w.checkSynced)
		case <-w.over:
		}
	})
}

// startUp starts the informer, and waits until it has told all that it was given.
func (w *world) startUp() {
	w.start()
	w.settle()
}

// begin makes a call of the informer on a goroutine of its own, and closes the channel when it
// has returned. A panic of the call breaks the clause, and does not end the process.
func (w *world) begin(clause, name string, call func()) (returned chan struct{}) {
	returned = make(chan struct{})
	go func() {
		defer close(returned)
		defer func() {
			if p := recover(); p != nil {
				w.problem(clause, "%s panics: %v\n%s", name, p, debug.Stack())
			}
		}()
		call()
	}()
	return returned
}

// checkSynced runs when the informer has said that it has synced. Every steady object must
// then be in the store.
func (w *world) checkSynced() {
	have := map[string]bool{}
	for _, k := range w.informer.GetStore().ListKeys() {
		have[k] = true
	}
	w.mu.Lock()
	var lacks []string
	for k, steady := range w.mu.steady {
		if steady && !have[k] {
			lacks = append(lacks, k)
		}
	}
	w.mu.Unlock()
	if len(lacks) > 0 {
		slices.Sort(lacks)
		w.problem("INFORMER-9", "it says that it has synced, and the store lacks %v", lacks)
	}
}

// settle waits until every goroutine of the bubble waits.
func (w *world) settle() { synctest.Wait() }

// advance lets time pass, and then settles.
func (w *world) advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// create, update and delete write to the source. An invalid write, such as delete of an
// absent object, is a mistake of the case.
func (w *world) create(key string, n int) { must(w.source.Create(pod(key, n))) }

func (w *world) update(key string, n int) { must(w.source.Update(pod(key, n))) }

func (w *world) delete(key string) (last runtime.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last = must(w.source.Delete(key))
	delete(w.mu.steady, key)
	w.mu.buried[key] = synthetic.VersionOf(last)
	w.mu.graves[grave{key, synthetic.VersionOf(last)}] = true
	return last
}

// isGrave reports whether the source has deleted the object at the version of c.
func (w *world) isGrave(c call) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mu.graves[grave{c.key, version(c.new)}]
}

// isBuried reports whether the source has deleted the object since its state in c.
func (w *world) isBuried(c call) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mu.buried[c.key] > version(c.new)
}

func must(obj runtime.Object, err error) runtime.Object {
	if err != nil {
		panic(fmt.Sprintf("informertest: a write to the source: %v", err))
	}
	return obj
}

// errCut is the error of a connection to a server that does not listen.
var errCut error = syscall.ECONNREFUSED

var errBroken = errors.New("the source is out of order")

// miss cuts the connection, calls what, whose writes the informer must not see, and fills
// the source's memory so that the informer has to list. Then it mends the connection and
// waits until the informer has listed.
func (w *world) miss(what func()) {
	w.gate.cut(errCut)
	w.settle()
	what()
	w.create("filler/a", 0)
	for i := range w.window + 1 {
		w.update("filler/a", i)
	}
	w.delete("filler/a")
	w.gate.mend()
	w.advance(3 * time.Minute) // longer than the longest back-off
}

// handler adds a witness, with the informer's resync period.
func (w *world) handler(name string, act func(call)) *witness {
	return w.add(&witness{name: name, act: act}, nil)
}

// add adds a witness with a resync period of its own; nil is the informer's.
func (w *world) add(h *witness, resync *time.Duration) *witness {
	h.world = w
	h.mu.view = rules.NewView(same)
	quiet := logr.Discard()
	add := func() (cache.ResourceEventHandlerRegistration, error) {
		switch {
		case !h.short:
			return w.informer.AddEventHandlerWithOptions(h,
				cache.HandlerOptions{Logger: &quiet, ResyncPeriod: resync})
		case resync == nil:
			return w.informer.AddEventHandler(h)
		default:
			return w.informer.AddEventHandlerWithResyncPeriod(h, *resync)
		}
	}
	handle, err := add()
	if err != nil {
		panic(fmt.Sprintf("informertest: %s cannot be added: %v", h.name, err))
	}
	h.mu.Lock()
	h.mu.handle = handle
	h.mu.Unlock()
	w.witnesses = append(w.witnesses, h)
	return h
}

// remove removes a witness.
func (w *world) remove(h *witness) {
	if err := w.informer.RemoveEventHandler(h.registration()); err != nil {
		w.problem("INFORMER-14", "removing %s: %v", h.name, err)
	}
}

// lookUp reads the store inside a handler's call. The store must hold the told state or a
// newer one.
func (w *world) lookUp(h *witness, c call) {
	item, exists, err := w.informer.GetStore().GetByKey(c.key)
	if err != nil {
		w.problem("INFORMER-22", "%s is told %s and reads the store: %v", h.name, c, err)
		return
	}
	if exists {
		if p, ok := item.(*corev1.Pod); !ok || version(p) < version(c.new) || c.ends() &&
			version(p) == version(c.new) {
			w.problem("INFORMER-22", "%s is told %s and finds %s in the store", h.name, c, describe(item))
		}
		return
	}
	if c.ends() {
		return
	}
	if !w.isBuried(c) {
		w.problem("INFORMER-22", "%s is told %s and finds nothing in the store", h.name, c)
	}
}

func describe(obj any) string {
	if p, ok := obj.(*corev1.Pod); ok {
		return fmt.Sprintf("%s@%d", synthetic.Key(p), version(p))
	}
	return fmt.Sprintf("a %T", obj)
}

// stop stops the informer, waits until Run has returned, and checks that nothing goes on.
func (w *world) stop() {
	w.cancel()
	if w.returned == nil {
		return
	}
	select {
	case <-w.returned:
	case <-time.After(time.Hour):
		w.problem("INFORMER-23", "Run has not returned an hour after its end was asked for")
		return
	}
	w.returned = nil
	for _, h := range w.witnesses {
		h.silence("INFORMER-24")
	}
	w.settle()
	if n := w.gate.openWatches(); n > 0 {
		w.problem("INFORMER-32", "%d watches are open when Run has returned", n)
	}
	w.advance(10 * time.Minute) // late calls would come now
}

// close ends the world. Goroutines that still run in the bubble are then the informer's.
func (w *world) close() {
	w.stop()
	close(w.over)
	w.source.Stop()
	w.helpers.Wait()
}

// wanted returns the source's objects that belong to the informer.
func (w *world) wanted() map[string]*corev1.Pod {
	out := map[string]*corev1.Pod{}
	for k, obj := range w.source.Snapshot() {
		if w.has(k) {
			out[k] = obj.(*corev1.Pod)
		}
	}
	return out
}
