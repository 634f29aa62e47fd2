package linear

import (
	"fmt"
	"maps"
	mathbits "math/bits"
	"slices"
	"strconv"

	"github.com/informerbench/informerbench/contract"
)

// write is the effect of a call on one key.
type write struct {
	key    int
	object *object // nil: a deletion
	as     contract.TransactionType
	last   *object // the object that a deletion is given; may be nil
}

// call is one call of a history. Its kind decides which fields count.
type call struct {
	kind    *kind
	key     int // of a call that concerns one key
	writes  []write
	whole   bool // keys that writes does not name become absent
	version int  // the store's resource version after the call; 0 leaves it unchanged
	adds    bits // the indexes that AddIndexers names

	index  int // the index that is read
	values bits
	probe  *object // the argument of Index

	yields int // number of yields of the client before the call

	// Arguments that the store keeps; made anew for each run.
	items    map[string]any
	batch    []contract.StoreTransaction
	indexers contract.Indexers
}

// view is the part of the store that a call's result shows.
type view int

const (
	seesNothing view = iota
	seesObjects
	seesKeys
	seesValues
	seesIndexers
	seesVersion
)

// power is an optional interface of a store.
type power struct {
	method string
	has    func(contract.Store) bool
}

var (
	transactor = &power{"Transaction", func(s contract.Store) bool {
		_, ok := s.(contract.Transactor)
		return ok
	}}
	deleter = &power{"DeleteWithObject", func(s contract.Store) bool {
		_, ok := s.(contract.ObjectDeleter)
		return ok
	}}
	appender = &power{"AppendList", func(s contract.Store) bool {
		_, ok := s.(contract.Appender)
		return ok
	}}
	versioner = &power{"LastStoreSyncResourceVersion", func(s contract.Store) bool {
		_, ok := s.(contract.ResourceVersioner)
		return ok
	}}
)

// raw is the result of a call as the store returned it.
type raw struct {
	objects  []any
	names    []string
	indexers contract.Indexers
	version  string
	failed   bool
	odd      string
}

// kind is one method of the store.
type kind struct {
	name    string
	writes  bool
	power   *power   // the optional interface that it needs; nil for contract.Store
	clauses []string // the model relies on these: if one is waived, the kind is left out
	sees    view
	indexed bool // reads an index by a value, and fails if the index does not exist
	draw    func(d *dice, c *call)
	prepare func(c *call) // makes the arguments that the store keeps
	run     func(s contract.Store, c *call) raw
	answer  func(s state, c *call) result // the model's result; nil if the call returns nothing
	args    func(c *call, hidden bits) string
}

