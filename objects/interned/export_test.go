package interned

// PoolSize returns how many entries the pool has, dead ones included.
func (k *Keeper) PoolSize() int {
	k.pool.mu.Lock()
	defer k.pool.mu.Unlock()
	return k.pool.mu.used
}
