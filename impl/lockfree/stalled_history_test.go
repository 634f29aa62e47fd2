package lockfree

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/informerbench/informerbench/contract"
)

// Random histories of every writing call while up to five snapshots stay open. After each
// step every snapshot is compared, whole, with the content that a plain map had after the
// write of the snapshot's number.
const (
	historyKeys       = 8
	historyGroups     = 4
	mostSnapshots     = 5
	shortest, longest = 40, 120 // steps
)

// member is what these histories store. Its groups are bits; failing makes an IndexFunc
// of it fail.
type member struct {
	key     string
	groups  int
	number  int
	failing bool
}

var errMember = errors.New("of a member that fails")

// historyIndexers are what the store has from the start, or gets by AddIndexers, in this
// order. values are all that an object may have.
var historyIndexers = []struct {
	name    string
	values  []string
	compute contract.IndexFunc
}{
	{"groups", named("g", historyGroups), func(obj any) (values []string, err error) {
		m := obj.(*member)
		if m.failing {
			return nil, errMember
		}
		for i := range historyGroups {
			if m.groups>>i&1 == 1 {
				values = append(values, fmt.Sprint("g", i))
			}
		}
		return values, nil
	}},
	{"count", named("n", historyGroups+1), func(obj any) ([]string, error) {
		n := 0
		for g := obj.(*member).groups; g > 0; g >>= 1 {
			n += g & 1
		}
		return []string{fmt.Sprint("n", n)}, nil
	}},
	{"groups again", named("s", 1<<historyGroups), func(obj any) ([]string, error) {
		return []string{fmt.Sprint("s", obj.(*member).groups)}, nil
	}},
	{"few", []string{"few"}, func(obj any) ([]string, error) {
		if g := obj.(*member).groups; g == 3 || g == 5 {
			return []string{"few"}, nil
		}
		return nil, nil
	}},
	{"number", named("v", 3), func(obj any) ([]string, error) {
		return []string{fmt.Sprint("v", obj.(*member).number%3)}, nil
	}},
	// More values than a write compares one by one, the first of them twice.
	{"many", named("m", 22), func(obj any) (values []string, err error) {
		m := obj.(*member)
		if m.groups&1 == 0 {
			return nil, nil
		}
		from := m.number % 5
		for i := range 18 {
			values = append(values, fmt.Sprint("m", from+i))
		}
		return append(values, values[0]), nil
	}},
}

// named returns n names.
func named(prefix string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint(prefix, i))
	}
	return names
}

// content is what the store holds after a write. It never changes.
type content map[string]*member

// instant names a snapshot: the core, and the number of the write.
type instant struct {
	core *core
	seq  uint64
}

// historySnapshot is a snapshot that is open or pending.
type historySnapshot struct {
	view    *view
	slot    *slot
	seq     uint64
	pending bool // announced, without a number as yet
}

// history is a store, the plain map beside it, and the open snapshots.
type history struct {
	s         *Store
	now       content
	version   string
	contents  map[instant]content
	snapshots []*historySnapshot
	former    *view // loaded by a reader that has not taken a slot yet
	numbers   int
}

func newHistory(indexes int) *history {
	given := contract.Indexers{}
	for _, x := range historyIndexers[:indexes] {
		given[x.name] = x.compute
	}
	h := &history{s: New(given), now: content{}, contents: map[instant]content{}}
	h.former = h.s.view.Load()
	h.note()
	return h
}

// note remembers the content after the newest write.
func (h *history) note() {
	v := h.s.view.Load()
	h.contents[instant{v.core, v.committed.Load()}] = h.now
}

// step is one call of the store, or one step of a reader. The meaning of n depends on kind.
type step struct {
	kind    string
	n       int
	changes []change
}

type change struct {
	key    int
	groups int // -1: deleted
	fails  bool
}

func (s step) String() string { return fmt.Sprintf("%s %d %v", s.kind, s.n, s.changes) }

// stepKinds is weighted by repetition.
var stepKinds = []string{
	"Update", "Update", "Update", "Update", "Add", "Delete", "Delete", "DeleteWithObject",
	"Transaction", "Transaction",
	"Replace", "AddIndexers", "Bookmark", "List", "open", "open", "open late", "load view", "announce",
	"go on", "close", "look",
}

// script is a history that can be played again.
type script struct {
	indexes int
	steps   []step
}

func drawScript(r *rand.Rand) script {
	out := script{indexes: r.IntN(2)}
	for range shortest + r.IntN(longest-shortest+1) {
		s := step{kind: stepKinds[r.IntN(len(stepKinds))], n: r.IntN(10), changes: make([]change, 1)}
		if s.kind == "Transaction" || s.kind == "Replace" {
			s.changes = make([]change, 1+r.IntN(6))
		}
		for i := range s.changes {
			s.changes[i] = change{key: r.IntN(historyKeys), groups: r.IntN(1<<historyGroups+1) - 1,
				fails: r.IntN(20) == 19}
		}
		out.steps = append(out.steps, s)
	}
	return out
}

