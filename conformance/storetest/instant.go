package storetest

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// scene is the endless work of one writer. The content after write n is known without
// running it, so a reader's result can be compared with every instant of its call.
type scene struct {
	name    string
	clause  string // the clause of its cases; "" for the clause of each read
	why     string
	batch   bool                          // whether it needs a contract.Transactor
	content func(n int) []*item           // after write n; 0 is before the first
	write   func(s contract.Store, n int) // the n-th, from 1
}

// read is one question, and its answer computed from the content.
type read struct {
	name   string
	clause string
	ask    func(contract.Store) ([]string, error)
	expect func([]*item) []string
}

// reads are the questions that return more than one object.
var reads = []read{
	{"list", "STORE-7", func(s contract.Store) ([]string, error) {
		return names(s.List()), nil
	}, itemNames},
	{"list-keys", "STORE-8", func(s contract.Store) ([]string, error) {
		return s.ListKeys(), nil
	}, itemKeys},
	readObjects("by-index", "STORE-9", func(s contract.Store) ([]any, error) {
		return s.ByIndex(one, "a")
	},
		func(items []*item) []*item { return having(items, one, "a") }),
	readObjects("by-index-many", "STORE-9", func(s contract.Store) ([]any, error) {
		return s.ByIndex(many, "x")
	},
		func(items []*item) []*item { return having(items, many, "x") }),
	readObjects("index", "STORE-10", func(s contract.Store) ([]any, error) {
		return s.Index(one, probe)
	},
		func(items []*item) []*item { return having(items, one, probe.one) }),
	readObjects("index-many", "STORE-10", func(s contract.Store) ([]any, error) {
		return s.Index(many, probe)
	},
		func(items []*item) []*item { return having(items, many, probe.many...) }),
	{"index-keys", "STORE-11", func(s contract.Store) ([]string, error) {
		return s.IndexKeys(one, "b")
	},
		func(items []*item) []string { return itemKeys(having(items, one, "b")) }},
	{"list-index-func-values", "STORE-12", func(s contract.Store) ([]string, error) {
		return s.ListIndexFuncValues(own), nil
	},
		func(items []*item) []string { return indexValues(items, own) }},
}

var probe = newItem("probe", 0, "a", "x", "y", "z")

func readObjects(name, clause string, ask func(contract.Store) ([]any, error),
	pick func([]*item) []*item) read {
	return read{name, clause, func(s contract.Store) ([]string, error) {
		objects, err := ask(s)
		return names(objects), err
	}, func(items []*item) []string { return itemNames(pick(items)) }}
}

// instantCases asks every read in every scene.
func instantCases() []suite.Case[NewStore] {
	var cases []suite.Case[NewStore]
	for _, sc := range scenes {
		for _, r := range reads {
			c := suite.Case[NewStore]{Clause: r.clause, Name: r.name + "-" + sc.name, Why: sc.why}
			if sc.clause != "" {
				c.Clause = sc.clause
			}
			c.Run = func(t *suite.T, newStore NewStore) { sc.play(t, newStore, r) }
			cases = append(cases, c)
		}
	}
	return cases
}

const (
	sceneReaders = 2
	sceneReads   = 500                    // reads of each reader that overlap a write, at effort 1
	sceneTime    = 150 * time.Millisecond // at most, at effort 1
	// mostInstants bounds the work of judging a reader that did not run while the writer
	// went on. A read that spans more writes proves nothing either way.
	mostInstants = 3000
)

// play runs the writer beside readers and judges each result. It must be the answer for the
// content after one of these writes: from the last write that was done when the call began
// to the last write that had begun when it ended.
func (sc scene) play(t *suite.T, newStore NewStore, r read) {
	// Yielding inside an IndexFunc stretches a write, so that readers run during it.
	s := newStore(indexersBefore(runtime.Gosched, one, many, maybe, own))
	if sc.batch {
		suite.Needs[contract.Transactor](t, s)
	}
	for _, i := range sc.content(0) {
		s.Add(i.key, i)
	}

	n := besideWrites(t, 1, func(n int) { sc.write(s, n) }, sceneReaders, sceneReads,
		func() func(first, last int) bool {
			got, err := r.ask(s)
			return func(first, last int) bool {
				if err != nil {
					t.Errorf("unexpected error: %v", err)
					return false
				}
				sc.judge(t, r, got, first, last)
				runtime.Gosched() // on one core the writer runs here
				return !t.Failed()
			}
		})
	if t.Failed() {
		return
	}
	got, err := r.ask(s)
	must(t, answered(err, r.name+" after the last write", got, r.expect(sc.content(n))))
}

