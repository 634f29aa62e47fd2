package informer

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/queue/deltafifo"
)

// churn does n random writes, a little apart.
func churn(t *testing.T, s *synthetic.Source, n int, rng *rand.Rand) {
	t.Helper()
	for range n {
		live := s.Snapshot()
		keys := slices.Sorted(maps.Keys(live))
		var err error
		switch kind := rng.IntN(3); {
		case kind == 0 || len(keys) == 0:
			_, err = s.Create(
				&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprintf("ns-%02d", rng.IntN(4)),
					Name: fmt.Sprintf("churn-%d", rng.Int64())}})
		case kind == 1:
			_, err = s.Update(live[keys[rng.IntN(len(keys))]])
		default:
			_, err = s.Delete(keys[rng.IntN(len(keys))])
		}
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond) // of the bubble
	}
}

// faulty is a run against a source with faults.
type faulty struct {
	streaming bool
	options   ReflectorOptions
	source    synthetic.SourceOptions
	seed      uint64
	// mayMiss is set where a fault may find no occasion.
	mayMiss bool
}

// heal runs the Reflector into a FIFO and a store, as a Controller does, while a source
// changes and fails. Then it lets the run come to rest: the store must equal the source.
func (c faulty) heal(t *testing.T) {
	source := synthetic.NewSource(
		synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindSmall, Count: 60}, 1).All(), c.source)
	store := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
	fifo := deltafifo.NewCoalescing(
		contract.FIFOConfig{KeyFunc: cache.DeletionHandlingMetaNamespaceKeyFunc, KnownObjects: store},
		deltafifo.Options{})
	var log logs
	c.options.UseWatchList = &c.streaming
	r := NewReflector(source, &corev1.Pod{}, fifo, c.options)
	ctx, cancel := context.WithCancel(log.context(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { r.RunWithContext(ctx) })
	running.Go(func() {
		for {
			if _, err := fifo.Pop(func(item any, _ bool) error {
				return apply(store, item.(contract.Deltas))
			}); err != nil {
				return // closed
			}
		}
	})
	rng := rand.New(rand.NewPCG(c.seed, 0))
	churn(t, source, 100, rng)
	time.Sleep(5 * time.Minute) // beyond every back-off, within a watch's timeout
	churn(t, source, 30, rng)
	time.Sleep(15 * time.Minute) // beyond a watch's timeout
	synctest.Wait()

	got := map[string]runtime.Object{}
	for _, obj := range store.List() {
		got[synthetic.Key(obj.(runtime.Object))] = obj.(runtime.Object)
	}
	if want := source.Snapshot(); !reflect.DeepEqual(got, want) {
		t.Errorf("the store has %d objects, the source %d, or they differ", len(got), len(want))
	}
	if got, want := r.LastSyncResourceVersion(), source.ResourceVersion(); got != want {
		t.Errorf("the last version is %s, the source's %s", got, want)
	}
	struck := source.Struck()
	for _, f := range c.source.Faults {
		if struck[f.Kind] == 0 && !c.mayMiss {
			t.Errorf("the fault %s never struck", f.Kind)
		}
	}
	cancelled := time.Now()
	cancel()
	fifo.Close()
	running.Wait()
	if took := time.Since(cancelled); took != 0 {
		t.Errorf("the stop took %v", took)
	}
	source.Stop()
}

