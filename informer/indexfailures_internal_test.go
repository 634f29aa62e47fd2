package informer

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/lockfree"
)

var errNoValue = errors.New("no value")

// TestAttempt: only an IndexFunc that fails is a failure, whatever the store makes of it.
func TestAttempt(t *testing.T) {
	t.Parallel()
	fails := func(any) ([]string, error) { return nil, errNoValue }
	panics := func(any) ([]string, error) { panic("the IndexFunc panics") }
	bug := func(any) ([]string, error) { var none *string; return []string{*none}, nil }
	works := func(any) ([]string, error) { return nil, nil }
	stores := map[string]func(contract.Indexers) contract.Store{
		"lockfree": func(ix contract.Indexers) contract.Store { return lockfree.New(ix) },
		"clientgo": func(ix contract.Indexers) contract.Store {
			return cache.NewThreadSafeStore(ix, cache.Indices{})
		},
		"a stranger's": func(ix contract.Indexers) contract.Store {
			return stranger{cache.NewThreadSafeStore(ix, cache.Indices{})}
		},
	}
	for name, newStore := range stores {
		for _, c := range []struct {
			name    string
			compute contract.IndexFunc
			write   func(s contract.Store)
			failure string // what attempt returns contains it
			panic   string // what goes on through attempt contains it
		}{
			{"works", works, func(s contract.Store) { s.Add("k", 1) }, "", ""},
			{"fails in Add", fails, func(s contract.Store) { s.Add("k", 1) }, "no value", ""},
			{"fails in Replace", fails, func(s contract.Store) {
				s.Replace(map[string]any{"k": 1}, "1")
			}, "no value", ""},
			{"panics", panics, func(s contract.Store) { s.Add("k", 1) }, "", "the IndexFunc panics"},
			{"has a bug", bug, func(s contract.Store) { s.Add("k", 1) }, "", "nil pointer dereference"},
			{"the store has a bug", works, func(contract.Store) {
				panic("broken invariant")
			}, "", "broken invariant"},
			{"a bug after a failure elsewhere", fails, func(s contract.Store) {
				_, _ = s.Index("i", 1) // as a reader might meanwhile
				m := map[string]map[string]int{}
				m["none"]["k"] = 1
			}, "", "assignment to entry in nil map"},
		} {
			f := &indexFailures{}
			s := newStore(f.around(contract.Indexers{"i": c.compute}))
			var failure any
			passed := func() (p any) {
				defer func() { p = recover() }()
				failure = f.attempt(func() { c.write(s) })
				return nil
			}()
			if !says(failure, c.failure) || !says(passed, c.panic) {
				t.Errorf("%s, %s: failure %v and panic %v; want %q and %q", name, c.name, failure, passed,
					c.failure, c.panic)
			}
			if len(f.mu.errs) > 0 || f.watching.Load() {
				t.Errorf("%s, %s: the attempt is still under way", name, c.name)
			}
		}
	}
}

func says(value any, want string) bool {
	return (value == nil) == (want == "") && strings.Contains(fmt.Sprint(value), want)
}

// stranger panics with another text than client-go's store.
type stranger struct{ cache.ThreadSafeStore }

func (s stranger) Add(key string, obj any) {
	defer reword()
	s.ThreadSafeStore.Add(key, obj)
}

func (s stranger) Replace(items map[string]any, version string) {
	defer reword()
	s.ThreadSafeStore.Replace(items, version)
}

func reword() {
	switch p := recover().(type) {
	case nil:
	case error:
		panic(fmt.Errorf("a stranger's store: %w", p))
	default:
		panic(p)
	}
}

// TestAttemptLetsGoexitGo: runtime.Goexit in an attempt ends the goroutine.
func TestAttemptLetsGoexitGo(t *testing.T) {
	t.Parallel()
	f := &indexFailures{}
	after := false
	t.Run("ended", func(t *testing.T) {
		f.attempt(t.SkipNow) // runtime.Goexit
		after = true
	})
	if after {
		t.Error("the goroutine went on after runtime.Goexit")
	}
}
