package storetest

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// A read of a scene's 16 objects is over before a writer has done two writes. It touches
// one chunk or one bucket of the store's structure. The long cases have so many objects
// that dozens of writes happen during each read, and that a store holds them in many
// pieces. Each write has a number, and at every instant the numbers of the stored objects
// are consecutive. So a result shows by itself whether it is one instant.
const (
	longObjects = 2000 // even
	longReads   = 40   // reads that overlap writes, at effort 1
)

// numbered is the object that holds write number n.
type numbered struct{ n int }

func longKey(n int) string { return fmt.Sprintf("k%09d", n) }

// longIndexers returns an index of two values, and one in which each object has its own.
func longIndexers() contract.Indexers {
	return contract.Indexers{
		"half": func(obj any) ([]string, error) {
			return []string{strconv.Itoa(obj.(*numbered).n % 2)}, nil
		},
		own: func(obj any) ([]string, error) { return []string{strconv.Itoa(obj.(*numbered).n)}, nil },
	}
}

// longScene is the endless work of a writer, from number longObjects on.
type longScene struct {
	name  string
	why   string
	moves bool // whether keys come and go, so that a read of keys shows the numbers
	spare int  // the most objects beyond longObjects
	write func(s contract.Store, n int)
}

var longScenes = []longScene{
	{
		name: "under-updates",
		why: "of two writes the later is seen and the earlier is not: a cause is missing where its " +
			"effect is there",
		write: func(s contract.Store, n int) { s.Update(longKey(n%longObjects), &numbered{n}) },
	},
	{
		name: "under-arrivals-and-departures",
		why: "a later object is seen and an earlier one is not, or one that was there throughout is " +
			"missed",
		moves: true,
		spare: 1,
		write: func(s contract.Store, n int) {
			s.Add(longKey(n), &numbered{n})
			s.Delete(longKey(n - longObjects))
		},
	},
}

// longRead is a read whose result must be numbers that are step apart.
type longRead struct {
	name   string
	clause string
	step   int
	keys   bool // whether it asks for keys
	ask    func(contract.Store) ([]int, error)
	append bool // whether it needs a contract.Appender
}

var longReadings = []longRead{
	{"long-list", "STORE-7", 1, false, func(s contract.Store) ([]int, error) {
		return numbersOf(s.List()), nil
	}, false},
	{"long-list-keys", "STORE-8", 1, true, func(s contract.Store) ([]int, error) {
		return numbersIn(s.ListKeys())
	}, false},
	{"long-by-index", "STORE-9", 2, false, func(s contract.Store) ([]int, error) {
		objects, err := s.ByIndex("half", "0")
		return numbersOf(objects), err
	}, false},
	{"long-index", "STORE-10", 2, false, func(s contract.Store) ([]int, error) {
		objects, err := s.Index("half", &numbered{1})
		return numbersOf(objects), err
	}, false},
	{"long-index-keys", "STORE-11", 2, true, func(s contract.Store) ([]int, error) {
		keys, err := s.IndexKeys("half", "0")
		if err != nil {
			return nil, err
		}
		return numbersIn(keys)
	}, false},
	{"long-list-index-func-values", "STORE-12", 1, false, func(s contract.Store) ([]int, error) {
		values := s.ListIndexFuncValues(own)
		for i, value := range values {
			values[i] = "k" + value
		}
		return numbersIn(values)
	}, false},
	{"long-list-explained", "STORE-35", 1, false, func(s contract.Store) ([]int, error) {
		return numbersOf(s.List()), nil
	}, false},
	{"long-append-list", "STORE-51", 1, false, func(s contract.Store) ([]int, error) {
		return numbersOf(s.(contract.Appender).AppendList(nil)), nil
	}, true},
	{"long-append-by-index", "STORE-51", 2, false, func(s contract.Store) ([]int, error) {
		objects, err := s.(contract.Appender).AppendByIndex(nil, "half", "0")
		return numbersOf(objects), err
	}, true},
}

func numbersOf(objects []any) []int {
	out := make([]int, len(objects))
	for i, obj := range objects {
		out[i] = obj.(*numbered).n
	}
	return out
}

func numbersIn(keys []string) ([]int, error) {
	out := make([]int, len(keys))
	for i, k := range keys {
		n, err := strconv.Atoi(k[1:])
		if err != nil {
			return nil, fmt.Errorf("a key that nobody wrote: %w", err)
		}
		out[i] = n
	}
	return out, nil
}

// longCases runs every long read in every scene in which its answer changes.
func longCases() []suite.Case[NewStore] {
	var cases []suite.Case[NewStore]
	for _, sc := range longScenes {
		for _, r := range longReadings {
			if r.keys && !sc.moves {
				continue
			}
			cases = append(cases, suite.Case[NewStore]{
				Clause: r.clause, Name: r.name + "-" + sc.name, Why: sc.why,
				Run: func(t *suite.T, newStore NewStore) { sc.play(t, newStore, r) },
			})
		}
	}
	return cases
}

func (sc longScene) play(t *suite.T, newStore NewStore, r longRead) {
	s := newStore(longIndexers())
	if r.append {
		suite.Needs[contract.Appender](t, s)
	}
	for n := range longObjects {
		s.Add(longKey(n), &numbered{n})
	}
	// No yield: on one core only the end of its time slice stops a reader in the middle of a read.
	// So the reader must use the slice up.
	besideWrites(t, longObjects, func(n int) { sc.write(s, n) }, 1, longReads,
		func() func(first, last int) bool {
			got, err := r.ask(s)
			return func(first, last int) bool {
				if err == nil {
					err = sc.judge(got, r.step, first, last)
				}
				t.ErrorIf(err != nil, "%s beside the writes %d to %d: %v", r.name, first, last, err)
				return err == nil
			}
		})
}

// judge returns what is wrong with the numbers of a read that began when write first was
// done and ended when write last had begun.
func (sc longScene) judge(got []int, step, first, last int) error {
	slices.Sort(got)
	if n := len(got); n < longObjects/step || n > longObjects/step+sc.spare {
		return fmt.Errorf("%d of them; want %d, or %d more", n, longObjects/step, sc.spare)
	}
	for i := 1; i < len(got); i++ {
		if got[i] != got[i-1]+step {
			return fmt.Errorf(
				"after write %d comes %d, of %d to %d; want numbers in a row, %d apart: it is no instant",
				got[i-1], got[i], got[0], got[len(got)-1], step)
		}
	}
	if newest := got[len(got)-1]; newest <= first-step || newest > last {
		return fmt.Errorf("the newest write in it is %d", newest)
	}
	return nil
}