// apply applies deltas to a store as a Controller does.
func apply(store cache.Store, deltas contract.Deltas) error {
	for _, d := range deltas {
		var err error
		if d.Type == contract.Deleted {
			err = store.Delete(d.Object)
		} else {
			err = store.Update(d.Object)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// TestFaultsHeal takes each fault of the source by itself.
func TestFaultsHeal(t *testing.T) {
	t.Parallel()
	const both, streaming, listing = "both", "streaming", "listing"
	for i, c := range []struct {
		mode   string
		faults []synthetic.Fault
	}{
		{both, nil},
		{both, []synthetic.Fault{{Kind: synthetic.FaultGone}}},
		{both, []synthetic.Fault{{Kind: synthetic.FaultGone, AfterEvents: 5, EveryEvents: 20}}},
		{both, []synthetic.Fault{{Kind: synthetic.FaultClose, EveryEvents: 7, Count: 5}}},
		{both, []synthetic.Fault{
			{Kind: synthetic.FaultClose, After: 300 * time.Millisecond, Every: 200 * time.Millisecond}}},
		{both, []synthetic.Fault{
			{Kind: synthetic.FaultError, AfterEvents: 3, EveryEvents: 10, Count: 3}}},
		{both, []synthetic.Fault{
			{Kind: synthetic.FaultDelay, EveryEvents: 10, Delay: 500 * time.Millisecond}}},
		{both, []synthetic.Fault{{Kind: synthetic.FaultDropBookmarks, Every: time.Second}}},
		{both, []synthetic.Fault{{Kind: synthetic.FaultWatchRefused, Count: 2}}},
		{both, []synthetic.Fault{{Kind: synthetic.FaultWatchRefused, EveryEvents: 2, Count: 4},
			{Kind: synthetic.FaultClose, EveryEvents: 10}}},
		{both, []synthetic.Fault{{Kind: synthetic.FaultTooLarge, Count: 1},
			{Kind: synthetic.FaultGone, AfterEvents: 10, Count: 1}}},
		{listing, []synthetic.Fault{{Kind: synthetic.FaultTooLarge, EveryEvents: 2, Count: 3},
			{Kind: synthetic.FaultClose, EveryEvents: 10}}},
		{listing, []synthetic.Fault{{Kind: synthetic.FaultListError, Count: 3}}},
		{listing, []synthetic.Fault{{Kind: synthetic.FaultExpireContinue}}},
		{both, []synthetic.Fault{{Kind: synthetic.FaultCacheRestart, AfterEvents: 5}}},
		{both, []synthetic.Fault{
			{Kind: synthetic.FaultCacheRestart, AfterEvents: 5, EveryEvents: 20, Count: 3}}},
	} {
		for _, mode := range []string{streaming, listing} {
			if c.mode != both && c.mode != mode {
				continue
			}
			t.Run(fmt.Sprintf("%d-%s", i, mode), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, faulty{
					streaming: mode == streaming, seed: uint64(i), options: ReflectorOptions{PageSize: 25},
					source: synthetic.SourceOptions{Faults: c.faults, NoWatchCache: true,
						BookmarkEvery: 5 * time.Second},
				}.heal)
			})
		}
	}
}

// TestFirstListOfAServerThatFills: with default options, a first list that comes in
// pages because the watch cache was not filled yet must not make the Reflector ask for an
// old state later, when that cache was begun anew.
func TestFirstListOfAServerThatFills(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := synthetic.NewSource(
			synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindSmall, Count: DefaultPageSize + 1},
				1).All(), synthetic.SourceOptions{
				Faults: []synthetic.Fault{{Kind: synthetic.FaultCacheFilling},
					{Kind: synthetic.FaultCacheRestart}},
			})
		defer source.Stop()
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		r := NewReflector(source, &corev1.Pod{}, store, ReflectorOptions{UseWatchList: new(bool)})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { r.RunWithContext(ctx) })
		synctest.Wait()
		if _, err := source.Create(
			&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "later", Name: "pod"}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // beyond the first waits of the back-off
		synctest.Wait()
		if _, exists, _ := store.GetByKey("later/pod"); !exists ||
			r.LastSyncResourceVersion() != source.ResourceVersion() {
			t.Errorf("a minute after the watch cache was begun anew the store is at version %s, the "+
				"source at %s", r.LastSyncResourceVersion(), source.ResourceVersion())
		}
		for _, kind := range []synthetic.FaultKind{synthetic.FaultCacheFilling,
			synthetic.FaultCacheRestart} {
			if source.Struck()[kind] != 1 {
				t.Errorf("%s struck %d times, want once", kind, source.Struck()[kind])
			}
		}
		cancel()
		running.Wait()
	})
}

// TestRandomFaultsHeal mixes all faults, for many seeds; the name of a subtest has the seed.
func TestRandomFaultsHeal(t *testing.T) {
	t.Parallel()
	seeds := 150
	if testing.Short() {
		seeds = 20
	}
	kinds := []synthetic.FaultKind{synthetic.FaultGone, synthetic.FaultClose, synthetic.FaultError,
		synthetic.FaultDelay, synthetic.FaultDropBookmarks,
		synthetic.FaultExpireContinue, synthetic.FaultTooLarge, synthetic.FaultListError,
		synthetic.FaultWatchRefused, synthetic.FaultCacheRestart, synthetic.FaultCacheFilling}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprintf("seed-%d", seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 1))
			var faults []synthetic.Fault
			for range 1 + rng.IntN(6) {
				f := synthetic.Fault{Kind: kinds[rng.IntN(len(kinds))], AfterEvents: rng.IntN(20),
					Count: 1 + rng.IntN(5)}
				if rng.IntN(2) == 0 {
					f.EveryEvents = 1 + rng.IntN(20)
				}
				if f.Kind == synthetic.FaultDelay {
					f.Delay = time.Duration(1+rng.IntN(3000)) * time.Millisecond
				}
				if err := f.Validate(); err != nil {
					t.Fatal(err)
				}
				faults = append(faults, f)
			}
			synctest.Test(t, faulty{
				streaming: rng.IntN(2) == 0, seed: seed, mayMiss: true,
				options: ReflectorOptions{PageSize: int64(rng.IntN(30)) - 1,
					ResyncPeriod:                  time.Duration(rng.IntN(90)) * time.Second,
					MaxInternalErrorRetryDuration: time.Duration(rng.IntN(10)) * time.Second},
				source: synthetic.SourceOptions{Faults: faults, NoWatchCache: rng.IntN(2) == 0,
					Window: 5 + rng.IntN(200), BookmarkEvery: 5 * time.Second},
			}.heal)
		})
	}
}

// TestVersionsOnlyGrow: while watches succeed, readers see the version grow, and never
// before the store was told.
func TestVersionsOnlyGrow(t *testing.T) {
	t.Parallel()
	source := synthetic.NewSource(
		synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindSmall, Count: 100}, 1).All(),
		synthetic.SourceOptions{})
	defer source.Stop()
	store := &newest{}
	r := NewReflector(source, &corev1.Pod{}, store, ReflectorOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { r.RunWithContext(ctx) })
	running.Go(func() {
		obj := source.Snapshot()["ns-00/pod-000000"]
		for range 2000 {
			if _, err := source.Update(obj); err != nil {
				t.Error(err)
			}
		}
	})
	for last := uint64(0); last < 2100; {
		version := versionOf(r.LastSyncResourceVersion())
		if told := store.version.Load(); version < last || version > told {
			t.Fatalf("version %d after %d, the store was told up to %d", version, last, told)
		}
		last = version
	}
	cancel()
	running.Wait()
}
