package linear_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/informerbench/informerbench/conformance/linear"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// on breaks client-go's store.
func on(wrap func(base) contract.Store) linear.NewStore {
	return func(ix contract.Indexers) contract.Store { return wrap(clientGo(ix).(base)) }
}

func TestHealthyStoresAreNotAccused(t *testing.T) {
	for _, c := range []struct {
		name     string
		newStore linear.NewStore
	}{
		{"client-go", clientGo}, // with no waiver: this package does not test STORE-26
		{"simple", newSimple},
		{"without powers", func(ix contract.Indexers) contract.Store { return modest{newSimple(ix)} }},
	} {
		t.Run(c.name, func(t *testing.T) { linear.Run(t, c.newStore, suite.WithEffort(0.2)) })
	}
}

// Parts of the text of a violation.
var (
	shrunkTo = regexp.MustCompile(`Shrunk from (\d+) calls to (\d+)`)
	drawnIn  = regexp.MustCompile(`Drawn in (\S+\.html)`)
)

// Each broken store is client-go's with one small mistake. The suite must name the clause,
// shrink the violation to a handful of calls that hold the one at fault, and draw it. How
// far a history shrinks is chance: a later violation may show what the first does not.
func TestBrokenStoresAreFound(t *testing.T) {
	for _, b := range []struct {
		name, clause string
		call         string // a call that must be in the violation
		most         int    // calls in it
		newStore     linear.NewStore
	}{
		{"a list under two locks", "STORE-35", "List(", 5, newHalves},
		{"a list by keys", "STORE-35", "List(", 5, on(func(s base) contract.Store {
			return listByKeys{s}
		})},
		{"a list appended by keys", "STORE-35", "AppendList(", 5, on(func(s base) contract.Store {
			return appendsByKeys{s}
		})},
		{"an index appended by keys", "STORE-35", "AppendByIndex(", 5, on(func(s base) contract.Store {
			return appendsByKeys{s}
		})},
		{"old and new in one list", "STORE-35", "List(", 3, on(func(s base) contract.Store {
			return &overlaid{base: s}
		})},
		{"an index behind its objects", "STORE-35", "ByIndex(", 5, on(func(s base) contract.Store {
			return byIndexByKeys{s}
		})},
		{"index value by value", "STORE-35", "Index(", 6, on(func(s base) contract.Store {
			return indexByValue{s, maps.Clone(s.GetIndexers())}
		})},
		{"values brought up later", "STORE-35", "ListIndexFuncValues(", 6,
			on(func(s base) contract.Store {
				return &lateValues{base: s, first: maps.Clone(s.GetIndexers())}
			})},
		{"a lost update", "STORE-34", "Update(", 4, on(func(s base) contract.Store {
			return &busy{base: s}
		})},
		{"get of a stale cache", "STORE-34", "Get(", 4, on(func(s base) contract.Store {
			return &cached{base: s}
		})},
		{"an update in two", "STORE-34", "Get(", 4, on(func(s base) contract.Store {
			return updateInTwo{s}
		})},
		{"updates wait for a flush", "STORE-34", "Get(", 4, on(func(s base) contract.Store {
			return &writeBehind{base: s}
		})},
		{"a replace in two", "STORE-35", "Replace(", 5, on(func(s base) contract.Store {
			return replaceInTwo{s}
		})},
		{"a transaction one by one", "STORE-35", "Transaction(", 5, on(func(s base) contract.Store {
			return oneByOne{s}
		})},
		{"a version before its write", "STORE-35", "LastStoreSyncResourceVersion(", 5,
			on(func(s base) contract.Store {
				return versionFirst{s}
			})},
		{"indexers one at a time", "STORE-35", "AddIndexers(", 5, on(func(s base) contract.Store {
			return oneIndexer{s}
		})},
		{"indexers of the beginning", "STORE-35", "GetIndexers(", 3, on(func(s base) contract.Store {
			return firstIndexers{s, maps.Clone(s.GetIndexers())}
		})},
	} {
		t.Run(b.clause+" "+b.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "made", "by", "linear")
			var seen []string
			err := suite.UntilCaught(0.15, func(attempt suite.Option) (good error) {
				found := linear.Check(b.newStore, attempt, suite.Only(b.clause),
					linear.WithDrawings(dir), suite.WithObserver(func(r suite.Result) {
						if r.Outcome != suite.Fail {
							return
						}
						calls, page := drawn(t, r.Reason)
						if calls <= b.most && strings.Contains(r.Reason, b.call) && strings.Contains(page, b.call) {
							good = errors.New(r.Case + ": " + r.Reason)
						}
						seen = append(seen, r.Case+": "+r.Reason)
					}))
				if found == nil && good != nil {
					t.Errorf("Check returned nil after %v", good)
				}
				return good
			})
			if err == nil {
				t.Fatalf("no violation of at most %d calls that names %s and draws it, among %d:\n%s", b.most,
					b.call, len(seen), strings.Join(seen, "\n"))
			}
			t.Log(err)
		})
	}
}

