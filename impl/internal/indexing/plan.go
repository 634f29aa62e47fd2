package indexing

import (
	"slices"

	"github.com/informerbench/informerbench/contract"
)

// Move takes a key from the values that it had in an index to those that it gets.
// No value is in one of the lists twice; one may be in both.
type Move struct {
	Index    int
	From, To []string
}

// Stays reports whether the key stays where it is.
func (m Move) Stays() bool { return slices.Equal(m.From, m.To) }

// AppendMoves appends a Move for each index in which old, the object stored under
// the key so far, or obj, which comes in its place, has a value. Either may be nil,
// for none. It panics as ValuesOf does.
func (s *Set) AppendMoves(moves []Move, key string, old, obj any) []Move {
	for number := range s.names {
		m := Move{number, s.ValuesOf(number, key, old), s.ValuesOf(number, key, obj)}
		if len(m.From)+len(m.To) > 0 {
			moves = append(moves, m)
		}
	}
	return moves
}

// Change is one write, ready to be carried out: nothing of it can fail any more.
type Change struct {
	Key    string
	Object any  // what is stored
	Delete bool // whether the key goes instead
	Moves  []Move
}

// Plan computes what the writes change, one after the other, and touches nothing:
// if an IndexFunc fails it panics as ValuesOf does. stored returns the object that
// is under a key now, nil if none. Writes of unknown type are left out. O(len(txns))
// memory and calls of each IndexFunc.
func (s *Set) Plan(txns []contract.StoreTransaction, stored func(key string) any) []Change {
	changes := make([]Change, 0, len(txns))
	written := make(map[string]any, len(txns)) // by earlier writes of the batch
	for _, txn := range txns {
		c := Change{Key: txn.Key}
		switch txn.Type {
		case contract.TransactionTypeAdd, contract.TransactionTypeUpdate:
			c.Object = txn.Object
		case contract.TransactionTypeDelete:
			c.Delete = true
		default:
			continue
		}
		old, again := written[c.Key]
		if !again {
			old = stored(c.Key)
		}
		c.Moves = s.AppendMoves(nil, c.Key, old, c.Object)
		written[c.Key] = c.Object
		changes = append(changes, c)
	}
	return changes
}