// wrong is what a history panics with when the store is not as it must be.
type wrong string

func failf(format string, args ...any) { panic(wrong(fmt.Sprintf(format, args...))) }

func keyOf(c change) string { return fmt.Sprint("k", c.key) }

func (h *history) member(c change) *member {
	h.numbers++
	return &member{key: keyOf(c), groups: max(0, c.groups), number: h.numbers, failing: c.fails}
}

// write does a writing call, which is to panic exactly if fails.
func (h *history) write(fails bool, next content, call func()) {
	func() {
		defer func() {
			p := recover()
			if err, is := p.(error); p != nil && (!is || !errors.Is(err, errMember)) {
				panic(p)
			}
			if (p != nil) != fails {
				failf("a write whose IndexFunc fails: %v; it panicked: %v", fails, p)
			}
		}()
		call()
	}()
	if !fails {
		h.now = next
	}
	h.note()
}

// play does one step.
func (h *history) play(s step) {
	v := h.s.view.Load()
	c := s.changes[0]
	key, next := keyOf(c), maps.Clone(h.now)
	fails := func(m *member) bool { return m.failing && v.byName["groups"] != nil }
	switch s.kind {
	case "Add", "Update":
		m := h.member(c)
		next[key] = m
		h.write(fails(m), next, func() { h.s.Update(key, m) })
	case "Delete", "DeleteWithObject":
		delete(next, key)
		h.write(false, next, func() {
			if s.kind == "Delete" {
				h.s.Delete(key)
			} else {
				h.s.DeleteWithObject(key, h.member(c))
			}
		})
	case "Transaction":
		var txns []contract.StoreTransaction
		failed := false
		for _, c := range s.changes {
			m := h.member(c)
			txn := contract.StoreTransaction{Key: m.key,
				Transaction: contract.Transaction{Type: contract.TransactionTypeUpdate, Object: m}}
			if next[m.key] = m; c.groups < 0 {
				txn.Type = contract.TransactionTypeDelete
				delete(next, m.key)
			} else {
				failed = failed || fails(m)
			}
			txns = append(txns, txn)
		}
		h.write(failed, next, func() { h.s.Transaction(txns...) })
	case "Replace":
		items, failed := map[string]any{}, false
		next = content{}
		if s.n < 7 { // of more, the order is that of a map, and the history cannot be repeated
			s.changes = s.changes[:1]
		}
		for _, c := range s.changes {
			if m := h.member(c); c.groups >= 0 {
				items[m.key], next[m.key] = m, m
			}
		}
		for _, m := range next {
			failed = failed || fails(m)
		}
		h.write(failed, next, func() { h.s.Replace(items, fmt.Sprint("replaced ", s.n)) })
		if !failed {
			h.version = fmt.Sprint("replaced ", s.n)
		}
	case "AddIndexers":
		h.addIndexers(v, s.n%2)
	case "Bookmark":
		h.version = fmt.Sprint("bookmark ", s.n)
		h.write(false, h.now, func() { h.s.Bookmark(h.version) })
	case "List": // twice makes copies
		h.s.List()
	case "look": // the next write that leaves a past goes over the retire list
		v.reclaimThreshold = v.sinceReclaim
	default:
		h.read(v, s)
	}
}

// addIndexers adds up to n indexes that are not there, or asks for one that is. Histories
// ask for one at most, so that they can be repeated.
func (h *history) addIndexers(v *view, n int) {
	taken := len(v.indexes)
	added, fails := contract.Indexers{}, false
	for _, x := range historyIndexers[taken:min(taken+n, len(historyIndexers))] {
		added[x.name] = x.compute
		for _, m := range h.now {
			fails = fails || m.failing && x.name == "groups"
		}
	}
	refused := n == 0 && taken > 0
	if refused {
		added[historyIndexers[0].name] = historyIndexers[0].compute
	}
	h.write(fails, h.now, func() {
		if err := h.s.AddIndexers(added); (err != nil) != refused {
			failf("AddIndexers of a taken name: %v; it returned %v", refused, err)
		}
	})
}

