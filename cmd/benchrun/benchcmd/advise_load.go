package benchcmd

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
)

// askedLoad is a load to advise on. A number of -1 and reads of "" are unknown.
type askedLoad struct {
	objects, readers, writes, workers, delayed int
	// reads is get, list or by-index, and matches how many objects a read by index finds.
	reads   load.Op
	matches int
}

var unknownLoad = askedLoad{objects: -1, readers: -1, writes: -1, workers: -1, delayed: -1}

// The largest numbers that a load may have; package load has the same bounds.
const (
	mostObjects    = 50_000_000
	mostGoroutines = 100_000
	mostWrites     = 100_000_000
)

// usualObjects are alive where the load does not say how many.
const usualObjects = 10_000

func (l *askedLoad) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(wholeNumber(&l.objects, 1, mostObjects), "objects", "objects alive at once in one store")
	f.Var(wholeNumber(&l.readers, 0, mostGoroutines), "readers", "goroutines that read all the time")
	f.Var(checked[load.Op]{&l.reads, "WHAT", l.parseReads, func(op load.Op) string {
		return string(op)
	}},
		"reads",
		"what they read: list, get, or by-index=N, N being how many objects a read finds")
	f.Var(wholeNumber(&l.writes, 0, mostWrites), "writes", "updates a second")
	f.Var(wholeNumber(&l.workers, 1, mostGoroutines), "workers",
		"workers that take items out of the queue")
	f.Var(wholeNumber(&l.delayed, 0, mostObjects), "delayed",
		"items that wait for their time in the queue")
	complete(cmd, "reads", func(*cobra.Command) []cobra.Completion {
		return []cobra.Completion{"list", "get", "by-index="}
	})
}

func grouped(n int) string { return humanize.Comma(int64(n)) }

// parseReads parses the flag of what the readers do.
func (l *askedLoad) parseReads(text string) (load.Op, error) {
	kind, count, counted := strings.Cut(text, "=")
	matches, err := strconv.Atoi(count)
	switch op := load.Op(kind); {
	case (op == load.OpGet || op == load.OpList) && !counted:
		l.matches = 0
		return op, nil
	case op == load.OpByIndex && err == nil && matches >= 1 && matches <= mostObjects:
		l.matches = matches
		return op, nil
	}
	return "", fmt.Errorf("want list, get, or by-index=N with the number of objects that a read "+
		"finds, 1 to %s, such as by-index=20", grouped(mostObjects))
}

// over fills in the objects and writes that the load leaves out: the most objects of one
// resource that are alive at once in a trace, and the events in its busiest second.
func (l askedLoad) over(t load.TraceInfo) askedLoad {
	if l.objects < 0 {
		l.objects = 1
		for _, r := range t.Resources {
			l.objects = max(l.objects, r.PeakLive)
		}
	}
	if l.writes < 0 {
		l.writes = t.PeakRate
	}
	return l
}

// String is the load in one line: "50,000 objects; 10 goroutines list; 2,000 writes a second".
func (l askedLoad) String() string {
	var parts []string
	add := func(n int, one, many string) {
		if n == 1 {
			parts = append(parts, "1 "+one)
		} else if n >= 0 {
			parts = append(parts, grouped(n)+" "+many)
		}
	}
	add(l.objects, "object", "objects")
	switch {
	case l.readers > 0 && l.reads == load.OpByIndex:
		found := grouped(l.matches) + " by index"
		add(l.readers, "goroutine looks up "+found, "goroutines look up "+found)
	case l.readers > 0:
		add(l.readers, fmt.Sprintf("goroutine %ss", l.reads), fmt.Sprintf("goroutines %s", l.reads))
	}
	add(l.writes, "write a second", "writes a second")
	add(l.workers, "worker", "workers")
	add(l.delayed, "item waits for its time", "items wait for their time")
	return strings.Join(parts, "; ")
}

