package storetest

import (
	"runtime"
	"slices"
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