// read does one step of a reader: it loads the view, or opens or closes a snapshot.
func (h *history) read(v *view, s step) {
	room := len(h.snapshots) < mostSnapshots
	switch {
	case s.kind == "load view":
		h.former = v
	case s.kind == "open" && room:
		h.open(v)
	case s.kind == "open late" && room:
		h.open(h.former)
	case s.kind == "announce" && room: // steps R1 and R2 of readers
		slots := v.readers.firstBlock().slots
		for i := range slots {
			if sl := &slots[i]; sl.state.CompareAndSwap(slotFree, slotPending) {
				h.snapshots = append(h.snapshots, &historySnapshot{view: v, slot: sl, pending: true})
				break
			}
		}
	case !slices.Contains(stepKinds, s.kind):
		failf("a step of the kind %q", s.kind)
	case len(h.snapshots) == 0:
	case s.kind == "go on": // step R3
		if open := h.snapshots[s.n%len(h.snapshots)]; open.pending {
			seq := open.view.committed.Load()
			if !open.slot.state.CompareAndSwap(slotPending, seq+slotBase) {
				seq = open.slot.state.Load() - slotBase
			}
			open.seq, open.pending = seq, false
		}
	case s.kind == "close":
		i := s.n % len(h.snapshots)
		h.snapshots[i].slot.release(0)
		h.snapshots = slices.Delete(h.snapshots, i, i+1)
	}
}

func (h *history) open(v *view) {
	sl, seq := v.readers.acquire(&v.committed)
	h.snapshots = append(h.snapshots, &historySnapshot{view: v, slot: sl, seq: seq})
}

// play plays a history to its end, when every reader has left. The error says what was wrong.
func (sc script) play() (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case wrong:
			err = errors.New(string(p))
		default:
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	h := newHistory(sc.indexes)
	for _, s := range sc.steps {
		h.play(s)
		h.compare()
		h.s.view.Load().checkAll() // nothing in builds without invariants
	}
	for _, open := range h.snapshots {
		open.slot.release(0)
	}
	h.s.Bookmark("last")
	v := h.s.view.Load()
	past, standIns, _ := kept(h.s)
	if waiting := v.retireList.len(); past+standIns+waiting > 0 {
		failf("%d past versions and %d stand-ins are kept without a reader, and %d things wait", past,
			standIns, waiting)
	}
	return nil
}

// reduced leaves out steps, half of them at once at first, as long as the history fails.
func (sc script) reduced() script {
	for n := len(sc.steps) / 2; n > 0; {
		shorter := false
		for i := 0; i+n <= len(sc.steps); {
			fewer := script{sc.indexes, slices.Delete(slices.Clone(sc.steps), i, i+n)}
			if fewer.play() != nil {
				sc, shorter = fewer, true
			} else {
				i += n
			}
		}
		if n > 1 || !shorter {
			n /= 2
		}
	}
	return sc
}

// mustHold plays a history drawn from r. A failing one is reduced before it is reported.
func mustHold(t *testing.T, r *rand.Rand) {
	t.Helper()
	sc := drawScript(r)
	err := sc.play()
	if err == nil {
		return
	}
	short := sc.reduced()
	text := fmt.Sprintf("%d indexes at first", short.indexes)
	for _, s := range short.steps {
		text += "\n" + s.String()
	}
	t.Fatalf("%v\nreduced to %d of %d steps: %v\n%s", err, len(short.steps), len(sc.steps),
		short.play(), text)
}

func TestHistoriesBesideStalledReaders(t *testing.T) {
	t.Parallel()
	for i := range 4 { // of 100 histories each
		seed := rand.Uint64()
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			for n := range uint64(100) {
				mustHold(t, rand.New(rand.NewPCG(seed, n)))
			}
		})
	}
}

// A history that fails is found, and reduced to the steps that it needs.
func TestHistoriesAreReduced(t *testing.T) {
	update := step{kind: "Update", changes: []change{{key: 1}}}
	sc := script{steps: slices.Repeat([]step{update}, 50)}
	sc.steps[30] = step{kind: "no such kind", changes: update.changes}
	if err := sc.play(); err == nil {
		t.Fatal("a step of no kind is played")
	}
	if got := sc.reduced(); len(got.steps) != 1 {
		t.Errorf("the history has %d steps after it was reduced, want 1", len(got.steps))
	}
}

// bytesSource makes a fuzzer's input a source of random numbers. After its end the numbers are
// spread
// evenly: with a constant, package rand would draw again and again without end.
type bytesSource struct {
	left  []byte
	after uint64
}

func (b *bytesSource) Uint64() uint64 {
	if len(b.left) == 0 {
		b.after += 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
		return b.after
	}
	var word [8]byte
	b.left = b.left[copy(word[:], b.left):]
	return binary.BigEndian.Uint64(word[:])
}

// go test -fuzz plays histories that reach new code, for the time given by -fuzztime. It begins
// with those of a few random inputs, which go test plays too.
func FuzzHistoriesBesideStalledReaders(f *testing.F) {
	random := rand.NewChaCha8([32]byte{})
	for range 4 {
		input := make([]byte, 4096)
		_, _ = random.Read(input) // it returns no error
		f.Add(input)
	}
	f.Fuzz(func(t *testing.T, data []byte) { mustHold(t, rand.New(&bytesSource{left: data})) })
}
