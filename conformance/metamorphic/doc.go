// Package metamorphic finds mistakes of a store in combinations of calls and sizes that
// neither storetest nor linear tries. One example is an IndexFunc that fails in a long
// Transaction, in a large Replace, or in an index that was added later. Another is a long
// result slice that the store shares with its caller. The histories of linear use at most
// four keys and no failing IndexFunc. The random histories of storetest use six keys and at
// most four kinds of writes each; its larger cases test one rule each.
//
// A history here is one random list of calls of every kind, 50,000 by default. It is played
// on any number of stores at once, and their answers are compared: every result of a read,
// and the whole state every 500 calls.
//
//	func TestStoresAgree(t *testing.T) {
//		metamorphic.Run(t, []metamorphic.Store{{Name: "mine", New: mine}, {Name: "yours", New: yours}}, metamorphic.Config{})
//	}
//
// The oracle is a plain map that answers each question by looking at all objects
// (model.go). Every store must agree with it. A history grows, churns, relists and shrinks
// to nothing. Index values come and go, indexes are added on the way, and IndexFuncs fail
// by error and by panic (generate.go).
//
// A history is a function of its seed and sizes. A history that fails is reduced: calls,
// parts of calls and index values are left out as long as it still fails (reduce.go). The
// failure prints the remaining calls and the seed that repeats the whole history.
//
// The clauses that a store waives are printed. If such a clause is about single calls (a
// failing IndexFunc, Replace of nil), the store is spared these calls. They change nothing
// where the clause is kept. A store that waives a clause on which the whole history depends is
// refused. One goroutine makes all calls: storetest and linear test concurrent calls.
//
// Cost: the default, 50,000 calls on up to 2,000 objects, takes half a second, some 0.3 s
// more for each store, and 150 MB. A call that does not return leaves its goroutine behind.
package metamorphic
