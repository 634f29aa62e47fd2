// Package objects puts an object keeper (contract.ObjectKeeper) under a cache. It is for caches
// whose objects cost more than the store: a typed pod takes 20 KB, an unstructured one 58.
//
//	Reflector ─> transform ─> Keep ─> FIFO ─> store of what is kept ─> Object ─> readers, handlers
//
// Three ways to keep objects exist. [Plain] keeps them as they are. Package interned keeps equal
// parts of them once, in place: nothing here is needed to read them. Package packed keeps bytes,
// and decodes at each read of an object that no one holds. A [Store] gives readers objects over a
// store that holds what a keeper made of them, and [Handler] does so for handlers of events.
//
// informer.Options.Objects takes a keeper and does all of it.
//
// A read costs one call of Object for each object that it returns, beside the store's own cost.
package objects
