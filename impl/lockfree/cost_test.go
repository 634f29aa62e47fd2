package lockfree

import (
	"fmt"
	"testing"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/indexing"
)

// These tests count what writes copy and what a store keeps after much has come and gone.

// places counts the entries of a table, used and free.
func (t *table) places() (n int) {
	d := t.dir.Load()
	for i := 0; i < len(d.parts); i += 1 << (d.depth - d.parts[i].depth) {
		n += len(d.entries[i])
	}
	return n
}

// A table that had many keys keeps its directory. Each copy of the directory is paid for by a
// number of additions and deletions that grows with the directory. Without that, a part of few
// keys would be rebuilt, and the directory copied, after each few writes.
func TestCopiesOfADirectoryArePaidFor(t *testing.T) {
	t.Parallel()
	const full, left, churn = 50_000, 500, 10_000
	if blockShift == 1 {
		t.Skip("a hash of four values makes no large directory")
	}
	keys, values := &table{shown: &shown{}}, newIndex("values", nil, 0)
	keys.init()
	seq := uint64(firstSeq)
	write := func(key string, obj any) {
		seq++
		set(keys, key, &version{obj: obj, seq: seq})
	}
	for name, c := range map[string]struct {
		table     *table
		add, take func(key string)
	}{
		"keys": {
			keys,
			func(key string) { write(key, thing{}) },
			func(key string) { write(key, absence{}) },
		},
		"values": {
			&values.buckets,
			func(value string) {
				word := values.buckets.word(value)
				p, _ := values.buckets.find(word, value)
				values.buckets.insert(word, &bucketOf(values, value).keyed, p, noWrite)
			},
			func(value string) { values.replace(bucketOf(values, value), 0, nil) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slots, before := 0, c.table.dir.Load()
			// copied returns how many slots n writes copied, on average.
			copied := func(n int, write func(i int)) float64 {
				slots = 0
				for i := range n {
					write(i)
					if d := c.table.dir.Load(); d != before { // no write copies it twice
						before = d
						slots += len(d.parts)
					}
				}
				return float64(slots) / float64(n)
			}
			additions := copied(full, func(i int) { c.add(fmt.Sprint(i)) })
			deletions := copied(full-left, func(i int) { c.take(fmt.Sprint(i)) })
			both := copied(2*churn, func(i int) {
				if key := fmt.Sprint("new ", i/2); i%2 == 0 {
					c.add(key)
				} else {
					c.take(key)
				}
			})
			n := len(c.table.dir.Load().parts)
			t.Logf("%d slots; copied per addition %.1f, per deletion %.1f, then per write %.1f; %d entries",
				n, additions, deletions, both, c.table.places())
			const most = 16
			if n < 8*most {
				t.Errorf("a directory of %d slots shows nothing", n)
			}
			if max(additions, deletions, both) > most {
				t.Errorf("more than %d slots are copied per write: %.1f, %.1f and %.1f", most, additions,
					deletions, both)
			}
		})
	}
}

// bucketOf returns a bucket of a value, which holds nothing.
func bucketOf(x *index, value string) *bucket {
	b := newBucket()
	b.ordinal = uint32(x.ordinal)
	b.setKey(value)
	return b
}

// storeOfThings has n objects.
func storeOfThings(n int) *Store {
	items := make(map[string]any, n)
	for i := range n {
		items[fmt.Sprint(i)] = thing{}
	}
	s := New(nil)
	s.Replace(items, "1")
	return s
}

// writesOfAll writes n objects.
func writesOfAll(n int, kind contract.TransactionType) []contract.StoreTransaction {
	writes := make([]contract.StoreTransaction, n)
	for i := range writes {
		writes[i].Key, writes[i].Type, writes[i].Object = fmt.Sprint(i), kind, thing{version: 1}
	}
	return writes
}

// One write that deletes nearly everything leaves tables as small as many writes do.
func TestOneLargeDeletionShrinksTheTables(t *testing.T) {
	t.Parallel()
	const n = 30_000
	if blockShift == 1 {
		t.Skip("parts of bad hashes have any size")
	}
	many := func(obj any) ([]string, error) {
		values := make([]string, n)
		for i := range values {
			values[i] = fmt.Sprint("value ", i)
		}
		return values, nil
	}
	t.Run("an object of many values", func(t *testing.T) {
		t.Parallel()
		s := New(contract.Indexers{"many": many})
		s.Add("k", thing{})
		full := s.view.Load().indexes[0].buckets.places()
		s.Delete("k")
		if left := s.view.Load().indexes[0].buckets.places(); left > full/50 {
			t.Errorf("%d entries for no value, of %d", left, full)
		} else {
			t.Logf("%d entries, of %d", left, full)
		}
	})
	t.Run("all keys", func(t *testing.T) {
		t.Parallel()
		s := storeOfThings(n)
		full := s.view.Load().keys.places()
		s.Transaction(writesOfAll(n, contract.TransactionTypeDelete)...)
		if left := s.view.Load().keys.places(); left > full/50 {
			t.Errorf("%d entries for no key, of %d", left, full)
		} else {
			t.Logf("%d entries, of %d", left, full)
		}
	})
}

