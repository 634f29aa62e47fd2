package interned

import (
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Options configure a Keeper. The zero value is good for most programs.
type Options struct {
	// Sights is how many parts that one object has the keeper remembers, in four bytes each; 0 means
	// 131,072, which is those of 1,000 to 5,000 pods. A part that recurs later is shared later.
	// Servers list the pods of a template one after the other.
	Sights int
}

// Keeper keeps equal parts of objects once. It implements contract.ObjectKeeper. All methods may
// be called concurrently.
type Keeper struct {
	pool    *pool
	sights  *sights
	keys    keys
	guesses guesses
	walks   sync.Pool
}

// New makes a Keeper without objects. Programs need one, which all their caches share.
func New(options Options) *Keeper {
	if options.Sights <= 0 {
		options.Sights = 1 << 17
	}
	k := &Keeper{pool: newPool(), sights: newSights(options.Sights)}
	k.walks.New = func() any { return &walk{keeper: k} }
	return k
}

// Keep replaces parts of obj by equal ones that earlier objects have, and returns obj. Nobody else
// may use obj during the call, which writes to it; freshly decoded objects and deep copies are
// right, shallow copies of kept objects are not.
//
// Keep leaves alone nil, tombstones, all else that is no pointer to a struct with an object's
// metadata, and objects that lead to themselves.
func (k *Keeper) Keep(obj any) any {
	v := reflect.ValueOf(obj)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Type().Elem().Kind() != reflect.Struct {
		return obj
	}
	meta, ok := obj.(metav1.Object)
	if !ok {
		accessor, ok := obj.(metav1.ObjectMetaAccessor)
		if !ok {
			return obj
		}
		if meta = accessor.GetObjectMeta(); meta == nil {
			return obj
		}
	}
	w := k.walks.Get().(*walk)
	w.owner = ownerOf(meta)
	root := rootOf(v.Type().Elem())
	path := root.salt + hashText(meta.GetGenerateName())
	w.hash(root.ops, v.UnsafePointer(), 0, path)
	if !w.tooLarge {
		w.share(root.ops, v.UnsafePointer(), false)
	}
	w.reset()
	k.walks.Put(w)
	return obj
}

// ownerOf returns a few bits that versions of one object have in common.
func ownerOf(meta metav1.Object) uint32 {
	h := hashText(string(meta.GetUID()))
	if meta.GetUID() == "" {
		h = mix(hashText(meta.GetNamespace()), hashText(meta.GetName()))
	}
	return uint32(h) & (1<<ownerBits - 1)
}

// reset makes w ready for another object, and lets go of this one.
func (w *walk) reset() {
	clear(w.nodes)
	clear(w.fields)
	w.nodes, w.fields = w.nodes[:0], w.fields[:0]
	w.at, w.atField, w.depth, w.tooLarge = 0, 0, 0, false
	w.quantity.Format = ""
}

// Object returns kept, since Keep returns the object itself.
func (k *Keeper) Object(kept any) any { return kept }

// Transform is Keep as a cache.TransformFunc of client-go. It never fails.
func (k *Keeper) Transform(obj any) (any, error) { return k.Keep(obj), nil }
