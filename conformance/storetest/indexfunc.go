package storetest

import (
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// Clauses STORE-47 to 49: how a store calls IndexFuncs, and the cost of many index values
// of one object.

// reusing returns the indexers of all indexes as functions that have one slice each: a call
// overwrites the result of the function's call before. One goroutine at a time may call them.
func reusing() contract.Indexers {
	indexers := contract.Indexers{}
	for _, index := range allIndexes {
		buffer := make([]string, 16)
		indexers[index] = func(obj any) ([]string, error) {
			for i := range buffer {
				buffer[i] = "stale" // visible in a store that kept the slice
			}
			return buffer[:copy(buffer, itemOf(obj).valuesIn(index))], nil
		}
	}
	return indexers
}

// reuseCase fills a store through one writing call. It writes no key twice: client-go
// compares the values of the old and the new object in one slice.
func reuseCase(name string, indexers func() contract.Indexers,
	write func(x *trial, items []*item)) suite.Case[NewStore] {
	return suite.Case[NewStore]{Clause: "STORE-47", Name: name,
		Run: func(t *suite.T, newStore NewStore) {
			x := newTrial(t, func(contract.Indexers) contract.Store { return newStore(indexers()) },
				allIndexes...)
			write(x, crowd(30))
			x.agree("with an IndexFunc that returns the same slice each time")
			x.delete(key(3))
			x.agree("after a Delete, with an IndexFunc that returns the same slice each time")
		}, Why: "an IndexFunc that builds its values in a buffer works with client-go, and objects " +
			"would vanish from their indexes with this store"}
}

var reuseCases = []suite.Case[NewStore]{
	reuseCase("add", reusing, func(x *trial, items []*item) { x.add(items...) }),
	reuseCase("transaction", reusing, func(x *trial, items []*item) {
		x.add(items[:5]...)
		txns := []contract.StoreTransaction{remove(items[0].key), remove(items[1].key)}
		for _, i := range items[5:] {
			txns = append(txns, add(i))
		}
		x.transaction(txns...)
	}),
	reuseCase("replace", reusing, func(x *trial, items []*item) {
		x.add(items[:5]...)
		x.replace("2", items[3:]...)
	}),
	// client-go's AddIndexers panics on a nil map
	reuseCase("add-indexers", func() contract.Indexers { return contract.Indexers{} },
		func(x *trial, items []*item) {
			x.add(items...)
			x.must(x.s.AddIndexers(reusing()))
		}),
}

// turnstile counts the calls of IndexFuncs that began while another was running.
type turnstile struct {
	inside, overlaps atomic.Int32
	memo             int // no lock: the race detector sees concurrent calls that overlaps missed
}

func (c *turnstile) pass() {
	if c.inside.Add(1) > 1 {
		c.overlaps.Add(1)
	}
	c.memo++
	runtime.Gosched() // another call can enter here if the store lets it
	c.inside.Add(-1)
}

func (c *turnstile) check(t *suite.T) {
	if n := c.overlaps.Load(); n > 0 {
		t.Errorf("of the calls of IndexFuncs during writes %d began while another one was under way", n)
	}
}

// manyItems is enough for a store to split its work between goroutines: lockfree gives each
// at least 4,096 objects.
const manyItems = 20_000

// serialCases: no two IndexFuncs run at once during writes. The cases do not call Index:
// client-go runs the IndexFuncs of several readers of Index at once.
var serialCases = []suite.Case[NewStore]{
	{Clause: "STORE-48", Name: "replace", Run: func(t *suite.T, newStore NewStore) {
		var c turnstile
		s := newStore(indexersBefore(c.pass, one))
		m := newModel(crowd(manyItems)...)
		s.Replace(m.asMap(), "2")
		c.check(t)
		t.Progress()
		c.memo = 0
		must(t, s.AddIndexers(contract.Indexers{"later": indexFunc(one, c.pass)}))
		c.check(t)
		must(t, differs("ListIndexFuncValues(later)", s.ListIndexFuncValues("later"),
			indexValues(m.all(), one)))
	}, Why: whySerial},
	{Clause: "STORE-48", Name: "writers", Run: func(t *suite.T, newStore NewStore) {
		var c turnstile
		s := newStore(indexersBefore(c.pass, one, many))
		last := make([]map[string]*item, restWriters)
		var actors []func()
		for w := range restWriters {
			last[w] = map[string]*item{}
			actors = append(actors, func() {
				for n := range t.Scale(100) {
					i := at(n%7, n)
					i.key = fmt.Sprintf("writer-%d-%s", w, i.key)
					last[w][i.key] = i
					if b, ok := s.(contract.Transactor); ok && n%3 == 0 {
						b.Transaction(add(i), update(i))
					} else {
						s.Update(i.key, i)
					}
					if n%5 == 0 {
						s.Delete(i.key)
						delete(last[w], i.key)
					}
				}
			})
		}
		t.Together(actors...)
		c.check(t)
		var rest []*item
		for _, of := range last {
			for _, i := range of {
				rest = append(rest, i)
			}
		}
		m := newModel(rest...)
		m.indexes = []string{one, many}
		agree(t, m, s, "after several writers")
	}, Why: whySerial},
	{Clause: "STORE-48", Name: "every-write-at-once", Run: func(t *suite.T, newStore NewStore) {
		var c turnstile
		s := newStore(indexersBefore(c.pass, one))
		items := crowd(200)
		rounds := t.Scale(10)
		t.Together(func() {
			for range rounds {
				s.Replace(newModel(items...).asMap(), "2")
				t.Progress()
			}
		}, func() {
			for n := range rounds {
				t.Progress()
				err := s.AddIndexers(contract.Indexers{key(n): indexFunc(one, c.pass)})
				if err != nil {
					t.Errorf("AddIndexers: %v", err)
				}
			}
		}, func() {
			for n := range rounds * 50 {
				s.Update(key(n%300), at(n%300, n))
			}
		}, func() {
			for n := range rounds * 50 {
				if b, ok := s.(contract.Transactor); ok {
					b.Transaction(add(at(n%300, n)), remove(key((n+1)%300)))
				}
				s.Delete(key(n % 300))
			}
		})
		c.check(t)
	}, Why: whySerial},
}

const whySerial = "an IndexFunc with a memo map works with client-go: called from two " +
	"goroutines at once it ends the process (concurrent map writes)"

// The sizes of STORE-49.
const (
	fewValues  = 100
	mostValues = 64 * fewValues
	// slowerThanFew is the largest healthy ratio of two processor times: that of n values
	// of one object, and that of n values of objects with fewValues each. Cache misses make
	// it about three. Comparing each value with each makes it n/fewValues.
	slowerThanFew = 8
	// noticeable is the shortest processor time for which a step can fail.
	noticeable = 20 * time.Millisecond
	// accusations is the number of times in a row that a step must be too slow to fail.
	accusations = 3
)

// linearCase runs work for an object of more and more values. A store's interface has
// nothing to count, so the case measures times. Three measures keep it from taking a busy
// machine for a slow store. It measures processor time, which excludes everything else that
// runs on the machine. It compares with the same number of values in many objects, measured
// just before. And a step fails only if it is too slow three times in a row.
func linearCase(name string, work func(t *suite.T, s contract.Store, n int)) suite.Case[NewStore] {
	return suite.Case[NewStore]{Clause: "STORE-49", Name: name,
		Run: func(t *suite.T, newStore NewStore) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			elapsed := func(n, times int) time.Duration {
				begin := processorTime()
				for range times {
					work(t, newStore(indexers(many)), n)
					t.Progress() // the steps are bounded, and on a slow machine they take seconds
				}
				return processorTime() - begin
			}
			for n := 2 * fewValues; n <= mostValues; n *= 2 {
				for again := 1; ; again++ {
					inMany, inOne := elapsed(fewValues, n/fewValues), elapsed(n, 1)
					if inOne <= max(noticeable, slowerThanFew*inMany) {
						break
					}
					if again == accusations {
						t.Fatalf("writes of an object of %d index values take %s of processor time, of objects of "+
							"%d values each, as many in all, %s: more than linear", n, inOne, fewValues, inMany)
					}
				}
			}
		}, Why: "an object of thousands of index values stops every writer, and with a lock every " +
			"reader, for seconds"}
}

