package apiserver

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/presets"
	"github.com/informerbench/informerbench/load/synthetic"
)

// TestTrafficKeepsItsRate plays each kind of write for ten seconds of a fake clock.
func TestTrafficKeepsItsRate(t *testing.T) {
	for _, c := range []struct {
		op    load.Op
		each  int64 // events
		moves bool
	}{{load.OpUpdate, 1, false}, {load.OpUpdateIndex, 1, true}, {load.OpAddDelete, 2, false}} {
		synctest.Test(t, func(t *testing.T) {
			objects := synthetic.Generate(
				synthetic.ObjectSpec{Kind: synthetic.KindSmall, Count: 20, Nodes: 5}, 1)
			source := synthetic.NewSource(objects.All(), synthetic.SourceOptions{})
			defer source.Stop()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second-time.Nanosecond)
			defer cancel()
			var done atomic.Int64
			if err := (Traffic{Objects: objects, Op: c.op, Rate: 50, Seed: 1}).Play(ctx, source,
				&done); err != nil {
				t.Fatal(err)
			}
			if want := 500 * c.each; done.Load() != want ||
				synthetic.VersionOf(newest(source)) != uint64(20+want) {
				t.Errorf("%s: %d events, the newest %d; want %d", c.op, done.Load(),
					synthetic.VersionOf(newest(source)), want)
			}
			moved := false
			for i := range objects.Len() {
				now, exists := source.Get(objects.Key(i))
				if !exists {
					t.Fatalf("%s: %s is gone", c.op, objects.Key(i))
				}
				moved = moved || now.(*corev1.Pod).Spec.NodeName != objects.At(i).(*corev1.Pod).Spec.NodeName
			}
			if moved != c.moves {
				t.Errorf("%s: pods moved: %v, want %v", c.op, moved, c.moves)
			}
		})
	}
}

func newest(s *synthetic.Source) runtime.Object {
	var newest runtime.Object
	for _, obj := range s.Snapshot() {
		if newest == nil || synthetic.VersionOf(obj) > synthetic.VersionOf(newest) {
			newest = obj
		}
	}
	return newest
}

// TestTrafficAmongClients: Play continues when a client deletes the object that it would
// write.
func TestTrafficAmongClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		objects := synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindSmall, Count: 2}, 1)
		source := synthetic.NewSource(objects.All(), synthetic.SourceOptions{})
		defer source.Stop()
		if _, err := source.Delete(objects.Key(0)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var done atomic.Int64
		if err := (Traffic{Objects: objects, Op: load.OpUpdate, Rate: 100}).Play(ctx, source,
			&done); err != nil || done.Load() == 0 || len(source.Snapshot()) != 1 {
			t.Errorf("%v, %d events, %d pods; want writes to the one that is left", err, done.Load(),
				len(source.Snapshot()))
		}
	})
}

func aTrace() *load.PodTrace {
	return &load.PodTrace{
		Source: "a test", Seed: 1, Compress: 1,
		Pods: []load.TracePod{{Namespace: "a", Name: "one", QOS: "LS"},
			{Namespace: "a", Name: "two", QOS: "BE"}},
		Events: []load.PodEvent{
			{At: 0, Type: load.TraceCreated, Pod: 0},
			{At: 10 * time.Second, Type: load.TraceScheduled, Pod: 0, Node: "node-b"},
			{At: 20 * time.Second, Type: load.TraceCreated, Pod: 1},
			{At: 20 * time.Second, Type: load.TraceScheduled, Pod: 1, Node: "node-a"},
			{At: 30 * time.Second, Type: load.TraceDeleted, Pod: 0},
		},
	}
}

func TestTraceNodes(t *testing.T) {
	t.Parallel()
	nodes := TraceNodes(aTrace().Trace())
	if len(nodes) != 2 || synthetic.Accessor(nodes[0]).GetName() != "node-a" ||
		synthetic.Accessor(nodes[1]).GetName() != "node-b" {
		t.Errorf("%d nodes: %v", len(nodes), nodes)
	}
}

// TestTrafficOfPresets: each preset has writers, or an error that names the presets that
// have some.
func TestTrafficOfPresets(t *testing.T) {
	t.Parallel()
	with := 0
	for _, p := range presets.All() {
		spec, traffic, err := TrafficOf(p)
		if err != nil {
			continue
		}
		with++
		if spec.Count == 0 || traffic.Op == "" || traffic.Rate < 0 {
			t.Errorf("%s: %+v of %+v", p.Name, traffic, spec)
		}
	}
	if with == 0 {
		t.Error("no preset has writers")
	}
	p, err := presets.Lookup("lock-starvation")
	if err != nil {
		t.Fatal(err)
	}
	if _, traffic, err := TrafficOf(p); err != nil || traffic.Op != load.OpUpdate ||
		traffic.Rate == 0 {
		t.Errorf("lock-starvation: %+v, %v", traffic, err)
	}
	if _, _, err := TrafficOf(load.Preset{Name: "mine"}); err == nil {
		t.Error("a preset without workloads has writers")
	}
}