// workloads measure the load: a store and an informer, a queue, or all three.
func (l askedLoad) workloads() (out []load.Workload, err error) {
	cached := l.objects >= 0 || l.readers >= 0 || l.writes >= 0 || l.reads != ""
	queued := l.workers >= 0 || l.delayed >= 0
	if !cached && !queued {
		return nil, errors.New(
			"no load to advise on: describe one (--objects 50000 --readers 10 --reads list --writes " +
				"2000), or give --trace FILE or the folder of a RUN; see benchrun advise --help")
	}
	if cached && l.objects < 0 {
		l.objects = max(usualObjects, l.matches)
	}
	switch {
	case l.matches > l.objects && cached:
		return nil, fmt.Errorf(
			"--reads by-index=%d finds more than there is: use 1 to %s, or more --objects", l.matches,
			grouped(l.objects))
	case l.readers > 0 && l.reads == "":
		return nil, errors.New("--readers: say what they read, such as --reads list")
	case l.reads != "" && l.readers < 0:
		l.readers = 1
	}
	if cached {
		out = append(out, l.ofStore(), l.ofInformer())
	}
	if queued {
		out = append(out, l.ofQueue())
	}
	for i := range out {
		out[i].Name, out[i].Description = "advised-"+string(out[i].Component), l.String()
		out[i].Source, out[i].Warmup = "benchrun advise", 200*time.Millisecond
		out[i] = out[i].WithDefaults()
	}
	return out, nil
}

// objects are whole pods. A read by index finds the pods of a namespace.
func (l askedLoad) pods() synthetic.ObjectSpec {
	o := synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: l.objects}
	if l.matches > 0 {
		o.Namespaces = max(1, l.objects/l.matches)
	}
	return o
}

// groups are a writer, as fast as it can if the rate is unknown, and the readers.
func (l askedLoad) groups() (writer, readers []load.Group) {
	if l.writes != 0 {
		writer = []load.Group{{Name: "writer", Op: load.OpUpdate, Goroutines: 1,
			Rate: float64(max(0, l.writes))}}
	}
	if l.readers > 0 {
		g := load.Group{Name: "readers", Op: l.reads, Goroutines: l.readers}
		if l.reads == load.OpByIndex {
			g.Index = synthetic.IndexNamespace
		}
		readers = []load.Group{g}
	}
	return writer, readers
}

func (l askedLoad) ofStore() load.Workload {
	writer, readers := l.groups()
	w := load.Workload{Component: contract.ComponentStore, Objects: l.pods(),
		Index: synthetic.IndexNamespace, Groups: slices.Concat(writer, readers)}
	if len(w.Groups) == 0 {
		w.Ops = []load.Op{load.OpGet, load.OpList, load.OpUpdate}
	}
	return w
}

func (l askedLoad) ofInformer() load.Workload {
	writer, readers := l.groups()
	w := load.Workload{Component: contract.ComponentInformer, Objects: l.pods(),
		Index: synthetic.IndexNamespace, Groups: writer}
	if len(writer) > 0 { // without events a handler is told nothing
		w.Groups = append(w.Groups, load.Group{Name: "handler", Op: load.OpHandle, Goroutines: 1})
	}
	w.Groups = append(w.Groups, readers...)
	if len(w.Groups) == 0 {
		w.Ops = []load.Op{load.OpSync}
	}
	return w
}

// ofQueue has workers against as many producers, beside what waits for its time.
func (l askedLoad) ofQueue() load.Workload {
	waiting, workers := max(0, l.delayed), max(1, l.workers)
	w := load.Workload{Component: contract.ComponentQueue, Waiting: waiting,
		Objects: synthetic.ObjectSpec{Kind: synthetic.KindKey, Count: max(waiting, usualObjects)},
		Ops:     []load.Op{load.OpAddGetDone, load.OpAddAfter},
		Groups: []load.Group{{Name: "producers", Op: load.OpAdd, Goroutines: workers},
			{Name: "workers", Op: load.OpGetDone, Goroutines: workers}}}
	if waiting > 0 {
		w.Ahead = 10 * time.Minute
	}
	return w
}
