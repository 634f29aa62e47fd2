package interned

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
