package subject

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"

	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/informer/indexer"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/objects"
)

// Keeper is a store over an object keeper, filled with objects that were decoded from bytes of
// their own, as a client decodes what a server sends. Two that take turns share nothing.
type Keeper struct {
	seat
	Store  contract.Store
	keeper contract.ObjectKeeper
	source *synthetic.Objects
	index  string
	// versions are the objects as a server sends them, by protobuf, and a newer version of each;
	// they are made where the workload updates.
	versions [2][][]byte
	held     []any // the objects that get finds decoded
}

// NewKeeper makes the subject of an object keeper, which is empty until Fill.
func NewKeeper(entry catalog.Entry, source *synthetic.Objects, w load.Workload) *Keeper {
	k := &Keeper{keeper: entry.NewKeeper(), source: source, index: w.Index}
	newStore := func(indexers contract.Indexers) cache.ThreadSafeStoreWithTransaction {
		return indexer.Complete(entry.Under(indexers))
	}
	if objects.NeedsView(k.keeper) {
		k.Store = objects.NewStore(k.keeper, synthetic.Indexers(), newStore)
	} else {
		k.Store = newStore(synthetic.Indexers())
	}
	if slices.Contains(w.Ops, load.OpUpdate) {
		rng, kind := rand.New(rand.NewPCG(1, 1)), source.Spec().Kind
		for i := range source.Len() {
			obj := k.own(i)
			k.versions[0] = append(k.versions[0], kind.Encode(obj))
			k.versions[1] = append(k.versions[1], kind.Encode(source.Mutate(obj, rng, false)))
		}
	}
	return k
}

// own makes object i as a server has it, the same each time.
func (k *Keeper) own(i int) apiruntime.Object {
	return synthetic.Own(k.source.At(i), rand.New(rand.NewPCG(1, uint64(i))))
}

// Fill decodes each object from its bytes, which nothing holds afterwards, and keeps it.
func (k *Keeper) Fill() {
	for i := range k.source.Len() {
		k.put(k.source.Key(i), k.source.Spec().Kind.Encode(k.own(i)))
	}
}

// put does what an informer does with an event.
func (k *Keeper) put(key string, b []byte) {
	k.Store.Update(key, k.keep(b))
}

func (k *Keeper) keep(b []byte) any {
	obj := any(k.source.Spec().Kind.Decode(b))
	if objects.NeedsView(k.keeper) {
		return obj // the store keeps it
	}
	return k.keeper.Keep(obj)
}

// Stop is part of engine.Subject.
func (k *Keeper) Stop() { k.held = nil }

// Held is part of engine.Subject.
func (k *Keeper) Held() int { return k.source.Len() }

// hot is how many objects get reads, which it holds meanwhile.
const hot = 256

// Actor is part of engine.Subject.
func (k *Keeper) Actor(op load.Op, g load.Group, who int) (engine.Actor, error) {
	store, n := k.Store, k.source.Len()
	w := k.walk(n, g.Keys, who)
	keys := engine.Along(w, func(i int) string { return strings.Clone(k.source.Key(i)) })
	switch op {
	case load.OpGet:
		hotKeys := keys[:min(hot, len(keys))]
		at := 0
		return engine.Actor{
			Begin: func() {
				k.held = k.held[:0]
				for _, key := range hotKeys {
					obj, _ := store.Get(key)
					k.held = append(k.held, obj)
				}
			},
			Loop: func(n int) int {
				for range n {
					store.Get(hotKeys[at])
					if at++; at == len(hotKeys) {
						at = 0
					}
				}
				return n
			},
		}, nil
	case load.OpGetCold:
		a := engine.Actor{
			Begin: func() { k.held = nil; runtime.GC() },
			Loop: func(n int) int {
				for range n {
					store.Get(keys[w.Slot()])
				}
				return n
			},
		}
		if objects.NeedsView(k.keeper) {
			// packed holds what it decoded for a collection or two. Two in every n reads, which are of n
			// objects, make each read decode again.
			read := 0
			a.Chunk = max(1, n/2)
			a.Prepare = func(next int) {
				if read += next; read > n/2 {
					runtime.GC()
					read = next
				}
			}
		}
		return a, nil
	case load.OpList:
		return engine.Actor{Loop: func(n int) int {
			for range n {
				store.List()
			}
			return n
		}}, nil
	case load.OpByIndex:
		values := k.source.IndexedValues(k.index)
		if len(values) == 0 {
			return engine.Actor{}, fmt.Errorf("objects: no object has a value in index %q", k.index)
		}
		at := 0
		return engine.Actor{Loop: func(n int) int {
			for range n {
				_, _ = store.ByIndex(k.index, values[at])
				at = (at + 1) % len(values)
			}
			return n
		}}, nil
	case load.OpUpdate:
		versions := [2][][]byte{
			engine.Along(w, func(i int) []byte { return k.versions[1][i] }),
			engine.Along(w, func(i int) []byte { return k.versions[0][i] }),
		}
		return engine.Actor{Loop: func(n int) int {
			for range n {
				b := versions[w.Pass()]
				i := w.Slot()
				k.put(keys[i], b[i])
			}
			return n
		}}, nil
	}
	return engine.Actor{}, fmt.Errorf("objects: %s: %w", op, engine.ErrUnsupported)
}
