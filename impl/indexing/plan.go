package indexing

import (
	"slices"

	"github.com/informerbench/informerbench/contract"
)

// Move is the values that a key had in an index, and those that it gets. No list has a
// value twice; a value may be in both lists.
type Move struct{ From, To []string }

// Stays reports whether the two lists are equal, so that the key stays where it is.
func (m Move) Stays() bool { return slices.Equal(m.From, m.To) }

// Diff calls leave with the values of From that are not in To, and then enter with
// those of To that are not in From. O(values).
func (m Move) Diff(leave, enter func(value string)) {
	if max(len(m.From), len(m.To)) > Few {
		m.diffMany(leave, enter)
		return
	}
	for _, value := range m.From {
		if !slices.Contains(m.To, value) {
			leave(value)
		}
	}
	for _, value := range m.To {
		if !slices.Contains(m.From, value) {
			enter(value)
		}
	}
}

func (m Move) diffMany(leave, enter func(value string)) {
	wanted := make(Wanted, len(m.To))
	for _, value := range m.To {
		wanted[indexed{value: value}] = struct{}{}
	}
	for _, value := range m.From {
		if !wanted.Take(0, value) {
			leave(value)
		}
	}
	for _, value := range m.To {
		if wanted.Take(0, value) {
			enter(value)
		}
	}
}

// AppendMoves appends two lists for each index: the values of old, the object stored under
// the key so far, and those of obj, which replaces it. Either may be nil, for no object. It
// panics as Values.Append does.
func (s *Set) AppendMoves(moves Values, key string, old, obj any) Values {
	for number, name := range s.names {
		moves = moves.Append(name, s.compute[number], key, old).Append(name, s.compute[number], key, obj)
	}
	return moves
}

// Move returns what AppendMoves has appended for the index with the number.
func (v Values) Move(number int) Move { return Move{v.List(2 * number), v.List(2*number + 1)} }

// Change is one planned write. Carrying it out cannot fail.
type Change struct {
	Key    string
	Object any    // what is stored
	Delete bool   // whether the key is deleted instead
	Moves  Values // a Move for each index
}

// Plan computes the changes of the writes, one after the other, and touches nothing. If an
// IndexFunc fails it panics as Values.Append does. stored returns the object that is under a
// key now, nil if none. Writes of unknown type are left out. O(len(txns)) memory and calls
// of each IndexFunc.
func (s *Set) Plan(txns []contract.StoreTransaction, stored func(key string) any) []Change {
	changes := make([]Change, 0, len(txns))
	written := make(map[string]any, len(txns)) // by earlier writes of the batch
	moves := MakeValues(2 * len(txns) * len(s.names))
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
		moves = s.AppendMoves(moves, c.Key, old, c.Object)
		c.Moves = moves.Object(len(changes), 2*len(s.names))
		written[c.Key] = c.Object
		changes = append(changes, c)
	}
	return changes
}
