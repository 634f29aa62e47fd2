//go:build !explore

package explore

import (
	"cmp"
	"hash/maphash"
	"math/rand/v2"
	"sync"
)

// Mutex is sync.Mutex in a normal build.
type Mutex = sync.Mutex

// RWMutex is sync.RWMutex in a normal build.
type RWMutex = sync.RWMutex

// Cond is sync.Cond in a normal build.
type Cond = sync.Cond

// Point marks the atomic step that follows it, under a name for it.
func Point(string) {}

// Uint32 returns a random number.
func Uint32() uint32 { return rand.Uint32() }

// Hash hashes s. Under the tag it is the same in every process.
func Hash(seed maphash.Seed, s string) uint64 { return maphash.String(seed, s) }

// Ordered returns m. Under the tag it returns an iterator in the order of the keys.
func Ordered[K cmp.Ordered, V any](m map[K]V) map[K]V { return m }
