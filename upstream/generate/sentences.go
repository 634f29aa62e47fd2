package main

// sentence is a text in a file that means nothing in client-go, and what takes its place.
type sentence struct{ from, to string }

// sentences has the replacements by file. Each text must be in its file once, after all
// other changes; a change of the comments in our sources shows here.
var sentences = map[string][]sentence{
	"doc.go": {
		{`// whose writer never waits for readers. It is this project's answer to kubernetes#130767. It
// keeps every STORE clause, without a waiver. Long lists let each other run first (readers.go).
`, `// whose writer never waits for readers. It is written for kubernetes/kubernetes#130767. Long
// lists let each other run first (readers.go).
`},
		{`// # Invariants
//
// Under the race detector and with -tags invariants the writer checks the whole store
// after its writes. It panics if records and cells do not lead to each other, a count is
// wrong, or something with a past is missing from the retire list (invariants_on.go has the
// rules). Each write pays for checking 32 objects, so a large store is checked once in many
// writes. Normal builds contain none of it.
//
`, ``},
		{`of one value each (client-go: 160 to 185), and 16 more
`, `of one value each, and 16 more
`},
		{`takes 8 (client-go: some 45). An`, `takes 8. An`},
	},
	"index.go": {
		{`see indexing.ValuesOf. It panics`, `see the function valuesOf. It panics`},
	},
	"index_values.go": {
		{`that the store does not have. It contains
// client-go's words.`, `that the store does not have. It contains
// the words of threadSafeMap.`},
		{`that the store has already. It contains
// client-go's words:`, `that the store has already. It contains
// the words of threadSafeMap:`},
		{`a nil object has none, as
// in client-go.`, `a nil object has none, as
// in threadSafeMap.`},
		{`the 1,000 writes that client-go's
// informer`, `the 1,000 writes that an
// informer`},
		{`valuesOf panics as indexValues.Append does. The
// slice may be the object's own: do not change it.`, `The slice may be the object's
// own: do not change it. valuesOf panics if the IndexFunc fails, so it must run before
// anything is touched.`},
		{`They lie one behind the
// other in memory that is reused. Append can use a Room on the writer's stack, in a store
// that computes values without a lock of its own. Add and Empty use the memory of a
// indexValues that the store keeps under its lock. They are quicker, since no call copies the
// seven words of a indexValues.
`, `They lie one behind the
// other in memory that is reused, which the store keeps under its lock.
`},
	},
	"readers.go": {
		{` A read of few objects calls it by chance. docs/log/stores.md has the effect.
`, ` A read of few objects calls it by chance.
`},
		{`would wait for a turn of each. docs/log/stores.md has the effect.
`, `would wait for a turn of each.
`},
	},
	"table_test.go": {
		{`docs/stores.md and the package comment count.`, `the package comment counts.`},
	},
	"writers.go": {
		{`A write of unknown type does nothing, as
// in client-go.`, `A write of unknown type does nothing, as
// in threadSafeMap.`},
	},
	"store.go": {
		{`// Store is a contract.Store and has every optional power: it satisfies
// cache.ThreadSafeStoreWithTransaction. All methods may be called by any number of
// goroutines at once.`, `// Store is the store. Package cache has an adapter that makes it a
// ThreadSafeStoreWithTransaction. All methods may be called by any number of goroutines at
// once.`},
		{` Unlike client-go's it heeds no feature gate.
`, ` It heeds no feature gate; the adapter does.
`},
		{`it is there for cache.ThreadSafeStore.`, `it is there for package cache's ThreadSafeStore.`},
	},
}
