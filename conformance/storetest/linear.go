package storetest

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// The histories are short and on few keys, so that the calls collide and the
// search for an order stays small.
const (
	linearKeys    = 3
	linearActors  = 3
	linearCalls   = 20  // of each actor
	linearRuns    = 400 // histories, at effort 1
	linearPatient = 5 * time.Second
)

// content is what the keys hold: the number of the write, 0 for absent.
type content [linearKeys]int

// call is one call of a history; the output of reads is a content too, with the
// places that the read says nothing about at 0.
type call struct {
	kind string
	key  int
	seq  int
}

func (c call) String() string { return fmt.Sprintf("%s(key %d, write %d)", c.kind, c.key, c.seq) }

// after returns the content after the call, and what the call must have returned.
func (c call) after(now content) (next, output content) {
	switch c.kind {
	case "update":
		now[c.key] = c.seq
	case "delete":
		now[c.key] = 0
	case "replace":
		now = content{}
		now[c.key] = c.seq
	case "get":
		output[c.key] = now[c.key]
	case "list":
		output = now
	case "by-index":
		for k, seq := range now {
			if seq%2 == 1 {
				output[k] = seq
			}
		}
	}
	return now, output
}

func parity(seq int) string { return [...]string{"even", "odd"}[seq%2] }

// run makes the call.
func (c call) run(s contract.Store) (output content) {
	i := newItem(key(c.key), c.seq, parity(c.seq), fmt.Sprint(c.seq))
	var objects []any
	switch c.kind {
	case "update":
		s.Update(i.key, i)
	case "delete":
		s.Delete(i.key)
	case "replace":
		s.Replace(map[string]any{i.key: i}, "1")
	case "get":
		if o, ok := s.Get(i.key); ok {
			objects = []any{o}
		}
	case "list":
		objects = s.List()
	case "by-index":
		objects, _ = s.ByIndex(one, "odd")
	}
	for _, o := range objects {
		got := o.(*item)
		for k := range output {
			if key(k) == got.key {
				_, _ = fmt.Sscan(got.many[0], &output[k])
			}
		}
	}
	return output
}

var storeModel = porcupine.Model{
	Init: func() any { return content{} },
	Step: func(state, input, output any) (bool, any) {
		next, want := input.(call).after(state.(content))
		return want == output.(content), next
	},
}

// keyModel is storeModel for calls that concern one key each: the history of each
// key is judged by itself.
var keyModel = func() porcupine.Model {
	m := storeModel
	m.Partition = func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := make([][]porcupine.Operation, linearKeys)
		for _, op := range history {
			k := op.Input.(call).key
			byKey[k] = append(byKey[k], op)
		}
		return byKey
	}
	return m
}()

// linearCases: histories of a few goroutines, explained by some order or not.
var linearCases = []suite.Case[NewStore]{
	linearCase("STORE-34", "by-key", keyModel, "update", "update", "delete", "get", "get"),
	linearCase("STORE-35", "the-whole-store", storeModel, "update", "update", "delete", "replace", "get", "list", "by-index"),
}

func linearCase(clause, name string, m porcupine.Model, kinds ...string) suite.Case[NewStore] {
	return suite.Case[NewStore]{Clause: clause, Name: name, Run: func(t *suite.T, newStore NewStore) {
		r := t.Rand()
		for range t.Scale(linearRuns) {
			history := record(t, newStore(indexersBefore(runtime.Gosched, one)), r, kinds)
			if t.Failed() {
				return
			}
			// Unknown, a search that took too long, is no proof of a fault.
			if porcupine.CheckOperationsTimeout(m, history, linearPatient) == porcupine.Illegal {
				for _, op := range history {
					t.Logf("%3d to %3d, goroutine %d: %v gave %v", op.Call, op.Return, op.ClientId, op.Input, op.Output)
				}
				t.Fatalf("no order of these calls explains what they returned (place in the array: key; number: write)")
			}
		}
	}, Why: "a controller that has written and then reads an older state decides on what it knows to be wrong"}
}

// record lets several goroutines make random calls and notes when each began and
// ended, by a counter that they share.
func record(t *suite.T, s contract.Store, r *rand.Rand, kinds []string) []porcupine.Operation {
	history := make([]porcupine.Operation, linearActors*linearCalls)
	for n := range history {
		history[n].ClientId = n / linearCalls
		history[n].Input = call{kinds[r.IntN(len(kinds))], r.IntN(linearKeys), n + 1}
	}
	var clock, ready atomic.Int64
	var actors []func()
	for a := range linearActors {
		actors = append(actors, func() {
			mine := history[a*linearCalls : (a+1)*linearCalls]
			// Starting a goroutine takes longer than a call: without this they would
			// run one after the other.
			for ready.Add(1); ready.Load() < linearActors; {
				runtime.Gosched()
			}
			for n := range mine {
				op := &mine[n]
				op.Call = clock.Add(1)
				op.Output = op.Input.(call).run(s)
				op.Return = clock.Add(1)
			}
		})
	}
	together(t, actors...)
	return history
}
