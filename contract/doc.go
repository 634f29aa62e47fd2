// Package contract holds the interfaces that every implementation shares, aliases of
// client-go's data types, and the numbered clauses that an implementation must keep, as
// data.
//
// The interfaces are small, and client-go's own types already have their methods. So
// client-go's store, DeltaFIFO, RealFIFO and workqueues satisfy them with no wrapper, and
// nothing stands between the harness and what it measures. Optional capabilities (a batch
// of writes, PopBatch, bookmarks) are separate interfaces, found by type assertion.
//
// A clause ("STORE-7: List sees one instant") is the name that a failing test, a waiver in
// the catalog and a line of a report have in common. See [Clauses].
//
// The package is the bottom of the module: it imports client-go and apimachinery only.
package contract
