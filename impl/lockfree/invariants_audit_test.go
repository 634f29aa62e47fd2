//go:build race || invariants

package lockfree

import (
	"fmt"
	"slices"
	"strings"
)

// In this package's tests, under the race detector or with -tags invariants, each write ends with a
// check of the whole store: of the invariants that hold between two writes, whatever readers do
// (pebble's internal/invariants is the model). A breach panics. The write that made it is the one on
// the stack, or one of the few before.
//
// A check costs O(objects*(1+indexes)), and more where objects have many values in an index.
// A store of more than checkedPerWrite objects is not checked after each write: each write
// pays for checkedPerWrite objects on average. AddIndexers and Replace, which go over all
// objects themselves, are checked each time.

const checkedPerWrite = 32

func init() { newInvariants = func() invariants { return &audit{} } }

// rule is one invariant.
type rule string

const (
	ruleUsed rule = "used stands above the last cell that is not nil, with few cells " +
		"in between, and at n or higher"
	ruleLength rule = "the first n cells hold records, and those from n on hold nothing, " +
		"but the last object of a bucket that is over"
	ruleChain rule = "stand-ins in a cell go back in time, none is newer than the " +
		"committed write, and each stands for a true record"
	ruleSpare rule = "a stand-in, version or bucket that is kept for use is in no cell, " +
		"record or table, leads nowhere while free, and is kept once"
	rulePlace     rule = "a cell with a stand-in waits, once, and no other cell"
	rulePlaceGone rule = "no cell waits in an array that the store has given up"
	ruleVersions  rule = "the versions of a record go back in time, and none is newer than " +
		"the committed write"
	ruleUpdated rule = "a record that is not settled waits, once, and no other record, " +
		"but one of which no snapshot sees an object"
	ruleEmptied rule = "a bucket is over exactly if it is empty, and then waits; one that " +
		"waits knows it, and waits once"
	ruleWrite            rule = "a write that is committed leaves nothing to do in its own lists"
	ruleReclaimThreshold rule = "things with a past are looked at before they are more than the " +
		"reclaim threshold allows"
	ruleResourceVersion rule = "the write of the newest resource version is over, and a stamp to " +
		"be used again is not in use"
	rulePos     rule = "the record of a key that is present knows its cell"
	rulePosting rule = "a posting leads to a cell of a bucket that holds its record, one " +
		"posting to each bucket"
	rulePostings rule = "the cells of all buckets are as many as the postings, and an " +
		"absent key has none"
	ruleWide rule = "the places in wide that are not free are as many as the records " +
		"that lead there"
	ruleBucket rule = "a bucket is found under its value and its id, and is of an index " +
		"that the store has"
	ruleTimes rule = "the buckets of a value go back in time, one ends before the next " +
		"begins, and all but the newest are over"
	ruleFreeID    rule = "a bucket's id is free exactly if no bucket has it, and free once"
	ruleDirectory rule = "the directory leads to a part from every hash of the part"
	ruleSearch    rule = "a search finds every entry of a table"
	ruleCounts    rule = "a part counts its entries and the live ones, and has one left free"
	ruleLive      rule = "the keys that are present are as many as the objects"
	ruleShown     rule = "an entry shows the newest object if it is of the table's type, " +
		"and else nothing"
	ruleCopy rule = "a copy of a block that counts holds the newest objects of the block"
)

// rules lists all invariants, for the test that breaks each.
var rules = []rule{
	ruleUsed, ruleLength, ruleChain, ruleSpare, rulePlace, rulePlaceGone, ruleVersions, ruleUpdated,
	ruleEmptied, ruleWrite,
	ruleReclaimThreshold, ruleResourceVersion, rulePos, rulePosting, rulePostings, ruleWide,
	ruleBucket, ruleTimes, ruleFreeID, ruleDirectory,
	ruleSearch, ruleCounts, ruleLive, ruleShown, ruleCopy,
}

