package mutants

// client-go's store with a read that is wrong.

import (
	"errors"
	"slices"
	"sync"
)

type copies struct{ base }

func (s copies) Get(key string) (any, bool) {
	got, ok := s.base.Get(key)
	if ok {
		got = &struct{ any }{got}
	}
	return got, ok
}

type cachedGet struct {
	base
	cache sync.Map
}

func (s *cachedGet) Add(key string, obj any) { s.Update(key, obj) }

func (s *cachedGet) Update(key string, obj any) {
	s.base.Update(key, obj)
	s.cache.Store(key, obj)
}

func (s *cachedGet) Delete(key string) {
	s.base.Delete(key)
	s.cache.Delete(key)
}

func (s *cachedGet) Get(key string) (any, bool) {
	if obj, ok := s.cache.Load(key); ok {
		return obj, true
	}
	return s.base.Get(key)
}

type shortList struct{ base }

func (s shortList) List() []any {
	list := s.base.List()
	return list[:min(len(list), 256)]
}

type keysTwice struct{ base }

func (s keysTwice) ListKeys() []string {
	return append(s.base.ListKeys(), s.base.ListKeys()...)
}

type sharedSlice struct {
	base
	mu struct {
		sync.Mutex
		list []any
	}
}

func (s *sharedSlice) List() []any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if fresh := s.base.List(); len(fresh) != len(s.mu.list) {
		s.mu.list = fresh
	}
	return s.mu.list
}

type oneBuffer struct {
	base
	mu struct {
		sync.Mutex
		buffer []any
	}
}

func (s *oneBuffer) ByIndex(index, value string) ([]any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := s.base.ByIndex(index, value)
	s.mu.buffer = append(s.mu.buffer[:0], list...)
	return s.mu.buffer, err
}

// listByKeys is what a store with a lock per key does.
type listByKeys struct{ base }

func (s listByKeys) List() []any {
	var list []any
	for _, k := range s.ListKeys() {
		if o, ok := s.Get(k); ok {
			list = append(list, o)
		}
	}
	return list
}

type byIndexByKeys struct{ base }

func (s byIndexByKeys) ByIndex(index, value string) ([]any, error) {
	keys, err := s.IndexKeys(index, value)
	var list []any
	for _, k := range keys {
		if o, ok := s.Get(k); ok {
			list = append(list, o)
		}
	}
	return list, err
}

type indexByValue struct{ base }

func (s indexByValue) Index(index string, obj any) ([]any, error) {
	f, ok := s.GetIndexers()[index]
	if !ok {
		return s.base.Index(index, obj)
	}
	values, err := f(obj)
	var list []any
	for _, v := range values {
		some, _ := s.ByIndex(index, v)
		list = append(list, some...)
	}
	return list, err
}

type missesOne struct{ base }

func (s missesOne) ByIndex(index, value string) ([]any, error) {
	list, err := s.base.ByIndex(index, value)
	return list[:min(len(list), 9)], err
}

type unsorted struct{ base }

func (s unsorted) IndexKeys(index, value string) ([]string, error) {
	keys, err := s.base.IndexKeys(index, value)
	slices.Reverse(keys)
	return keys, err
}

type lenient struct{ base }

func (s lenient) ByIndex(index, value string) ([]any, error) {
	list, _ := s.base.ByIndex(index, value)
	return list, nil
}

func (s lenient) Index(index string, obj any) ([]any, error) {
	list, _ := s.base.Index(index, obj)
	return list, nil
}

type callsNil struct{ base }

func (s callsNil) Index(index string, obj any) ([]any, error) {
	if _, err := s.GetIndexers()[index](obj); err != nil {
		return nil, err
	}
	return s.base.Index(index, obj)
}

type leakyRead struct {
	base
	mu sync.RWMutex
}

func (s *leakyRead) Index(index string, obj any) ([]any, error) {
	s.mu.RLock()
	list, err := s.base.Index(index, obj)
	if err != nil {
		return nil, err
	}
	s.mu.RUnlock()
	return list, nil
}

func (s *leakyRead) Update(key string, obj any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.base.Update(key, obj)
}

type noResync struct{ base }

func (noResync) Resync() error { return errors.New("not supported") }

// appendsByKey is a contract.Appender whose AppendList is no single instant.
type appendsByKey struct{ base }

func (s appendsByKey) AppendList(dst []any) []any {
	for _, key := range s.ListKeys() {
		if obj, ok := s.Get(key); ok {
			dst = append(dst, obj)
		}
	}
	return dst
}

func (s appendsByKey) AppendByIndex(dst []any, index, value string) ([]any, error) {
	objects, err := s.ByIndex(index, value)
	return append(dst, objects...), err
}