// valuesFrom returns n values. Different from give disjoint values.
func valuesFrom(from, n int) []string {
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprintf("value-%08d", from+i)
	}
	return values
}

var linearCases = []suite.Case[NewStore]{
	linearCase("one-object", func(t *suite.T, s contract.Store, n int) {
		values, others := valuesFrom(0, n), valuesFrom(n, n)
		reversed := slices.Clone(others)
		slices.Reverse(reversed)
		for _, v := range [][]string{values, others, reversed,
			slices.Concat(reversed[n/2:], values[n/2:])} {
			s.Update("k", &item{name: "k", key: "k", many: v})
			must(t, found(s, v[0], 1))
		}
		s.Delete("k")
		must(t, differs("ListIndexFuncValues", s.ListIndexFuncValues(many), nil))
	}),
	// An object that leaves a value gives its place there to another object, which may have
	// many values itself.
	linearCase("two-that-share", func(t *suite.T, s contract.Store, n int) {
		values, others := valuesFrom(0, n), valuesFrom(n, n)
		s.Add("k", &item{name: "k", key: "k", many: values})
		s.Add("l", &item{name: "l", key: "l", many: values})
		must(t, found(s, values[n/2], 2))
		s.Update("k", &item{name: "k", key: "k", many: others})
		must(t, found(s, values[n/2], 1))
		s.Update("k", &item{name: "k", key: "k", many: values})
		s.Delete("l")
		must(t, found(s, values[n/2], 1))
	}),
	linearCase("all-at-once", func(t *suite.T, s contract.Store, n int) {
		values, others := valuesFrom(0, n), valuesFrom(n, n)
		k, l := &item{name: "k", key: "k", many: values}, &item{name: "l", key: "l", many: values}
		s.Replace(map[string]any{"k": k, "l": l}, "1")
		must(t, found(s, values[n/2], 2))
		must(t, s.AddIndexers(contract.Indexers{"later": indexFunc(many, nil)}))
		if b, ok := s.(contract.Transactor); ok {
			moved := &item{name: "k2", key: "k", many: others}
			b.Transaction(update(moved), remove("l"), add(l))
			must(t, found(s, values[n/2], 1))
		}
		s.Replace(nil, "2")
	}),
}

// found returns an error unless want objects have the value.
func found(s contract.Store, value string, want int) error {
	list, err := s.ByIndex(many, value)
	if err == nil && len(list) != want {
		err = fmt.Errorf("ByIndex(many, %s) gave %d objects; want %d", value, len(list), want)
	}
	return err
}
