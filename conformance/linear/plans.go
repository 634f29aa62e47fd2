package linear

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// patience bounds one search for an order, so that the case does not stall. Nearly all
// searches take well below a millisecond.
const patience = 2 * time.Second

// plan describes the histories of a case.
type plan struct {
	clause, name, why             string
	kinds                         []*kind // one is drawn for each call; repeated kinds are likelier
	about                         []*kind // if the store supports none of these, the case is skipped
	byKey                         bool
	clients, calls, keys, indexes span // calls is per client
	share                         int  // the case plays budget/share histories
}

var (
	manyClients = span{3, 5}
	shortRun    = span{4, 8}
	fewKeys     = span{2, maxKeys}
	fewIndexes  = span{1, maxIndexes}
)

var plans = []plan{
	{
		clause: "STORE-34", name: "by-key",
		why: "a controller that has written and then reads an older state decides on what it " +
			"knows to be wrong",
		kinds:   []*kind{add, update, update, remove, removeObject, transactionOfOne, get, get, get, get},
		byKey:   true,
		clients: manyClients, calls: span{20, 40}, keys: fewKeys, indexes: fewIndexes, share: 4,
	},
	{
		clause: "STORE-35", name: "objects",
		why: "a list that never was, or an older one after a newer one, is acted upon as if it " +
			"were the cluster",
		kinds:   []*kind{add, update, update, remove, replace, get, list, list, appendList, listKeys},
		about:   []*kind{list, appendList, listKeys},
		clients: manyClients, calls: shortRun, keys: fewKeys, indexes: fewIndexes, share: 1,
	},
	{
		clause: "STORE-35", name: "indexes",
		why: "an index that lags behind its objects gives a pod to two owners, or to none",
		kinds: []*kind{add, update, update, remove, replace, get, byIndex, byIndex, appendByIndex,
			index, indexKeys, listValues},
		about:   []*kind{byIndex, appendByIndex, index, indexKeys, listValues},
		clients: manyClients, calls: shortRun, keys: fewKeys, indexes: fewIndexes, share: 1,
	},
	{
		clause: "STORE-35", name: "indexers",
		why: "who adds an indexer reads it at once, while the watch goes on",
		kinds: []*kind{update, update, remove, replace, addIndexers, addIndexers, getIndexers, byIndex,
			byIndex, index, indexKeys, listValues},
		about:   []*kind{addIndexers},
		clients: manyClients, calls: shortRun, keys: fewKeys, indexes: span{maxIndexes, maxIndexes},
		share: 1,
	},
	{
		clause: "STORE-35", name: "transactions",
		why: "a batch stands for a burst of events; half of it never was",
		kinds: []*kind{update, remove, replace, transaction, transaction, transaction, get, list,
			byIndex, indexKeys, listValues},
		about:   []*kind{transaction},
		clients: manyClients, calls: shortRun, keys: fewKeys, indexes: fewIndexes, share: 1,
	},
	{
		clause: "STORE-35", name: "versions",
		why: "an informer says how far its cache is; a version ahead of the content hides that it " +
			"is behind",
		kinds: []*kind{add, update, update, remove, removeObject, replace, transaction, bookmark, get,
			list, lastVersion, lastVersion, lastVersion},
		about:   []*kind{lastVersion},
		clients: manyClients, calls: shortRun, keys: span{2, 2}, indexes: span{1, 1}, share: 1,
	},
	{
		clause: "STORE-35", name: "everything",
		why: "programs mix all calls, and what holds for each pair of them must hold for all together",
		kinds: []*kind{
			add, update, remove, removeObject, replace, transaction, bookmark, addIndexers,
			get, list, appendList, listKeys, byIndex, appendByIndex, index, indexKeys, listValues,
			getIndexers, lastVersion,
		},
		clients: manyClients, calls: shortRun, keys: fewKeys, indexes: fewIndexes, share: 1,
	},
}

// run records and judges histories until one is wrong, enough were right, or half of the
// case's time is over.
func (p plan) run(t *suite.T, newStore NewStore, histories int) {
	kinds, left := p.usable(t.Config(), newStore)
	if len(p.about) > 0 && !slices.ContainsFunc(p.about, func(k *kind) bool {
		return slices.Contains(kinds, k)
	}) {
		t.Skipf("%s", strings.Join(left, "; "))
	}
	var (
		r        = t.Rand()
		deadline = time.Now().Add(t.Config().CaseTimeout / 2)
		want     = max(1, t.Scale(histories)/p.share)
		sum      = tally{left: left, want: want}
	)
	defer func() { t.Notef("%s", sum) }()
	for sum.histories < want && time.Now().Before(deadline) {
		prog := p.draw(r, kinds)
		prog.shake(r)
		h, err := prog.record(newStore)
		t.Progress()
		sum.histories++
		if err != nil {
			t.Fatalf("history %d: a call that must not panic: %v", sum.histories, err)
		}
		sum.calls += len(h.ops)
		switch h.judge(min(patience, t.Patience()/2)) {
		case porcupine.Unknown:
			sum.undecided++
		case porcupine.Illegal:
			f := reduce(h, newStore, r, t.Config().CaseTimeout/8, t.Progress)
			t.Fatalf("history %d (%d clients): %s", sum.histories, len(prog.clients),
				f.report(suite.Settings[settings](t.Config()).drawings, p.clause))
		}
	}
}

// usable returns the kinds of calls that the store supports and does not waive. left says
// why the others are left out.
func (p plan) usable(cfg suite.Config, newStore NewStore) (kinds []*kind, left []string) {
	s := newStore(contract.Indexers{})
	why := map[*kind]string{}
	for _, k := range p.kinds {
		if k.power != nil && !k.power.has(s) {
			why[k] = "no " + k.power.method
		}
		for _, clause := range k.clauses {
			if reason, waived := cfg.Waived[clause]; waived {
				why[k] = fmt.Sprintf("%s is left out: %s is waived: %s", k.name, clause, reason)
			}
		}
	}
	if slices.Contains(p.kinds, addIndexers) && slices.Contains(p.kinds, getIndexers) &&
		why[getIndexers] == "" && sharesIndexers(newStore) {
		why[getIndexers] = "GetIndexers is left out: AddIndexers writes to the map that it returned " +
			"(STORE-26), and Go ends a process that reads such a map"
	}
	kinds = slices.DeleteFunc(slices.Clone(p.kinds), func(k *kind) bool { return why[k] != "" })
	left = slices.Sorted(maps.Values(why))
	return kinds, slices.Compact(left)
}

// sharesIndexers reports whether GetIndexers returns the store's own map.
func sharesIndexers(newStore NewStore) bool {
	s := newStore(indexers(bit(one)))
	before := s.GetIndexers()
	return s.AddIndexers(indexers(bit(many))) == nil && len(before) != 1
}

// tally is the text of Result.Note.
type tally struct {
	want, histories, calls, undecided int
	left                              []string
}

func (s tally) String() string {
	text := fmt.Sprintf("%d histories of %d calls in all", s.histories, s.calls)
	if s.undecided > 0 {
		text += fmt.Sprintf("; %d undecided: no order was found within %s, nor that there is none",
			s.undecided, patience)
	}
	if s.histories < s.want {
		text += fmt.Sprintf("; ended before all of %d", s.want)
	}
	return strings.Join(append([]string{text}, s.left...), "; ")
}
