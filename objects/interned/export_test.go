package interned

import "reflect"

// PoolSize returns how many entries the pool has, dead ones included.
func (k *Keeper) PoolSize() int {
	k.pool.mu.Lock()
	defer k.pool.mu.Unlock()
	return k.pool.mu.used
}

// Live returns how many parts of the pool are in use.
func (k *Keeper) Live() (live int) {
	t := k.pool.table.Load()
	for i := range t.slots {
		if e := t.slots[i].Load(); e != nil && e.part.Value() != nil {
			live++
		}
	}
	return live
}

var anyKeeper = New(Options{Sights: 1})

// Equal compares two structs of one type by their shape, and by their hashes.
func Equal(a, b any) (equals, hashes bool) {
	shapes.Lock()
	if shapes.of == nil {
		shapes.of = map[reflect.Type]*shape{}
	}
	sh := shapeLocked(reflect.TypeOf(a).Elem())
	shapes.Unlock()
	p, q := reflect.ValueOf(a).UnsafePointer(), reflect.ValueOf(b).UnsafePointer()
	equals = equal(sh.ops, p, q)
	w := &walk{keeper: anyKeeper}
	return equals, w.hash(sh.ops, p, 0, 0) == w.hash(sh.ops, q, 0, 0)
}
