package metamorphic

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/contract"
)

// Failure is the error of a history on which stores disagree with the model.
type Failure struct {
	// Config repeats the whole history.
	Config Config
	// Stores are those that disagree with the model, Agree those that agree with it.
	Stores, Agree []string
	// Clause is the clause that the first of Stores breaks.
	Clause contract.Clause
	// Calls is the reduced history; the last call is the one that is answered wrongly.
	Calls []string
	// Answers describes, for each of Stores, how its answer differs.
	Answers []string
	// Repeats is false if the failure did not recur when the same calls were made on new
	// stores. Calls are then the last calls before it.
	Repeats bool
	// At is the position of the failing operation in the whole history, from 0, and Of the
	// number of operations.
	At, Of int
}

// Error gives the calls, the answers, the clause and the seed.
func (f *Failure) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s disagree with the model", f.Clause, strings.Join(f.Stores, ", "))
	if len(f.Agree) > 0 {
		fmt.Fprintf(&b, ", with which agree %s", strings.Join(f.Agree, ", "))
	}
	if f.Repeats {
		fmt.Fprintf(&b, "\nat call %d of %d, reduced to %d:\n", f.At+1, f.Of, len(f.Calls))
	} else {
		fmt.Fprintf(&b, "\nat call %d of %d; it does not come again when the calls are repeated. The "+
			"last calls:\n", f.At+1, f.Of)
	}
	for i, c := range f.Calls {
		fmt.Fprintf(&b, "%4d. %s\n", i+1, c)
	}
	for i, a := range f.Answers {
		fmt.Fprintf(&b, "%s: %s\n", f.Stores[i], a)
	}
	fmt.Fprintf(&b, "repeat it with metamorphic.Config{Seed: %d, Calls: %d, Keys: %d}; a store is "+
		"made with the indexes %q",
		f.Config.Seed, f.Config.Calls, f.Config.Keys, indexNames[:atFirst])
	return b.String()
}

const (
	// lastCalls is the number of calls shown of a failure that does not recur.
	lastCalls = 20
	// hangs is the number of times that the reduction waits for a call that does not
	// return.
	hangs = 10
	// chances is the number of times that a part of a reduced history is played before it
	// counts as sound. A fault that every second play shows escapes 16 plays once in
	// 65,536.
	chances = 16
)

// explain reduces a history that failed with d.
func explain(h history, stores []Store, cfg Config, d *dissent) *Failure {
	f := &Failure{Config: cfg, At: d.at, Of: len(h.operations)}
	ops := h.operations[:d.at+1]
	var one []Store // the first store that disagrees: the model stands in for the others
	for _, s := range stores {
		if s.Name == d.names[0] {
			one = []Store{s}
		}
	}
	r := &reduction{h: h, stores: one, patience: max(cfg.Patience/20, 20*time.Millisecond),
		calls: cfg.Replays, hangs: hangs}
	f.Repeats = r.fails(ops)
	if !f.Repeats && len(stores) > 1 {
		r.stores = stores // one store's answer may depend on the others
		f.Repeats = r.fails(ops)
	}
	if f.Repeats {
		if reads := writesOnly(ops); r.fails(reads) {
			ops = reads
		}
		ops = r.reduce(ops)
		d = r.last
		// Play the reduced history on all stores, to tell which agree.
		h.operations = ops
		if all := play(h, stores, r.patience); all != nil {
			d = all
		}
		ops = ops[:d.at+1]
	} else {
		ops = ops[max(0, len(ops)-lastCalls):]
	}
	f.Stores = d.names
	for _, s := range stores {
		if !slices.Contains(d.names, s.Name) && !d.hung {
			f.Agree = append(f.Agree, s.Name)
		}
	}
	for _, p := range d.problems {
		f.Answers = append(f.Answers, p.String())
	}
	if clause, err := contract.LookupClause(d.problems[0].clause); err == nil {
		f.Clause = clause
	}
	f.Calls = texts(ops, (*operation).String)
	return f
}

// reduction tries parts of a history, within its bounds on calls and on hangs.
type reduction struct {
	h        history
	stores   []Store
	patience time.Duration
	calls    int      // calls that may still be made
	hangs    int      // hanging calls that may still be waited for
	last     *dissent // of the last history that failed
}

// fails plays the calls on new stores and reports whether a store disagrees.
func (r *reduction) fails(ops []*operation) bool {
	if r.calls -= len(ops); r.calls < 0 || r.hangs <= 0 || len(ops) == 0 {
		return false
	}
	h := r.h
	h.operations = ops
	d := play(h, r.stores, r.patience)
	if d == nil {
		return false
	}
	if d.hung {
		r.hangs--
	}
	r.last = d
	return true
}

// reduce leaves out calls, then entries of Replaces and Transactions, then values of
// objects. At last it leaves out calls again, for fewer may be needed now, and tries each
// part several times.
func (r *reduction) reduce(ops []*operation) []*operation {
	ops = shrink(ops, r.fails)
	for i, op := range ops {
		shrink(op.writes, func(fewer []write) bool {
			smaller := *op
			smaller.writes = fewer
			tried := slices.Clone(ops)
			tried[i] = &smaller
			if !r.fails(tried) {
				return false
			}
			ops = tried
			return true
		})
	}
	if r.hangs == hangs { // a call that hangs still reads its objects
		r.simplify(ops)
	}
	return shrink(ops, r.failsNowAndThen)
}

// failsNowAndThen plays the calls several times. A failure that depends on chance, such as
// the order of a map, may stay away once; fails alone would then keep calls that the
// failure does not need.
func (r *reduction) failsNowAndThen(ops []*operation) bool {
	for range chances {
		if r.fails(ops) {
			return true
		}
	}
	return false
}

// simplify takes index values and failures from objects as long as the history fails.
func (r *reduction) simplify(ops []*operation) {
	for _, o := range objectsOf(ops) {
		if poison, panics := o.poison, o.panics; poison >= 0 {
			o.poison, o.panics = -1, false
			if !r.fails(ops) {
				o.poison, o.panics = poison, panics
			}
		}
		for n := range o.values {
			shrink(o.values[n], func(fewer []string) bool {
				was := o.values[n]
				o.values[n] = fewer
				if r.fails(ops) {
					return true
				}
				o.values[n] = was
				return false
			})
		}
	}
}

// objectsOf returns the objects of some calls, each once.
func objectsOf(ops []*operation) []*object {
	var out []*object
	add := func(o *object) {
		if o != nil && !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	for _, op := range ops {
		add(op.object)
		for _, w := range op.writes {
			add(w.object)
		}
	}
	return out
}

// shrink leaves out parts of a list as long as the rest fails: halves, quarters and so on
// down to single elements. In the end no single element can be left out, unless fails gave
// up. It is the part of Zeller and Hildebrandt's ddmin (2002) that tries complements. A
// list of which k elements are needed takes about 2k log2(n) tries, of ever fewer elements.
func shrink[T any](list []T, fails func([]T) bool) []T {
	for size := (len(list) + 1) / 2; size >= 1; {
		shorter := false
		for from := 0; from < len(list); {
			without := slices.Concat(list[:from], list[min(from+size, len(list)):])
			if fails(without) {
				list, shorter = without, true
			} else {
				from += size
			}
		}
		switch {
		case size > 1:
			size = min((size+1)/2, max(1, len(list)/2))
		case !shorter:
			return list
		}
	}
	return list
}
