package apiserver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/presets"
	"github.com/informerbench/informerbench/load/synthetic"
)

// Traffic changes a source's objects while it is served: one kind of write of a workload,
// at a fixed rate.
type Traffic struct {
	// Objects are the source's initial objects. Objects that clients have deleted since are
	// left alone.
	Objects *synthetic.Objects
	// Op is update, update-index or add-delete; the last is two events.
	Op load.Op
	// Rate is the number of operations Op due per second, from when Play begins. Late
	// operations are made up for.
	Rate float64
	// Seed chooses the objects.
	Seed uint64
}

// trafficOps maps the writes of workloads to writes at an API server. A batch of n writes
// becomes n single writes.
var trafficOps = map[load.Op]load.Op{
	load.OpUpdate: load.OpUpdate, load.OpUpdateIndex: load.OpUpdateIndex,
	load.OpAddDelete:   load.OpAddDelete,
	load.OpTransaction: load.OpUpdate, load.OpAdd: load.OpUpdate,
}

// TrafficOf finds the first group of a preset that writes objects one by one, and the
// objects that it writes to. The rate is 0 for a group that writes as fast as it can. The
// error names the presets that have such a group.
func TrafficOf(p load.Preset) (synthetic.ObjectSpec, Traffic, error) {
	if spec, traffic, ok := writerOf(p); ok {
		return spec, traffic, nil
	}
	var have []string
	for _, other := range presets.All() {
		if _, _, ok := writerOf(other); ok {
			have = append(have, other.Name)
		}
	}
	return synthetic.ObjectSpec{}, Traffic{},
		fmt.Errorf("the preset %q has no writers of objects: use one of %s", p.Name,
			strings.Join(have, ", "))
}

func writerOf(p load.Preset) (synthetic.ObjectSpec, Traffic, bool) {
	for _, w := range p.Workloads {
		if w.Component != contract.ComponentStore && w.Component != contract.ComponentFIFO {
			continue
		}
		for _, g := range w.Groups {
			if op, ok := trafficOps[g.Op]; ok {
				return w.Objects, Traffic{Op: op, Rate: g.Rate * float64(max(1, g.Batch)), Seed: w.Seed}, true
			}
		}
	}
	return synthetic.ObjectSpec{}, Traffic{}, false
}

// Play writes into the source until the context ends, and counts each event in done. It
// then returns nil. It returns an error if a write fails, except because a client changed
// the object.
func (t Traffic) Play(ctx context.Context, source *synthetic.Source, done *atomic.Int64) error {
	rng := rand.New(rand.NewPCG(t.Seed, 0))
	p := newPacer(ctx)
	defer p.timer.Stop()
	for i := 0; p.until(time.Duration(float64(i) / t.Rate * float64(time.Second))); i++ {
		key := t.Objects.Key(rng.IntN(t.Objects.Len()))
		current, exists := source.Get(key)
		if !exists {
			continue
		}
		// A client may write between Get and here: its write stays, and this one is left out.
		read := synthetic.Accessor(current)
		var err error
		switch {
		case t.Op != load.OpAddDelete:
			_, err = source.UpdateFrom(t.Objects.Mutate(current, rng, t.Op == load.OpUpdateIndex),
				read.GetResourceVersion())
		case len(read.GetFinalizers()) > 0:
			continue // some client's, which waits to remove it
		default:
			if _, err = source.DeleteFrom(key, read.GetResourceVersion()); err == nil {
				done.Add(1)
				_, err = source.Create(current)
			}
		}
		if apierrors.IsConflict(err) {
			continue
		}
		if err = notOurs(err); err != nil {
			return err
		}
		done.Add(1)
	}
	return nil
}

// notOurs drops the error of a write to an object that a client has deleted or made again.
func notOurs(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// TraceNodes makes a node for each node name of a trace's pods, sorted.
func TraceNodes(trace *load.Trace) []runtime.Object {
	names := trace.Nodes()
	nodes := synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindNode, Count: len(names)},
		trace.Seed).All()
	for i, node := range nodes {
		nodes[i] = synthetic.ShallowCopy(node)
		synthetic.Accessor(nodes[i]).SetName(names[i])
	}
	return nodes
}

// pacer waits for times relative to its creation.
type pacer struct {
	ctx   context.Context
	start time.Time
	timer *time.Timer
}

func newPacer(ctx context.Context) *pacer {
	return &pacer{ctx: ctx, start: time.Now(), timer: time.NewTimer(0)}
}

// until waits for a time, if it is not past. It returns false when the context has ended.
func (p *pacer) until(due time.Duration) bool {
	if wait := due - time.Since(p.start); wait > 0 {
		p.timer.Reset(wait)
		select {
		case <-p.timer.C:
		case <-p.ctx.Done():
		}
	}
	return p.ctx.Err() == nil
}