// drawn returns the number of calls of a violation, and the page that it names.
func drawn(t *testing.T, text string) (calls int, page string) {
	t.Helper()
	to, in := shrunkTo.FindStringSubmatch(text), drawnIn.FindStringSubmatch(text)
	if to == nil || in == nil {
		t.Fatalf("the failure does not say what it was shrunk to and where it is drawn:\n%s", text)
	}
	calls, err := strconv.Atoi(to[2])
	if err != nil {
		t.Fatal(err)
	}
	html, err := os.ReadFile(in[1])
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(html), "<html") ||
		!strings.Contains(string(html), "The whole history") {
		t.Errorf("%s is no page with a drawing and the whole history", in[1])
	}
	return calls, string(html)
}

// outcomes runs Check and returns the result of each case.
func outcomes(t *testing.T, newStore linear.NewStore,
	opts ...linear.Option) (map[string]suite.Result, error) {
	t.Helper()
	got := map[string]suite.Result{}
	opts = append([]linear.Option{suite.WithEffort(0.1), linear.WithDrawings(t.TempDir()),
		suite.WithObserver(func(r suite.Result) {
			got[r.Clause.ID+"/"+r.Case] = r
		})}, opts...)
	return got, linear.Check(newStore, opts...)
}

// A store whose reads show no single instant must still linearize its calls on one key.
func TestWaivingTheWholeLeavesTheKeys(t *testing.T) {
	got, err := outcomes(t, newHalves, linear.Waive("STORE-35", "two locks"))
	if err != nil {
		t.Error(err)
	}
	if got["STORE-34/by-key"].Outcome != suite.Pass ||
		got["STORE-35/objects"].Outcome != suite.Waived {
		t.Errorf("%+v; want by-key passed and the rest waived", got)
	}
}

// A read that is waived is left out, and the others are judged.
func TestWaivedReadsAreLeftOut(t *testing.T) {
	got, err := outcomes(t, on(func(s base) contract.Store {
		return listByKeys{s}
	}), linear.Waive("STORE-7", "key by key"), suite.WithEffort(0.2))
	if err != nil {
		t.Error(err)
	}
	if r := got["STORE-35/objects"]; r.Outcome != suite.Pass ||
		!strings.Contains(r.Note, "List is left out: STORE-7 is waived: key by key") {
		t.Errorf("%+v; want a pass that says what was left out", r)
	}
	got, err = outcomes(t, newHalves, linear.Waive("STORE-9", "w"), linear.Waive("STORE-10", "w"),
		linear.Waive("STORE-11", "w"), linear.Waive("STORE-12", "w"), suite.WithEffort(0.01))
	if r := got["STORE-35/indexes"]; r.Outcome != suite.Skip ||
		!strings.Contains(r.Reason, "STORE-12") {
		t.Errorf("%+v, %v; want a skip: there is nothing left to ask", r, err)
	}
}

func TestPowersThatAStoreLacksAreNamed(t *testing.T) {
	got, err := outcomes(t, func(ix contract.Indexers) contract.Store { return modest{newSimple(ix)} })
	if err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{"STORE-35/transactions": "no Transaction",
		"STORE-35/versions": "no LastStoreSyncResourceVersion"} {
		if r := got[name]; r.Outcome != suite.Skip || !strings.Contains(r.Reason, want) {
			t.Errorf("%s: %+v; want a skip for %q", name, r, want)
		}
	}
	if r := got["STORE-34/by-key"]; r.Outcome != suite.Pass ||
		!strings.Contains(r.Note, "no DeleteWithObject") || !strings.Contains(r.Note, " histories of ") {
		t.Errorf("%+v; want a pass that says how much it looked at, and without what", r)
	}
}

// client-go's GetIndexers returns the map that AddIndexers writes to.
func TestASharedMapOfIndexersIsLeftAlone(t *testing.T) {
	got, err := outcomes(t, clientGo)
	if r := got["STORE-35/indexers"]; err != nil || !strings.Contains(r.Note, "STORE-26") {
		t.Errorf("%+v, %v; want a note of why GetIndexers is left out", r, err)
	}
	if got, _ = outcomes(t, newSimple); strings.Contains(got["STORE-35/indexers"].Note,
		"GetIndexers") {
		t.Errorf("%+v: this store's map is the caller's own", got["STORE-35/indexers"])
	}
}

func TestACallThatPanicsIsNamed(t *testing.T) {
	err := suite.UntilCaught(0.2, func(attempt suite.Option) error {
		return linear.Check(on(func(s base) contract.Store {
			return fragile{s}
		}), attempt, suite.Only("STORE-35"), linear.WithDrawings(t.TempDir()))
	})
	if err == nil || !strings.Contains(err.Error(), "List() panics: key ") {
		t.Errorf("got %v; want the call and its panic", err)
	}
}

func TestADirectoryThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := suite.UntilCaught(0, func(attempt suite.Option) error {
		return linear.Check(on(func(s base) contract.Store {
			return &writeBehind{base: s}
		}), attempt, suite.Only("STORE-34"), linear.WithDrawings(file))
	})
	var failure *suite.Failure
	if !errors.As(err, &failure) || !strings.Contains(failure.Reason, "WithDrawings") ||
		!shrunkTo.MatchString(failure.Reason) {
		t.Errorf("got %v; want the violation, and that it could not be drawn", err)
	}
}