var (
	add = &kind{
		name: "Add", writes: true,
		draw: (*dice).drawStore,
		run: func(s contract.Store, c *call) raw {
			s.Add(keyNames[c.key], c.writes[0].object.item())
			return raw{}
		},
		args: storeArgs,
	}
	update = &kind{
		name: "Update", writes: true,
		draw: (*dice).drawStore,
		run: func(s contract.Store, c *call) raw {
			s.Update(keyNames[c.key], c.writes[0].object.item())
			return raw{}
		},
		args: storeArgs,
	}
	remove = &kind{
		name: "Delete", writes: true,
		draw: func(d *dice, c *call) {
			c.key = d.key()
			c.writes = []write{{key: c.key}}
		},
		run: func(s contract.Store, c *call) raw {
			s.Delete(keyNames[c.key])
			return raw{}
		},
		args: keyArg,
	}
	removeObject = &kind{
		name: "DeleteWithObject", writes: true, power: deleter,
		draw: func(d *dice, c *call) {
			c.key = d.key()
			w := write{key: c.key}
			if d.r.IntN(4) != 0 {
				w.last = d.object(c.key, false)
			}
			c.writes, c.version = []write{w}, w.last.version()
		},
		run: func(s contract.Store, c *call) raw {
			s.(contract.ObjectDeleter).DeleteWithObject(keyNames[c.key], c.writes[0].last.item())
			return raw{}
		},
		args: func(c *call, _ bits) string {
			return keyNames[c.key] + ", " + longOrNil(c.writes[0].last)
		},
	}
	replace = &kind{
		name: "Replace", writes: true,
		draw: func(d *dice, c *call) {
			c.whole, c.version = true, d.next()
			for k := range d.keys {
				if d.r.IntN(3) != 0 {
					c.writes = append(c.writes, write{key: k, object: d.object(k, false)})
				}
			}
		},
		prepare: func(c *call) {
			c.items = map[string]any{}
			for _, w := range c.writes {
				c.items[keyNames[w.key]] = w.object.item()
			}
		},
		run: func(s contract.Store, c *call) raw {
			s.Replace(c.items, strconv.Itoa(c.version))
			return raw{}
		},
		args: func(c *call, hidden bits) string {
			return writesText(c, hidden) + ", version " + strconv.Itoa(c.version)
		},
	}
	transaction = &kind{
		name: "Transaction", writes: true, power: transactor, clauses: []string{"STORE-37", "STORE-38"},
		draw:    func(d *dice, c *call) { d.drawBatch(c, 1+d.r.IntN(4), d.key) },
		prepare: prepareBatch,
		run:     runBatch,
		args:    writesText,
	}
	// transactionOfOne has one write, so it is atomic in every store.
	transactionOfOne = &kind{
		name: "Transaction", writes: true, power: transactor, clauses: []string{"STORE-37"},
		draw: func(d *dice, c *call) {
			c.key = d.key()
			d.drawBatch(c, 1, func() int { return c.key })
		},
		prepare: prepareBatch,
		run:     runBatch,
		args:    writesText,
	}
	bookmark = &kind{
		name: "Bookmark", writes: true, power: versioner,
		draw: func(d *dice, c *call) { c.version = d.next() },
		run: func(s contract.Store, c *call) raw {
			s.(contract.ResourceVersioner).Bookmark(strconv.Itoa(c.version))
			return raw{}
		},
		args: func(c *call, _ bits) string { return strconv.Itoa(c.version) },
	}
	addIndexers = &kind{
		name: "AddIndexers", writes: true, clauses: []string{"STORE-23", "STORE-24"},
		draw:    func(d *dice, c *call) { c.adds = d.someIndexes() },
		prepare: func(c *call) { c.indexers = indexers(c.adds) },
		run: func(s contract.Store, c *call) raw {
			return raw{failed: s.AddIndexers(c.indexers) != nil}
		},
		answer: func(s state, c *call) result { return result{failed: s.indexes&c.adds != 0} },
		args:   func(c *call, _ bits) string { return c.adds.text(indexNames[:]) },
	}

	get = &kind{
		name: "Get", sees: seesObjects,
		draw: func(d *dice, c *call) { c.key = d.key() },
		run: func(s contract.Store, c *call) raw {
			item, exists := s.Get(keyNames[c.key])
			switch {
			case exists:
				return raw{objects: []any{item}}
			case item != nil:
				return raw{odd: fmt.Sprintf("%v, and that it is absent", item)}
			}
			return raw{}
		},
		answer: func(s state, c *call) (r result) {
			r.at[c.key] = s.at[c.key]
			return r
		},
		args: keyArg,
	}
	list = &kind{
		name: "List", sees: seesObjects, clauses: []string{"STORE-7"},
		run:    func(s contract.Store, _ *call) raw { return raw{objects: s.List()} },
		answer: func(s state, _ *call) result { return result{at: s.at} },
	}
	// appendList and appendByIndex append to an empty slice that has room for everything.
	appendList = &kind{
		name: "AppendList", sees: seesObjects, power: appender, clauses: []string{"STORE-7", "STORE-51"},
		run: func(s contract.Store, _ *call) raw {
			return raw{objects: s.(contract.Appender).AppendList(make([]any, 0, maxKeys))}
		},
		answer: list.answer,
	}
	listKeys = &kind{
		name: "ListKeys", sees: seesKeys, clauses: []string{"STORE-8"},
		run:    func(s contract.Store, _ *call) raw { return raw{names: s.ListKeys()} },
		answer: func(s state, _ *call) result { return result{set: present(s.at)} },
	}
	byIndex = &kind{
		name: "ByIndex", sees: seesObjects, indexed: true, clauses: []string{"STORE-9"},
		draw: (*dice).drawValue,
		run: func(s contract.Store, c *call) raw {
			objects, err := s.ByIndex(indexNames[c.index], c.value())
			return raw{objects: objects, failed: err != nil}
		},
		answer: func(s state, c *call) result {
			if !s.indexes.has(c.index) {
				return result{failed: true}
			}
			return result{at: s.matching(c)}
		},
		args: valueArgs,
	}
	appendByIndex = &kind{
		name: "AppendByIndex", sees: seesObjects, indexed: true, power: appender,
		clauses: []string{"STORE-9", "STORE-51"},
		draw:    (*dice).drawValue,
		run: func(s contract.Store, c *call) raw {
			objects, err := s.(contract.Appender).AppendByIndex(make([]any, 0, maxKeys), indexNames[c.index],
				c.value())
			return raw{objects: objects, failed: err != nil}
		},
		answer: byIndex.answer,
		args:   valueArgs,
	}
	index = &kind{
		name: "Index", sees: seesObjects, indexed: true, clauses: []string{"STORE-10"},
		draw: func(d *dice, c *call) {
			c.index = d.index()
			c.probe = d.object(d.key(), false)
			c.values = c.probe.values[c.index]
		},
		run: func(s contract.Store, c *call) raw {
			objects, err := s.Index(indexNames[c.index], c.probe.item())
			return raw{objects: objects, failed: err != nil}
		},
		answer: byIndex.answer,
		args:   func(c *call, _ bits) string { return indexNames[c.index] + ", " + c.probe.long() },
	}
	indexKeys = &kind{
		name: "IndexKeys", sees: seesKeys, indexed: true, clauses: []string{"STORE-11"},
		draw: (*dice).drawValue,
		run: func(s contract.Store, c *call) (r raw) {
			names, err := s.IndexKeys(indexNames[c.index], c.value())
			r = raw{names: names, failed: err != nil}
			if !slices.IsSorted(names) {
				r.odd = fmt.Sprintf("%q, unsorted (STORE-14)", names)
			}
			return r
		},
		answer: func(s state, c *call) result {
			if !s.indexes.has(c.index) {
				return result{failed: true}
			}
			return result{set: present(s.matching(c))}
		},
		args: valueArgs,
	}
	listValues = &kind{
		name: "ListIndexFuncValues", sees: seesValues, clauses: []string{"STORE-12"},
		draw: func(d *dice, c *call) { c.index = d.index() },
		run: func(s contract.Store, c *call) raw {
			return raw{names: s.ListIndexFuncValues(indexNames[c.index])}
		},
		answer: func(s state, c *call) (r result) {
			for _, o := range s.at {
				if o != nil && s.indexes.has(c.index) {
					r.set |= o.values[c.index]
				}
			}
			return r
		},
		args: func(c *call, _ bits) string { return indexNames[c.index] },
	}
	getIndexers = &kind{
		name: "GetIndexers", sees: seesIndexers, clauses: []string{"STORE-25", "STORE-26"},
		run:    func(s contract.Store, _ *call) raw { return raw{indexers: s.GetIndexers()} },
		answer: func(s state, _ *call) result { return result{set: s.indexes} },
	}
	lastVersion = &kind{
		name: "LastStoreSyncResourceVersion", sees: seesVersion, power: versioner,
		clauses: []string{"STORE-40", "STORE-41", "STORE-42", "STORE-43"},
		run: func(s contract.Store, _ *call) raw {
			return raw{version: s.(contract.ResourceVersioner).LastStoreSyncResourceVersion()}
		},
		answer: func(s state, _ *call) result { return result{version: s.version} },
	}
)

