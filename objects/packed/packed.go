package packed

import (
	"cmp"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informerbench/informerbench/contract"
)

var _ contract.ObjectKeeper = (*Keeper)(nil)

// Options configures a Keeper. The zero value is for use in production.
type Options struct {
	// FirstDictionary is the number of objects of a kind from which its first dictionary is made.
	// The default is 32. Each later dictionary comes after eight times as many objects, or when the
	// objects pack worse than they did.
	FirstDictionary int
}

// mostGroups bounds the kinds that a Keeper packs. Objects of further kinds are kept as they are.
const mostGroups = 4096

// Keeper packs objects. All methods may be called by any number of goroutines.
type Keeper struct {
	firstDictionary int
	lists           lists
	hot             hotSet

	mu struct {
		sync.RWMutex
		groups map[groupKey]*group
	}
}

// groupKey names the objects that share dictionaries.
type groupKey struct {
	typ reflect.Type
	metav1.TypeMeta
}

// New makes a Keeper.
func New(o Options) *Keeper {
	k := &Keeper{firstDictionary: cmp.Or(max(o.FirstDictionary, 0), 32)}
	k.mu.groups = map[groupKey]*group{}
	return k
}

// Keep returns a record of obj, or obj itself where that cannot be packed without loss.
func (k *Keeper) Keep(obj any) (kept any) {
	t := reflect.TypeOf(obj)
	if _, ok := obj.(*record); ok || t == nil || t.Kind() != reflect.Pointer ||
		t.Elem().Kind() != reflect.Struct || reflect.ValueOf(obj).IsNil() {
		return obj
	}
	// A generated encoder panics for a nil element of a list; other types have methods of their own.
	defer func() {
		if recover() != nil {
			kept = obj
		}
	}()
	m, err := meta.Accessor(obj)
	if err != nil {
		return obj
	}
	g := k.group(t.Elem(), obj)
	if g == nil {
		return obj
	}
	if r := g.pack(obj, m); r != nil {
		return r
	}
	return obj
}

// Object returns the object that kept stands for.
func (k *Keeper) Object(kept any) any {
	r, ok := kept.(*record)
	if !ok {
		return kept
	}
	if p := r.hot.Load(); p != nil {
		return r.made.group.objectAt(p)
	}
	obj := r.object()
	k.hot.offer(r, obj)
	return obj
}

// group finds or makes the group of an object of type *t, or returns nil if there are too many.
func (k *Keeper) group(t reflect.Type, obj any) *group {
	key := groupKey{t, kindOf(obj)}
	k.mu.RLock()
	g := k.mu.groups[key]
	k.mu.RUnlock()
	if g != nil {
		return g
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if g := k.mu.groups[key]; g != nil || len(k.mu.groups) >= mostGroups {
		return g
	}
	key.APIVersion, key.Kind = strings.Clone(key.APIVersion), strings.Clone(key.Kind)
	g = newGroup(key, k.firstDictionary)
	k.mu.groups[key] = g
	return g
}

// scratch holds the buffers of one call.
type scratch struct {
	raw    []byte // an encoded object
	packed []byte // the record's blob
	tree   treeWriter
}

// mostScratch bounds the buffers that stay in the pool. Most objects are far smaller.
const mostScratch = 1 << 20

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func (s *scratch) release() {
	if cap(s.raw) <= mostScratch && cap(s.packed) <= mostScratch {
		scratches.Put(s)
	}
}
