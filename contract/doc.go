// Package contract is the bottom of the module: the interfaces that every
// implementation shares, aliases of client-go's data types, and the numbered
// clauses that an implementation must keep, held as data.
//
// The interfaces are small and their methods are those that client-go's own
// types already have, so client-go's store, DeltaFIFO, RealFIFO and workqueues
// satisfy them with no wrapper and nothing stands between the harness and what
// it measures. Powers that not every implementation has (a batch of writes,
// PopBatch, bookmarks) are separate interfaces, found by type assertion.
//
// A clause ("STORE-7: List sees one instant") is the name that a failing test,
// a waiver in the catalog and a line of a report have in common. See [Clauses].
//
// The package imports client-go and apimachinery only.
package contract