// audit checks a view between two writes. It belongs to the writer, and reuses its maps,
// so that tests may count allocations.
type audit struct {
	credit int
	*view
	committed uint64
	breaches  []string

	arrays  map[*array]struct{} // of the store
	places  map[place]struct{}  // these three are the retire list
	updated map[*record]struct{}
	emptied map[*bucket]struct{}
	spares  map[*standIn]struct{}

	spareBuckets map[*bucket]struct{}

	ids      map[uint32]struct{} // free bucket ids
	last     map[uint32]*record  // by bucket id: the last record with a posting in the bucket
	standIns int                 // cells that point to one
	postings int
	reached  int // buckets to which the tables of the indexes lead
	wide     int // records whose postings are in core.wide
}

// checkSome ends a write of a few objects: it checks the store if it has credit for that.
func (k *audit) checkSome(v *view) {
	k.credit += checkedPerWrite
	// k.postings, of the last check, accounts for objects of many index values.
	if n := int(v.objects.n); k.credit >= n+max(n*len(v.indexes), k.postings)+v.retireList.len() {
		k.checkAll(v)
	}
}

// checkAll checks the store and panics on a breach. Replace and AddIndexers end with it.
func (k *audit) checkAll(v *view) {
	k.credit = 0
	if breaches := k.breachesOf(v); len(breaches) > 0 {
		panic(fmt.Sprintf("lockfree: broken after write %d:\n%s", v.core.committed.Load(),
			strings.Join(breaches, "\n")))
	}
}

// breaches returns the rules that do not hold. Writer only.
func (v *view) breaches() []string { return new(audit).breachesOf(v) }

func (k *audit) breachesOf(v *view) []string {
	k.begin(v)
	k.lists()
	k.keys()
	k.array(&v.objects.array, "objects", nil)
	k.copies()
	for _, x := range v.indexes {
		k.table(&x.buckets, x)
	}
	if !slices.Equal(v.indexes, v.core.indexes) {
		k.broken(ruleBucket, "%d indexes, and %d that the writer knows", len(v.indexes),
			len(v.core.indexes))
	}
	entered, buckets := 0, 0
	for id, b := range v.buckets {
		if b != nil {
			buckets++
			k.bucket(uint32(id), b)
			k.array(&b.objects, b.key(), b)
			entered += int(b.objects.n)
		}
	}
	if entered != k.postings {
		k.broken(rulePostings, "%d cells and %d postings", entered, k.postings)
	}
	if n := len(v.wide) - len(v.freeWide); n != k.wide {
		k.broken(ruleWide, "%d and %d", n, k.wide)
	}
	if buckets != k.reached {
		k.broken(ruleBucket, "%d have an id, and the tables lead to %d", buckets, k.reached)
	}
	if k.standIns != len(v.retireList.changed) {
		k.broken(rulePlace, "%d cells have a stand-in and %d wait", k.standIns, len(v.retireList.changed))
	}
	return k.breaches
}

// broken notes a breach.
func (k *audit) broken(r rule, format string, args ...any) {
	const most = 20
	if len(k.breaches) < most {
		k.breaches = append(k.breaches, string(r)+": "+fmt.Sprintf(format, args...))
	}
}

func (k *audit) begin(v *view) {
	if k.arrays == nil {
		k.arrays, k.places, k.updated = map[*array]struct{}{}, map[place]struct{}{},
			map[*record]struct{}{}
		k.emptied, k.spares, k.ids = map[*bucket]struct{}{}, map[*standIn]struct{}{},
			map[uint32]struct{}{}
		k.last, k.spareBuckets = map[uint32]*record{}, map[*bucket]struct{}{}
	}
	clear(k.arrays)
	clear(k.places)
	clear(k.updated)
	clear(k.emptied)
	clear(k.spares)
	clear(k.spareBuckets)
	clear(k.ids)
	clear(k.last)
	k.view, k.committed, k.breaches, k.standIns, k.postings, k.reached, k.wide = v,
		v.core.committed.Load(), nil, 0, 0, 0, 0

	k.arrays[&v.objects.array] = struct{}{}
	for _, b := range v.buckets {
		if b != nil {
			k.arrays[&b.objects] = struct{}{}
		}
	}
}

