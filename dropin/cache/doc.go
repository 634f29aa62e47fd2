// Package cache is client-go's tools/cache over this project's stores, FIFOs and informers: a
// program changes the import
//
//	import "k8s.io/client-go/tools/cache"
//	import "github.com/informerbench/informerbench/dropin/cache"
//
// and nothing else. Every exported name of client-go v0.37.2's package is here, with the same
// signature, and with the build tag next every one of v0.38.0-beta.0's; a test compares the two.
// Interfaces, functions, configurations and data types are client-go's own (forwards.go, which a
// program writes). So values pass between the two packages, and to controller-runtime and
// generated factories and listers.
//
// # What is ours
//
//	NewStore, NewIndexer, NewThreadSafeStore,      lockfree.Store, and indexer.Indexer over it
//	NewUndeltaStore
//	NewDeltaFIFO, NewDeltaFIFOWithOptions          deltafifo.Coalescing
//	NewRealFIFO, NewRealFIFOWithOptions            deltafifo.InOrder
//	New                                            informer.Controller, with our Reflector
//	NewInformer, NewIndexerInformer and the like   informer.NewUnshared
//	NewSharedInformer, NewSharedIndexInformer      informer.SharedIndexInformer
//	  and WithOptions
//
// The packages named have the guarantees and the costs. docs/use.md in the repository says
// what differs from client-go, and why.
//
// # Types of our own
//
// DeltaFIFO, RealFIFO, StoreOption and ThreadSafeStoreOption are types of this package with
// client-go's methods. Programs get values of them from the constructors here and give them to
// functions here, or use them as a Queue. A *DeltaFIFO that client-go's constructor made is
// none of this package's: the compiler says so.
//
// # The Reflector is client-go's
//
// NewReflector, NewNamedReflector and NewReflectorWithOptions return client-go's Reflector.
// It cannot be ours and keep every program compiling: client-go's SharedInformer names the type
// in SetWatchErrorHandler, and so in each handler that a program writes,
//
//	informer.SetWatchErrorHandler(func(r *cache.Reflector, err error) { ... })
//
// A Reflector of our own would make SharedInformer another interface than client-go's, which
// generated factories and controller-runtime could not use. New and the informers run our
// Reflector all the same; for one by itself there is informer.NewReflector.
//
// FIFO, Heap, ExpirationCache, MutationCache and the fakes are client-go's too, and use its
// store.
//
// # Metrics
//
// An informer, FIFO or store with an identifier has the metrics of the provider in its options,
// or else of the one given to SetInformerMetricsProvider here. A provider that something else
// has given to client-go's own SetInformerMetricsProvider cannot be read; it gets the stores'
// resource versions only. If it is component-base's, import dropin/cache/prometheus; give any other
// provider to SetInformerMetricsProvider here too.
//
// Everything here may be used by any number of goroutines at once, if its comment does not say
// otherwise.
package cache
