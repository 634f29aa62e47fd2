package catalog

import (
	"fmt"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/lockfree"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/objects/interned"
	"github.com/informerbench/informerbench/objects/packed"
	"github.com/informerbench/informerbench/peers/clientgo"
	"github.com/informerbench/informerbench/queue/deltafifo"
)

func informers() []Entry {
	return []Entry{
		{
			Component: contract.ComponentInformer, Name: "clientgo", Module: clientgo.ClientGoModule,
			Reference: true,
			Description: "client-go's SharedIndexInformer: its ThreadSafeStore under a RWMutex, its " +
				"RealFIFO; readers that list hold the events up",
			Guarantees:  "no handler waits for another; resync periods are rounded up to the shortest",
			NewInformer: clientgo.NewInformer,
			Waivers: []Waiver{
				{"INFORMER-31", "client-go transforms the objects of a streaming list in the store that " +
					"collects them, and again as they go into the FIFO (tools/cache/reflector.go, watchList)"},
				{"INFORMER-33", "client-go's relist in pages asks for exactly the version whose watch was " +
					"answered 410 (tools/cache/reflector.go, list): after a restart of the watch cache it " +
					"stays stale until etcd is compacted (kubernetes#133810, docs/informer.md)"},
				{"INFORMER-36", "client-go counts the objects that a handler has returned from, and reads " +
					"afterwards whether the informer has synced: objects that come in between are overlooked " +
					"(tools/cache/synctrack/synctrack.go, SingleFileTracker.Finished)"},
			},
		},
		ourInformer("informerbench",
			"ours with its defaults: the lockfree store, and a FIFO in order of arrival in which a list "+
				"is one event; readers never hold the events up", informer.Options{}),
		study(ourInformer("interned", "ours, with equal parts of objects kept once",
			informer.Options{Objects: interned.New(interned.Options{})})),
		study(ourInformer("packed", "ours, with objects kept as compressed bytes",
			informer.Options{Objects: packed.New(packed.Options{})})),
		study(ourInformer("lockfree+coalescing",
			"ours with the lockfree store and a FIFO that merges what happens to a key while it waits",
			informer.Options{
				NewStore: func(ix contract.Indexers) contract.Store { return lockfree.New(ix) },
				NewFIFO: func(cfg contract.FIFOConfig) contract.FIFO {
					return deltafifo.NewCoalescing(cfg, deltafifo.Options{})
				},
			}, dropsUnknown)),
		study(ourInformer("clientgo-store+realfifo",
			"ours over client-go's store and RealFIFO: what the informer around them is worth",
			informer.Options{
				NewStore: clientgo.NewStore,
				NewFIFO:  clientgo.NewRealFIFO(clientgo.RealFIFOUnlocked),
			})),
	}
}

var dropsUnknown = Waiver{"INFORMER-37",
	"its FIFO drops the deletion, as client-go's DeltaFIFO does"}

// ourInformer returns an entry of this project's informer with the given parts.
func ourInformer(name, description string, options informer.Options, waivers ...Waiver) Entry {
	return Entry{
		Component: contract.ComponentInformer, Name: name, Module: own, Description: description,
		Waivers:     waivers,
		Guarantees:  "as client-go's; a removed or slow handler's backlog can be read",
		NewInformer: informer.Func(options),
		MutationDetecting: func(found func(string)) contract.NewInformer {
			return func(lw cache.ListerWatcher, example runtime.Object, resync time.Duration,
				indexers contract.Indexers) cache.SharedIndexInformer {
				o := options
				o.MutationDetector = &copies{found: found}
				return informer.Func(o)(lw, example, resync, indexers)
			}
		},
	}
}

// copies is a cache.MutationDetector that tells found, when the informer stops, of objects that
// differ from what came.
type copies struct {
	found func(string)
	mu    sync.Mutex
	of    map[runtime.Object]runtime.Object
}

func (c *copies) AddObject(obj any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[runtime.Object]runtime.Object{}
	}
	c.of[obj.(runtime.Object)] = obj.(runtime.Object).DeepCopyObject()
}

func (c *copies) Run(stop <-chan struct{}) {
	<-stop
	c.mu.Lock()
	defer c.mu.Unlock()
	for obj, was := range c.of {
		if !reflect.DeepEqual(obj, was) {
			c.found(fmt.Sprintf("a %T was changed", obj))
		}
	}
}

func study(e Entry) Entry {
	e.Study = true
	return e
}
