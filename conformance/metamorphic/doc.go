// Package metamorphic plays one long random history of calls on any number of
// stores at once and compares what they say: every result of a read, and the whole
// state every few hundred calls.
//
//	func TestStoresAgree(t *testing.T) {
//		metamorphic.Run(t, []metamorphic.Store{{Name: "mine", New: mine}, {Name: "yours", New: yours}}, metamorphic.Config{})
//	}
//
// The oracle is a plain map that answers each question by looking at all of it
// (model.go), and the agreement of all stores with it. Where a conformance case is
// short and asks one thing, a history is long and at realistic sizes: it grows,
// churns, relists and shrinks to nothing, index values come and go, indexes are added
// on the way, and IndexFuncs fail by error and by panic (generate.go).
//
// A history is a function of its seed and sizes. One that fails is reduced by
// leaving out calls, parts of calls and index values as long as it still fails
// (reduce.go), and printed as a list of calls with the seed that repeats it.
//
// A clause that a store waives is printed. Where the clause is about single calls
// (a failing IndexFunc, Replace of nil) the store is spared those, which change
// nothing where the clause is kept; without one that the history rests on the store is left out.
// One goroutine makes all calls: what concurrent calls may show is package storetest's to find.
//
// Cost: the default, 50,000 calls on up to 2,000 objects, takes half a second, some
// 0.3 s more for each store, and 150 MB. A call that does not return leaves its goroutine behind.
package metamorphic
