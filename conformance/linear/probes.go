//go:build explore

package linear

// Probes are scripts that are short enough to explore every schedule. There are one or two
// for each promise of a store.
var Probes = []string{
	"one: add a:x => update a:y | get a; get a",
	"one: add a:x => update a:y; update a:z | get a; get a",
	"one: add a:x => update a:y | update a:z | get a",
	"one: add a:x => update b:y | update c:z",
	"one: add a:x => update a:y | list",
	"one: add a:x; add b:x => update a:y; update b:y | list",
	"one: add a:x; add b:x => delete a; add c:y | list; keys",
	"one: add a:x; add b:x => delete b; add a:y | keys",
	"one: add a:x; add b:x => update a:y; update b:y | byindex one x",
	"one: add a:x; add b:x => update a:y; update b:y | indexkeys one y",
	"many: add a:x/x; add b:x/y => update a:x/y; update b:x/x | index many a:x/xy",
	"many: add a:x/x; add d:x/y => update a:x/y; update d:x/x | values many",
	"one: add a:x => update a:y | values one; get a",
	"one: add a:x; add b:x => replace a:y b:y | list; list",
	"one: add a:x; add b:x => replace c:y d:y | keys; get c",
	"one: add a:x; add b:x => tx a:y b:y | list; get b",
	"one: add a:x => update a:y; bookmark | version; version; get a",
	"one: add a:x/x => addindexers many | update a:y/y",
	"one: add a:x/x/x => addindexers many,maybe | addindexers many; indexers",
	"one: add a:x => addindexers many | indexers; indexers",
}
