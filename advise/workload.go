package advise

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/record"
)

// What a workload has where the load does not say it.
const (
	usualObjects = 10_000
	usualDelayed = 1_000
	usualAhead   = 10 * time.Minute
	usualFor     = 2 * time.Second
	usualWarmup  = 200 * time.Millisecond
)

// commands measure a load for one component.
func commands(c contract.Component, q Question) []string {
	impls := strings.Join(compared(c), ",")
	file := string(c) + ".yaml"
	write := strings.Join(
		slices.Concat([]string{"benchrun advise"}, q.Load.Flags(),
			[]string{"--workload", string(c), ">", file}), " ")
	// these no trace feeds
	if q.Trace == "" || c == contract.ComponentDelay || c == contract.ComponentQueue {
		return []string{write, fmt.Sprintf("benchrun run -f %s --impl %s --budget 10m", file, impls)}
	}
	replay := "benchrun run --trace " + record.ShellWord(q.Trace)
	rest := fmt.Sprintf(" --component %s --impl %s --budget 10m", c, impls)
	if q.Load.Numbers[Readers] > 0 && c != contract.ComponentFIFO {
		return []string{write, replay + " -f " + file + rest} // the workload says who reads meanwhile
	}
	return []string{replay + rest}
}

// Workload returns the workload that measures a load for one component. What the load leaves
// out is a number of the presets' size. It is valid for every valid load.
func Workload(l Load, c contract.Component) load.Workload {
	w := load.Workload{
		Name: "advised-" + string(c), Description: l.String(), Source: "benchrun advise",
		Component: c, Duration: usualFor, Warmup: usualWarmup,
	}
	switch c {
	case contract.ComponentStore:
		l.ofStore(&w)
	case contract.ComponentFIFO:
		l.ofFIFO(&w)
	case contract.ComponentDelay:
		l.ofDelay(&w)
	case contract.ComponentQueue:
		l.ofQueue(&w)
	case contract.ComponentInformer:
		l.ofInformer(&w)
	}
	return w.WithDefaults()
}

func (l Load) or(d Dimension, otherwise int) int {
	if v, known := l.Numbers[d]; known {
		return int(v)
	}
	return otherwise
}

// objects are whole pods. A read by index finds the pods of a namespace.
func (l Load) objects() synthetic.ObjectSpec {
	o := synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: l.or(Objects, usualObjects)}
	if matches, known := l.Numbers[Matches]; known {
		o.Namespaces = max(1, o.Count/max(1, int(matches)))
	}
	return o
}

// writer is at the load's rate, as fast as it can if that is unknown, and missing if nothing is
// written.
func (l Load) writer() []load.Group {
	rate, known := l.Numbers[Writes]
	if known && rate == 0 {
		return nil
	}
	return []load.Group{{Name: "writer", Op: load.OpUpdate, Goroutines: 1, Rate: rate}}
}

func (l Load) readersGroup() []load.Group {
	n := l.or(Readers, 0)
	if n == 0 {
		return nil
	}
	g := load.Group{Name: "readers", Op: load.OpList, Goroutines: n}
	switch l.Reads {
	case ReadGet:
		g.Op = load.OpGet
	case ReadIndex:
		g.Op, g.Index = load.OpByIndex, synthetic.IndexNamespace
	}
	return []load.Group{g}
}

// ofStore measures operations alone too, for what the writes and reads cost by themselves.
func (l Load) ofStore(w *load.Workload) {
	w.Objects, w.Index = l.objects(), synthetic.IndexNamespace
	w.Groups = append(l.writer(), l.readersGroup()...)
	w.Ops = []load.Op{load.OpGet, load.OpList, load.OpByIndex, load.OpUpdate, load.OpAddDelete}
}

func (l Load) ofInformer(w *load.Workload) {
	w.Objects, w.Index = l.objects(), synthetic.IndexNamespace
	w.Groups = l.writer()
	if len(w.Groups) > 0 { // without events a handler is told nothing
		w.Groups = append(w.Groups, load.Group{Name: "handlers", Op: load.OpHandle, Goroutines: 1})
	}
	w.Groups = append(w.Groups, l.readersGroup()...)
	w.Ops = []load.Op{load.OpDeliver, load.OpSync}
}

func (l Load) ofFIFO(w *load.Workload) {
	w.Objects = l.objects()
	w.Ops = []load.Op{load.OpAddPop, load.OpReplace}
	for _, writer := range l.writer() {
		writer.Name, writer.Op = "producer", load.OpAdd
		w.Groups = []load.Group{writer, {Name: "consumer", Op: load.OpPop, Goroutines: 1}}
	}
}

func (l Load) waiting(otherwise int) (objects synthetic.ObjectSpec, waiting int,
	ahead time.Duration) {
	waiting = l.or(Delayed, otherwise)
	if waiting > 0 {
		ahead = usualAhead
	}
	return synthetic.ObjectSpec{Kind: synthetic.KindKey, Count: max(waiting, usualObjects)}, waiting,
		ahead
}

func (l Load) ofDelay(w *load.Workload) {
	w.Objects, w.Waiting, w.Ahead = l.waiting(usualDelayed)
	w.Ops = []load.Op{load.OpAdd}
	if w.Waiting > 0 {
		w.Ops = append(w.Ops, load.OpPop, load.OpMixed, load.OpAddEarlier)
	}
}

// ofQueue has workers against as many producers.
func (l Load) ofQueue(w *load.Workload) {
	w.Objects, w.Waiting, w.Ahead = l.waiting(0)
	w.Ops = []load.Op{load.OpAddGetDone, load.OpAddAfter}
	workers := l.or(Workers, 1)
	producers := load.Group{Name: "producers", Op: load.OpAdd, Goroutines: workers}
	if rate := l.Numbers[Writes]; rate > 0 {
		producers.Goroutines, producers.Rate = 1, rate
	}
	w.Groups = []load.Group{producers, {Name: "workers", Op: load.OpGetDone, Goroutines: workers}}
}