// besideWrites makes writes, from number first on, beside readers until each reader has made so
// many reads that overlap one, and returns the number of the last write. read returns the judge of
// its result: it is given the last write that was done when the read began and the last that had
// begun when it ended, and reports whether to go on.
func besideWrites(t *suite.T, first int, write func(n int), readers, reads int,
	read func() (judge func(first, last int) bool)) (last int) {
	var begun, done, reading atomic.Int64
	begun.Store(int64(first - 1))
	done.Store(int64(first - 1))
	reading.Store(int64(readers))
	deadline := time.Now().Add(t.ScaleTime(sceneTime))
	actors := []func(){func() {
		for n := first; reading.Load() > 0 && !t.HasStalled(); n++ {
			begun.Store(int64(n))
			write(n)
			done.Store(int64(n))
		}
	}}
	for range readers {
		actors = append(actors, func() {
			defer reading.Add(-1)
			for beside := 0; beside < t.Scale(reads) && time.Now().Before(deadline); {
				first := int(done.Load())
				judge := read()
				last := int(begun.Load())
				t.Progress()
				if !judge(first, last) {
					return
				}
				if last > first {
					beside++
				}
			}
		})
	}
	t.Together(actors...)
	return int(done.Load())
}

func (sc scene) judge(t *suite.T, r read, got []string, first, last int) {
	if last-first > mostInstants {
		return
	}
	sorted := slices.Sorted(slices.Values(got))
	for n := last; n >= first; n-- {
		if slices.Equal(sorted, slices.Sorted(slices.Values(r.expect(sc.content(n))))) {
			return
		}
	}
	t.Errorf("%s gave what was there after none of the writes %d to %d:\n  %q\nafter write %d it "+
		"was\n  %q\nafter write %d it was\n  %q",
		r.name, first, last, sorted, first, slices.Sorted(slices.Values(r.expect(sc.content(first)))),
		last, slices.Sorted(slices.Values(r.expect(sc.content(last)))))
}

const (
	crew   = 16 // objects of a scene
	circle = 40 // keys through which the window moves before it starts again
)

// scenes are the ways in which one writer changes the content.
var scenes = []scene{
	{
		name:    "under-replace",
		why:     "readers that see half a relist act on objects as if they were gone",
		content: generation,
		write:   func(s contract.Store, n int) { s.Replace(newModel(generation(n)...).asMap(), "1") },
	},
	{
		name: "under-update",
		why: "an object that moves is counted twice or not at all, or a later write is seen without " +
			"an earlier one",
		content: func(n int) []*item {
			items := make([]*item, crew)
			for j := range items {
				items[j] = at(j, lastWrite(n, j))
			}
			return items
		},
		write: func(s contract.Store, n int) { s.Update(key(n%crew), at(n%crew, n)) },
	},
	{
		name:    "under-add-and-delete",
		why:     "a later object is seen and an earlier one is not, or more objects than there ever were",
		content: window,
		write: func(s contract.Store, n int) {
			if n%2 == 1 {
				next := n/2 + crew
				s.Add(key(next%circle), at(next%circle, next))
			} else {
				s.Delete(key((n/2 - 1) % circle))
			}
		},
	},
	{
		name:    "under-transaction",
		clause:  "STORE-38",
		why:     "a batch stands for a burst of events; half of it never was",
		batch:   true,
		content: batch,
		write: func(s contract.Store, n int) {
			writes := []contract.StoreTransaction{remove(key(crew - 1 + (n+1)%2))}
			for _, i := range batch(n) {
				writes = append(writes, update(i))
			}
			s.(contract.Transactor).Transaction(writes...)
		},
	},
}

// generation returns the content after the n-th Replace. All objects are new; half of the
// keys are those of the generation before.
func generation(n int) []*item {
	items := make([]*item, crew)
	for j := range items {
		items[j] = at(j+n%2*crew/2, n)
	}
	return items
}

// lastWrite returns the newest of writes 1 to n that was to key j, if the writes go to the
// keys in turn; 0 if none was.
func lastWrite(n, j int) int { return max(0, n-((n-j)%crew+crew)%crew) }

// window returns the content after n writes that, in turn, add the next object and delete
// the oldest.
func window(n int) []*item {
	var items []*item
	for j := n / 2; j < (n+1)/2+crew; j++ {
		items = append(items, at(j%circle, j))
	}
	return items
}

// batch returns the content after the n-th Transaction. Each one rewrites every object, and
// moves the last object to another key.
func batch(n int) []*item {
	items := make([]*item, crew)
	for j := range items {
		items[j] = at(j, n)
	}
	items[crew-1] = at(crew-1+n%2, n)
	return items
}

// A writer does less than two writes during a read of a scene's 16 objects, and a store may hold
// all 16 in one piece, a page or a shard. The long cases have enough objects for dozens of writes
// during each read, and for many pieces. Each write has a number, and at every instant the numbers
// of the stored objects are consecutive. So a result shows by itself whether it is one instant.
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
				if err != nil {
					t.Errorf("%s beside the writes %d to %d: %v", r.name, first, last, err)
				}
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