// A record gives back the room of many postings when it has few, and all of it with its object.
func TestPostingsAreGivenBack(t *testing.T) {
	t.Parallel()
	values := func(obj any) ([]string, error) {
		list := make([]string, obj.(thing).version)
		for i := range list {
			list[i] = fmt.Sprint("value ", i)
		}
		return list, nil
	}
	s := New(contract.Indexers{"values": values})
	c := s.view.Load().core
	record := func(key string) *record {
		v := s.view.Load()
		_, e := v.keys.find(v.keys.word(key), key)
		return e.record()
	}
	for _, other := range []int{0, 1, 2, 3, indexing.Few, 100} {
		s.Add("other", thing{version: 1000})
		s.Add("k", thing{version: 1000})
		s.Delete("other") // after which k lies elsewhere in the buckets, so its map is made
		if more := c.more(record("k")); len(more.at) != 1000 {
			t.Fatalf("a map of %d postings", len(more.at))
		}
		s.Add("other", thing{version: other})
		s.Update("k", thing{version: other})
		r := record("k")
		if n := len(c.postings(r)); n != other {
			t.Errorf("%d postings, want %d", n, other)
		}
		if more := c.more(r); more != nil && (cap(more.list) > 4*other || len(more.at) > other) {
			t.Errorf("room for %d postings, and a map of %d, for %d", cap(more.list), len(more.at), other)
		}
		for _, key := range []string{"k", "other"} {
			r := record(key)
			s.Delete(key)
			if r.few != [2]posting{} {
				t.Errorf("the record of a deleted key keeps postings: %+v", r)
			}
		}
	}
}

// An object of three values that gets three others allocates its version only: the room of its
// postings is looked at when it has its new ones.
func TestNewValuesAllocateNoPostings(t *testing.T) {
	lists := [][]string{{"a", "b", "c"}, {"d", "e", "f"}}
	s := New(contract.Indexers{"lists": func(obj any) ([]string, error) {
		return lists[obj.(thing).version], nil
	}})
	objs := []any{thing{version: 0}, thing{version: 1}}
	for i := range 10 { // until there are spares
		s.Update("k", objs[i%2])
	}
	if got := testing.AllocsPerRun(100, func() {
		s.Update("k", objs[0])
		s.Update("k", objs[1])
	}); got > 2 {
		t.Errorf("two Updates allocate %v times, want twice", got)
	}
}

// New records are settled soon, though a snapshot is open at each write. So the retire list stays
// as short as a few writes are long, and so does the stop of a write that goes through it.
func TestNewRecordsDoNotWaitLong(t *testing.T) {
	inOneGoroutine(t)
	t.Parallel()
	const inWrite, writes = 1_000, 50
	s := New(nil)
	v := s.view.Load()
	open, _ := v.readers.acquire(&v.committed)
	longest := 0
	for i := range writes {
		txns := make([]contract.StoreTransaction, inWrite)
		for j := range txns {
			txns[j].Key, txns[j].Type, txns[j].Object = fmt.Sprint(i*inWrite+j), contract.TransactionTypeAdd,
				thing{}
		}
		s.Transaction(txns...)
		longest = max(longest, v.retireList.len())
		next, _ := v.readers.acquire(&v.committed)
		open.release(0)
		open = next
	}
	open.release(0)
	if longest > 3*inWrite {
		t.Errorf("%d things waited at once; a write leaves %d", longest, inWrite)
	}
}

// What a closed snapshot kept goes after a number of writes that is small against it, though
// another snapshot is open at each write, and also if these writes leave nothing behind.
func TestWhatAClosedSnapshotKeptGoesSoon(t *testing.T) {
	t.Parallel()
	const objects = 20_000
	for name, write := range map[string]func(s *Store, i int){
		"updates":   func(s *Store, _ int) { s.Update("0", thing{}) },
		"bookmarks": func(s *Store, i int) { s.Bookmark(fmt.Sprint(i)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := storeOfThings(objects)
			v := s.view.Load()
			old, _ := v.readers.acquire(&v.committed)
			s.Transaction(writesOfAll(objects, contract.TransactionTypeUpdate)...)
			open, _ := v.readers.acquire(&v.committed)
			old.release(0)
			before, writes := v.retireList.len(), 0
			for ; v.retireList.len() > objects/10 && writes < 2*objects; writes++ {
				write(s, writes)
				next, _ := v.readers.acquire(&v.committed)
				open.release(0)
				open = next
			}
			open.release(0)
			t.Logf("%d things waited, and were dropped after %d writes", before, writes)
			if writes > objects/8 {
				t.Errorf("%d things waited for %d writes", before, writes)
			}
		})
	}
}

// What a batch needed is no large part of a small store.
func TestABatchLeavesLittleRoom(t *testing.T) {
	t.Parallel()
	const objects = 1000
	s := New(contract.Indexers{"value": func(obj any) ([]string, error) {
		return []string{fmt.Sprint(obj)}, nil
	}})
	batch := make([]contract.StoreTransaction, objects)
	for i := range batch {
		batch[i].Key, batch[i].Object, batch[i].Type = fmt.Sprint(i), i%7, contract.TransactionTypeAdd
	}
	s.Transaction(batch...)
	c := s.view.Load().core
	for _, l := range []*retireList{&c.write.retireList, &c.retireList} {
		room := max(cap(l.updated), cap(l.changed), cap(l.emptied), cap(c.shown.changed))
		if room > objects/8 {
			t.Errorf("room for %d things is left of a batch of %d", room, objects)
		}
	}
}