// value returns the only value of c.values.
func (c *call) value() string { return valueNames[mathbits.TrailingZeros8(uint8(c.values))] }

func prepareBatch(c *call) {
	c.batch = make([]contract.StoreTransaction, len(c.writes))
	for i, w := range c.writes {
		item := w.object.item()
		if w.object == nil {
			item = w.last.item()
		}
		c.batch[i] = contract.StoreTransaction{Key: keyNames[w.key],
			Transaction: contract.Transaction{Type: w.as, Object: item}}
	}
}

func runBatch(s contract.Store, c *call) raw {
	s.(contract.Transactor).Transaction(c.batch...)
	return raw{}
}

// read converts the returned values to a result.
func (c *call) read(a raw) (r result) {
	r.failed, r.odd = a.failed, a.odd
	if r.failed {
		return r
	}
	switch c.kind.sees {
	case seesObjects:
		for _, item := range a.objects {
			r.take(item)
		}
	case seesKeys:
		r.collect(keyNames[:], a.names)
	case seesValues:
		r.collect(valueNames[:], a.names)
	case seesIndexers:
		r.collect(indexNames[:], slices.Collect(maps.Keys(a.indexers)))
	case seesVersion:
		if n, err := strconv.Atoi(a.version); err == nil {
			r.version = n
		} else if a.version != "" {
			r.odd = fmt.Sprintf("%q, which nobody gave it", a.version)
		}
	}
	return r
}

func (r *result) take(item any) {
	switch o := objectOf(item); {
	case o == nil:
		r.odd = fmt.Sprintf("%T(%v), which nobody stored", item, item)
	case r.at[o.key] != nil:
		r.twice = o
	default:
		r.at[o.key] = o
	}
}

func (r *result) collect(known, got []string) {
	for _, name := range got {
		switch n := slices.Index(known, name); {
		case n < 0:
			r.odd = fmt.Sprintf("%q, of which nothing has %q", got, name)
		case r.set.has(n):
			r.odd = fmt.Sprintf("%q, with %q twice", got, name)
		default:
			r.set |= bit(n)
		}
	}
}
