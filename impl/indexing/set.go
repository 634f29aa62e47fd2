package indexing

import (
	"maps"
	"slices"

	"github.com/informerbench/informerbench/contract"
)

// Set is the indexes of a store: names, functions, and a number for each, from 0 up. A Set
// never changes, so it may be read without a lock. Indexes are only ever added to a store.
// So an index has the same number in all later Sets, and the indexes that a later Set adds
// have the numbers from the earlier Set's Len on.
type Set struct {
	names   []string
	compute []contract.IndexFunc
	numbers map[string]int
}

// NewSet returns the Set of a new store; indexers may be nil.
func NewSet(indexers contract.Indexers) *Set {
	return (&Set{}).extended(indexers)
}

// With returns a larger Set, or ErrTaken if the Set has one of the names.
func (s *Set) With(more contract.Indexers) (*Set, error) {
	for name := range more {
		if _, taken := s.numbers[name]; taken {
			return nil, ErrTaken(name)
		}
	}
	return s.extended(more), nil
}

func (s *Set) extended(more contract.Indexers) *Set {
	larger := &Set{slices.Clone(s.names), slices.Clone(s.compute),
		make(map[string]int, len(s.names)+len(more))}
	maps.Copy(larger.numbers, s.numbers)
	for name, compute := range more {
		larger.numbers[name] = len(larger.names)
		larger.names = append(larger.names, name)
		larger.compute = append(larger.compute, compute)
	}
	return larger
}

// Len returns the number of indexes.
func (s *Set) Len() int { return len(s.names) }

// Find returns the number of the named index, or ErrUnknown.
func (s *Set) Find(name string) (number int, err error) {
	number, ok := s.numbers[name]
	if !ok {
		return 0, ErrUnknown(name)
	}
	return number, nil
}

// Indexers returns names and functions in a map that is the caller's.
func (s *Set) Indexers() contract.Indexers {
	indexers := make(contract.Indexers, len(s.names))
	for i, name := range s.names {
		indexers[name] = s.compute[i]
	}
	return indexers
}

// Probe computes the values of an object, each once. The object need not be stored. The
// error is the IndexFunc's own.
func (s *Set) Probe(number int, obj any) ([]string, error) {
	values, err := s.compute[number](obj)
	if err != nil || len(values) < 2 {
		return values, err
	}
	return appendDistinct(nil, values), nil
}

// AppendValues appends a list of obj's values for each index, starting with number from.
// It panics as Values.Append does.
func (s *Set) AppendValues(values Values, from int, key string, obj any) Values {
	for number := from; number < len(s.names); number++ {
		values = values.Append(s.names[number], s.compute[number], key, obj)
	}
	return values
}

// ValuesOfBatch returns Len() lists for each write: those of the object that it stores, or
// empty ones if it stores none. It panics as Values.Append does.
func (s *Set) ValuesOfBatch(txns []contract.StoreTransaction) Values {
	values := MakeValues(len(txns) * len(s.names))
	for _, txn := range txns {
		values = s.AppendValues(values, 0, txn.Key, Stored(txn))
	}
	return values
}

// Stored returns the object that a write stores, nil if it stores none.
func Stored(txn contract.StoreTransaction) any {
	switch txn.Type {
	case contract.TransactionTypeAdd, contract.TransactionTypeUpdate:
		return txn.Object
	}
	return nil
}
