//go:build explore

package linear

import (
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/internal/explore"
)

// DrawScript draws the text of a small random script: two or three threads of one to three
// calls each, or four threads of one or two. The first thread only writes.
func DrawScript(r *rand.Rand) string {
	d := &scriptDice{r: r, keys: 1 + r.IntN(maxKeys-1)}
	start, later := "one,many", []string{"maybe"}
	if r.IntN(2) == 0 {
		start, later = "one", []string{"many", "maybe"}
	}
	d.later = later
	var setup []string
	for k := range d.keys {
		if r.IntN(4) > 0 {
			setup = append(setup, "add "+d.object(k))
		}
	}
	if r.IntN(3) == 0 {
		setup = append(setup, "list", "list") // a store that copies blocks for readers has copies then
	}
	threads := make([]string, 2+r.IntN(3))
	for n := range threads {
		calls := make([]string, 1+r.IntN(4-len(threads)/2))
		for i := range calls {
			if n == 0 || r.IntN(3) == 0 {
				calls[i] = d.writing()
			} else {
				calls[i] = d.reading()
			}
		}
		threads[n] = strings.Join(calls, "; ")
	}
	return start + ": " + strings.Join(setup, "; ") + " => " + strings.Join(threads, " | ")
}

type scriptDice struct {
	r     *rand.Rand
	keys  int
	later []string // indexes that AddIndexers may add
}

func (d *scriptDice) pick(of ...string) string { return of[d.r.IntN(len(of))] }
func (d *scriptDice) key() string              { return keyNames[d.r.IntN(d.keys)] }
func (d *scriptDice) value() string            { return d.pick("x", "x", "y", "y", "z") }

func (d *scriptDice) object(key int) string {
	return keyNames[key] + ":" + d.value() + "/" + d.pick("", "x", "xy", "yy", "zxy") + "/" +
		d.pick("", "x", "y") + d.pick("", "", "", "", "!")
}

func (d *scriptDice) some() string { return d.object(d.r.IntN(d.keys)) }

func (d *scriptDice) writing() string {
	switch d.r.IntN(12) {
	case 0, 1, 2, 3:
		return "update " + d.some()
	case 4, 5:
		return "delete " + d.key()
	case 6:
		return "replace " + d.object(0)
	case 7:
		return "bookmark"
	case 8:
		if len(d.later) > 0 {
			name := d.later[0]
			d.later = d.later[1:]
			return "addindexers " + name
		}
		return "add " + d.some()
	case 9:
		return "tx " + d.pick("", "*3 ", "*16 ") + d.some() + " " + d.some() + " " + d.key() + "- " +
			strings.TrimSuffix(d.some(), "!")
	default:
		return "tx " + d.key() + "- " + strings.TrimSuffix(d.some(), "!")
	}
}

func (d *scriptDice) reading() string {
	index := d.pick("one", "one", "many", "maybe")
	return d.pick("get "+d.key(), "get "+d.key(), "list", "list", "keys",
		"byindex "+index+" "+d.value(), "byindex "+index+" "+d.value(),
		"indexkeys "+index+" "+d.value(), "index "+index+" "+d.some(), "values "+index, "version",
		"indexers")
}

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

// Stepped makes each call of a store one step for internal/explore. If a broken store is
// built from such calls, the explorer can switch threads between them.
func Stepped(s cache.ThreadSafeStoreWithTransaction) cache.ThreadSafeStoreWithTransaction {
	return stepped{s}
}

type stepped struct {
	cache.ThreadSafeStoreWithTransaction
}

func (s stepped) base(call string) cache.ThreadSafeStoreWithTransaction {
	explore.Point(call)
	return s.ThreadSafeStoreWithTransaction
}

func (s stepped) Add(key string, obj any)    { s.base("Add").Add(key, obj) }
func (s stepped) Update(key string, obj any) { s.base("Update").Update(key, obj) }
func (s stepped) Delete(key string)          { s.base("Delete").Delete(key) }
func (s stepped) DeleteWithObject(key string, obj any) {
	s.base("Delete").DeleteWithObject(key, obj)
}
func (s stepped) Get(key string) (any, bool) { return s.base("Get").Get(key) }
func (s stepped) List() []any                { return s.base("List").List() }

// ListKeys sorts the keys: client-go's order is random, and a schedule must always give the
// same run.
func (s stepped) ListKeys() []string {
	return slices.Sorted(slices.Values(s.base("ListKeys").ListKeys()))
}

func (s stepped) Replace(items map[string]any, rv string) { s.base("Replace").Replace(items, rv) }
func (s stepped) Transaction(txns ...contract.StoreTransaction) {
	s.base("Transaction").Transaction(txns...)
}
func (s stepped) Bookmark(rv string)             { s.base("Bookmark").Bookmark(rv) }
func (s stepped) GetIndexers() contract.Indexers { return s.base("GetIndexers").GetIndexers() }
func (s stepped) AddIndexers(ix contract.Indexers) error {
	return s.base("AddIndexers").AddIndexers(ix)
}
func (s stepped) ListIndexFuncValues(index string) []string {
	return s.base("Values").ListIndexFuncValues(index)
}
func (s stepped) ByIndex(index, value string) ([]any, error) {
	return s.base("ByIndex").ByIndex(index, value)
}
func (s stepped) Index(index string, obj any) ([]any, error) {
	return s.base("Index").Index(index, obj)
}
func (s stepped) IndexKeys(index, value string) ([]string, error) {
	keys, err := s.base("IndexKeys").IndexKeys(index, value)
	slices.Sort(keys)
	return keys, err
}
func (s stepped) LastStoreSyncResourceVersion() string {
	return s.base("LastStoreSyncResourceVersion").LastStoreSyncResourceVersion()
}
