package storetest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// bareStore hides the optional powers.
type bareStore struct{ contract.Store }

func TestHealthyStoresAgree(t *testing.T) {
	for name, newStore := range map[string]NewStore{
		"simple": newSimple(""),
		"bare":   func(ix contract.Indexers) contract.Store { return bareStore{makeSimple("", ix)} },
	} {
		t.Run(name, func(t *testing.T) {
			suite.Run(t, slices.Concat(historyCases, LongHistories()), newStore,
				suite.WithEffort(0.2))
		})
	}
}

// A call that does not return is a failure like others. The seed is given because some histories
// never delete what is not there, which is what hangs.
func TestAHistoryThatHangs(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	err := suite.Check(LongHistories()[:1], func(ix contract.Indexers) contract.Store {
		s := makeSimple("", ix)
		s.hang = hang
		return s
	}, suite.WithSeed(1), suite.WithCaseTimeout(2*time.Second))
	if err == nil || !strings.Contains(err.Error(), "does not return") {
		t.Errorf("got %v", err)
	}
}

// A history that does not do what it promises would prove nothing. So stores must fill and
// empty, calls of every kind must succeed and fail, and indexes be added to filled stores.
func TestHistoriesAreRich(t *testing.T) {
	count := map[string]int{}
	if err := suite.Check(LongHistories(), func(ix contract.Indexers) contract.Store {
		return &counting{simple: makeSimple("", ix), count: count}
	}, suite.WithSeed(11), suite.WithEffort(2)); err != nil {
		t.Error(err)
	}
	t.Log(count)
	for what, least := range map[string]int{
		"Add": 1000, "Update": 1000, "Delete": 500, "Replace": 20, "Transaction": 20,
		"AddIndexers": 20, "emptied": 5, "more than 1500 objects": 50, "long Transaction": 5,
		"Update panics": 5, "Replace panics": 5, "Transaction panics": 5, "AddIndexers panics": 5,
	} {
		if count[what] < least {
			t.Errorf("%s comes %d times, want %d or more", what, count[what], least)
		}
	}
}

// counting counts calls.
type counting struct {
	*simple
	count map[string]int
}

// call makes a call, which adds to what there is or takes away.
func (c *counting) call(name string, f func()) {
	panicked := true
	defer func() {
		if panicked {
			name += " panics"
		}
		c.count[name]++
	}()
	before := len(c.items)
	f()
	if before > 0 && len(c.items) == 0 {
		c.count["emptied"]++
	}
	if len(c.items) > 1500 {
		c.count["more than 1500 objects"]++
	}
	panicked = false
}

func (c *counting) Add(key string, obj any) { c.call("Add", func() { c.simple.Add(key, obj) }) }

func (c *counting) Update(key string, obj any) {
	c.call("Update", func() { c.simple.Update(key, obj) })
}

func (c *counting) Delete(key string) { c.call("Delete", func() { c.simple.Delete(key) }) }

func (c *counting) Replace(items map[string]any, version string) {
	c.call("Replace", func() { c.simple.Replace(items, version) })
}

func (c *counting) Transaction(txns ...contract.StoreTransaction) {
	if len(txns) > 100 {
		c.count["long Transaction"]++
	}
	c.call("Transaction", func() { c.simple.Transaction(txns...) })
}

func (c *counting) AddIndexers(added contract.Indexers) (err error) {
	c.call("AddIndexers", func() { err = c.simple.AddIndexers(added) })
	return err
}

// FuzzHistory plays long histories on a healthy store for as long as it is asked to: it must
// not be accused.
func FuzzHistory(f *testing.F) { f.Fuzz(rapid.MakeFuzz(History(newSimple("")))) }