// lists checks the retire list, the spares and the free ids, and notes them for later checks.
func (k *audit) lists() {
	w := &k.view.write
	if w.retireList.len() != 0 || w.made != 0 || len(k.view.shown.changed) != 0 {
		k.broken(ruleWrite, "%d things wait, %d were made", w.retireList.len(), w.made)
	}
	if k.sinceReclaim > k.reclaimThreshold {
		k.broken(ruleReclaimThreshold, "%d, and %d are allowed", k.sinceReclaim, k.reclaimThreshold)
	}
	r := &k.resourceVersion
	if newest := r.newest.Load(); !newest.over(&k.core.committed) || newest == r.former ||
		newest == r.free {
		k.broken(ruleResourceVersion, "%q of write %d", newest.rv, newest.seq)
	}
	if r.former != nil && r.former == r.free || r.free != nil && *r.free != (stamp{}) {
		k.broken(ruleResourceVersion, "a stamp that is free leads on, or is in use")
	}

	for _, p := range k.retireList.changed {
		if _, known := k.arrays[p.array]; !known {
			k.broken(rulePlaceGone, "cell %d", p.pos)
			continue
		}
		_, twice := k.places[p]
		inUse := p.pos < p.array.used.Load()
		if inUse {
			r := p.array.cell(p.pos).Load()
			inUse = r != nil && r.standIn() != nil
		}
		if !inUse || twice {
			k.broken(rulePlace, "cell %d waits without a stand-in, or twice", p.pos)
		}
		k.places[p] = struct{}{}
	}
	for _, r := range k.retireList.updated {
		_, twice := k.updated[r]
		if !r.waits(&k.core.shown) || twice {
			k.broken(ruleUpdated, "%q is settled, or waits twice", r.key())
		}
		k.updated[r] = struct{}{}
	}
	for _, b := range k.retireList.emptied {
		_, twice := k.emptied[b]
		if !b.retired || twice {
			k.broken(ruleEmptied, "%q does not know, or waits twice", b.key())
		}
		k.emptied[b] = struct{}{}
	}
	for _, kept := range [...][]*standIn{w.spares.standIns.free, w.spares.standIns.retired} {
		for _, s := range kept {
			if _, twice := k.spares[s]; twice {
				k.broken(ruleSpare, "one is kept twice")
			}
			k.spares[s] = struct{}{}
		}
	}
	for _, s := range w.spares.standIns.free {
		if s.of != nil || s.past() != nil {
			k.broken(ruleSpare, "a free one leads on")
		}
	}
	for _, kept := range [...][]*bucket{w.spares.buckets.free, w.spares.buckets.retired} {
		for _, b := range kept {
			if _, twice := k.spareBuckets[b]; twice || k.buckets[b.pos] == b {
				k.broken(ruleSpare, "a bucket is kept twice, or in use")
			}
			k.spareBuckets[b] = struct{}{}
			if b.retired || b.objects.n != 0 {
				k.broken(ruleSpare, "a bucket that is kept has %d objects", b.objects.n)
			}
		}
	}
	for _, b := range w.spares.buckets.free {
		if b.key() != "" || b.until.Load() != 0 || b.prior.Load() != nil || b.later != nil ||
			b.objects.used.Load() != 0 {
			k.broken(ruleSpare, "a free bucket leads on, or is over")
		}
	}
	for _, id := range k.freeIDs {
		_, twice := k.ids[id]
		if twice || int(id) >= len(k.buckets) || k.buckets[id] != nil {
			k.broken(ruleFreeID, "%d", id)
		}
		k.ids[id] = struct{}{}
	}
}
