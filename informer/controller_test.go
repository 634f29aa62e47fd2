package informer_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/features"
	featuretesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/queue/deltafifo"
)

func runController(t *testing.T, c *informer.Controller) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.RunWithContext(ctx)
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	return stop
}

// TestController: the source's objects go through every FIFO to Process or ProcessBatch.
func TestController(t *testing.T) {
	for name, newFIFO := range fifos {
		for _, batches := range []bool{false, true} {
			t.Run(map[bool]string{false: name, true: name + " in batches"}[batches], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newSource(t, 5)
					known := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
					seen, initial, inBatches := 0, 0, 0
					one := func(d contract.Delta, isInitial bool) error {
						objs := []any{d.Object}
						if info, ok := d.Object.(contract.ReplacedAllInfo); ok {
							objs = info.Objects
						}
						for _, obj := range objs {
							seen++
							if isInitial {
								initial++
							}
							if err := known.Add(obj); err != nil {
								return err
							}
						}
						return nil
					}
					config := informer.Config{
						FIFO: newFIFO(contract.FIFOConfig{KnownObjects: known}), ListerWatcher: s,
						ObjectType: &corev1.Pod{},
						Process: func(obj any, isInitial bool) error {
							for _, d := range obj.(contract.Deltas) {
								if err := one(d, isInitial); err != nil {
									return err
								}
							}
							return nil
						},
					}
					if batches {
						config.ProcessBatch = func(deltas []contract.Delta, isInitial bool) error {
							inBatches += len(deltas)
							for _, d := range deltas {
								if err := one(d, isInitial); err != nil {
									return err
								}
							}
							return nil
						}
					}
					c := informer.NewController(config)
					if c.HasSynced() || cache.IsDone(c.HasSyncedChecker()) || c.LastSyncResourceVersion() != "" {
						t.Error("synced before it runs")
					}
					stop := runController(t, c)
					synctest.Wait()
					if !c.HasSynced() || !cache.IsDone(c.HasSyncedChecker()) ||
						c.LastSyncResourceVersion() != s.ResourceVersion() {
						t.Errorf("synced %t, version %s", c.HasSynced(), c.LastSyncResourceVersion())
					}
					must[any](t)(s.Create(pod("ns/a")))
					synctest.Wait()
					if seen != 6 || initial != 5 {
						t.Errorf("%d objects, %d of them of the initial list", seen, initial)
					}
					if _, can := config.FIFO.(contract.BatchPopper); batches && can &&
						!strings.Contains(name, "Atomic") && name != "upstreamReal" && inBatches == 0 {
						t.Error("no batch")
					}
					stop()
				})
			})
		}
	}
}

// versionedFIFO is a cache.ResourceVersionUpdater.
type versionedFIFO struct {
	*deltafifo.InOrder
	told []string
}

func (f *versionedFIFO) UpdateResourceVersion(version string) { f.told = append(f.told, version) }

// TestFIFOIsToldVersions: a FIFO that is a cache.ResourceVersionUpdater is told each
// version, as by client-go's controller.
func TestFIFOIsToldVersions(t *testing.T) {
	process := func(any, bool) error { return nil }
	for name, newController := range map[string]func(*synthetic.Source,
		*versionedFIFO) cache.Controller{
		"client-go": func(s *synthetic.Source, f *versionedFIFO) cache.Controller {
			return cache.New(
				&cache.Config{Queue: f, ListerWatcher: s, Process: process, ObjectType: &corev1.Pod{}})
		},
		"ours": func(s *synthetic.Source, f *versionedFIFO) cache.Controller {
			return informer.NewController(
				informer.Config{FIFO: f, ListerWatcher: s, Process: process, ObjectType: &corev1.Pod{}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, f := newSource(t, 2), &versionedFIFO{
					InOrder: deltafifo.NewInOrder(contract.FIFOConfig{}, deltafifo.Options{Atomic: true})}
				c := newController(s, f)
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() { defer close(done); c.RunWithContext(ctx) }()
				synctest.Wait()
				must[any](t)(s.Create(pod("ns/a")))
				synctest.Wait()
				cancel()
				<-done
				if len(f.told) != 1 || f.told[0] != s.ResourceVersion() {
					t.Errorf("told %q, want %s", f.told, s.ResourceVersion())
				}
			})
		})
	}
}

// TestRetryOnError: Deltas whose processing failed come again, unless newer ones wait.
func TestRetryOnError(t *testing.T) {
	reported := survivePanics(t)
	synctest.Test(t, func(t *testing.T) {
		before := len(reported())
		s := newSource(t, 3)
		calls := map[string]int{}
		c := informer.NewController(informer.Config{
			FIFO: fifos["Coalescing"](contract.FIFOConfig{}), ListerWatcher: s, ObjectType: &corev1.Pod{},
			RetryOnError: true,
			Process: func(obj any, _ bool) error {
				name := obj.(contract.Deltas).Newest().Object.(*corev1.Pod).Name
				if calls[name]++; name == "pod-000001" && calls[name] < 4 {
					return errors.New("on purpose")
				}
				return nil
			},
		})
		runController(t, c)
		synctest.Wait()
		if calls["pod-000000"] != 1 || calls["pod-000001"] != 4 || calls["pod-000002"] != 1 {
			t.Errorf("calls: %v", calls)
		}
		if n := len(reported()) - before; n != 3 {
			t.Errorf("%d errors reported, want 3", n)
		}
	})
}

// TestRetryOnErrorBesideADeletion: a deletion that comes while a process runs that then fails is
// not undone by the retry. DeltaFIFO cannot have it: it holds its lock while process runs.
func TestRetryOnErrorBesideADeletion(t *testing.T) {
	survivePanics(t)
	synctest.Test(t, func(t *testing.T) {
		s := newSource(t, 1)
		store := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
		first, failing, goOn := true, make(chan string), make(chan struct{})
		c := informer.NewController(informer.Config{
			FIFO: fifos["Coalescing"](contract.FIFOConfig{KnownObjects: store}), ListerWatcher: s,
			ObjectType: &corev1.Pod{}, RetryOnError: true,
			Process: func(obj any, _ bool) error {
				deltas := obj.(contract.Deltas)
				if first {
					first = false
					p := deltas.Newest().Object.(*corev1.Pod)
					failing <- p.Namespace + "/" + p.Name
					<-goOn
					return errors.New("on purpose")
				}
				for _, d := range deltas {
					if d.Type == contract.Deleted {
						must[any](t)(nil, store.Delete(d.Object))
					} else {
						must[any](t)(nil, store.Update(d.Object))
					}
				}
				return nil
			},
		})
		runController(t, c)
		must[any](t)(s.Delete(<-failing))
		synctest.Wait() // the deletion is in the FIFO
		close(goOn)
		synctest.Wait()
		if keys := store.ListKeys(); len(keys) > 0 {
			t.Errorf("the store has %q, which the server has not", keys)
		}
	})
}

// TestProcessPanics: with ReallyCrash off the loop goes on after a panic.
func TestProcessPanics(t *testing.T) {
	reported := survivePanics(t)
	for name, newFIFO := range fifos {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				before := len(reported())
				s := newSource(t, 0)
				var got []string
				c := informer.NewController(informer.Config{
					FIFO: newFIFO(contract.FIFOConfig{}), ListerWatcher: s, ObjectType: &corev1.Pod{},
					Process: func(obj any, _ bool) error {
						if p, ok := obj.(contract.Deltas).Newest().Object.(*corev1.Pod); ok {
							got = append(got, p.Name)
							if p.Name == "bad" {
								panic("on purpose")
							}
						}
						return nil
					},
				})
				runController(t, c)
				synctest.Wait()
				for _, key := range []string{"ns/a", "ns/bad", "ns/b"} {
					must[any](t)(s.Create(pod(key)))
					synctest.Wait()
				}
				waitInBubble()
				if strings.Join(got, " ") != "a bad b" {
					t.Errorf("processed: %v", got)
				}
				if n := len(reported()) - before; n != 1 {
					t.Errorf("%d reports: %q", n, reported())
				}
			})
		})
	}
}

// TestOneObjectIsNeverTransformed: an object for which the transformer always fails is left
// out of a streaming list, and the informer syncs without it.
func TestOneObjectIsNeverTransformed(t *testing.T) {
	reported := survivePanics(t)
	eachOfOurs(t, func(t *testing.T, o informer.Options) {
		before := len(reported())
		o.Transform = func(obj any) (any, error) {
			if obj.(*corev1.Pod).Name == "pod-000001" {
				return nil, errors.New("on purpose")
			}
			return obj, nil
		}
		inf := informer.New(newSource(t, 3), &corev1.Pod{}, o)
		start(t, inf)
		synctest.Wait()
		if n := len(inf.GetStore().ListKeys()); n != 2 || !inf.HasSynced() {
			t.Errorf("%d objects, synced %t; want 2, true", n, inf.HasSynced())
		}
		if said := reported()[before:]; len(said) != 1 || !strings.Contains(said[0], "left out") {
			t.Errorf("reported: %q", said)
		}
	})
}

// TestTheFIFOsOwnTransformer: an object for which it fails is left out of a streaming list, as
// with client-go's Reflector, and does not keep the controller from syncing.
func TestTheFIFOsOwnTransformer(t *testing.T) {
	survivePanics(t)
	synctest.Test(t, func(t *testing.T) {
		fifo := deltafifo.NewInOrder(contract.FIFOConfig{},
			deltafifo.Options{Transformer: func(obj any) (any, error) {
				if obj.(*corev1.Pod).Name == "pod-000001" {
					return nil, errors.New("on purpose")
				}
				return obj, nil
			}})
		var processed []any
		c := informer.NewController(
			informer.Config{FIFO: fifo, ListerWatcher: newSource(t, 3),
				Process: func(obj any, _ bool) error {
					for _, d := range obj.(contract.Deltas) {
						processed = append(processed, d.Object)
					}
					return nil
				}})
		stop := runController(t, c)
		synctest.Wait()
		if !c.HasSynced() {
			t.Error("the controller has not synced")
		}
		stop()
		if len(processed) != 2 {
			t.Errorf("processed %v", processed)
		}
	})
}

// TestFirstListPanics: an IndexFunc panics on an object of the first list. The objects that were
// popped with it are lost, but the informer says that it has synced.
func TestFirstListPanics(t *testing.T) {
	survivePanics(t)
	eachOfOurs(t, func(t *testing.T, o informer.Options) {
		o.Indexers = contract.Indexers{"panics": func(any) ([]string, error) { panic("on purpose") }}
		inf := informer.New(newSource(t, 1), &corev1.Pod{}, o)
		start(t, inf)
		synctest.Wait() // and no longer: the next bookmark would hide it
		if !inf.HasSynced() {
			t.Error("the informer has not synced")
		}
	})
}

func TestControllerRefuses(t *testing.T) {
	t.Parallel()
	whole := informer.Config{
		FIFO: fifos["InOrder"](contract.FIFOConfig{}), ListerWatcher: newSource(t, 0),
		Process: func(any, bool) error { return nil },
	}
	for want, change := range map[string]func(c *informer.Config){
		"FIFO is missing":          func(c *informer.Config) { c.FIFO = nil },
		"ListerWatcher is missing": func(c *informer.Config) { c.ListerWatcher = nil },
		"Process is missing":       func(c *informer.Config) { c.Process = nil },
		"deltafifo.Coalescing":     func(c *informer.Config) { c.RetryOnError = true },
	} {
		func() {
			defer func() {
				if msg, _ := recover().(string); !strings.Contains(msg, want) {
					t.Errorf("panicked with %q, want %q in it", msg, want)
				}
			}()
			config := whole
			change(&config)
			informer.NewController(config)
		}()
	}
}

func TestControllerRunsOnce(t *testing.T) {
	reported := survivePanics(t)
	synctest.Test(t, func(t *testing.T) {
		c := informer.NewController(informer.Config{
			FIFO:          deltafifo.NewInOrder(contract.FIFOConfig{}, deltafifo.Options{}),
			ListerWatcher: newSource(t, 0),
			Process:       func(any, bool) error { return nil },
		})
		stop := runController(t, c)
		synctest.Wait()
		c.Run(nil) // returns
		stop()
		if lines := reported(); len(lines) != 1 || !strings.Contains(lines[0], "second time") {
			t.Errorf("reported: %q", lines)
		}
	})
}

// TestNoTransform: SetTransform(nil) takes away a transform of the options, as in client-go.
func TestNoTransform(t *testing.T) {
	eachOfOurs(t, func(t *testing.T, o informer.Options) {
		o.Transform = func(obj any) (any, error) {
			p := obj.(*corev1.Pod).DeepCopy()
			p.Spec.NodeName = "stripped"
			return p, nil
		}
		inf := informer.New(newSource(t, 3), &corev1.Pod{}, o)
		if err := inf.SetTransform(nil); err != nil {
			t.Fatal(err)
		}
		start(t, inf)
		waitInBubble()
		objects := inf.GetStore().List()
		for _, obj := range objects {
			if obj.(*corev1.Pod).Spec.NodeName == "stripped" {
				t.Error("the transform was applied")
			}
		}
		if len(objects) != 3 {
			t.Errorf("%d objects, want 3", len(objects))
		}
	})
}

// TestTransformerFails: an object that cannot be transformed is reported and left out, or
// makes the list fail, which is then tried again.
func TestTransformerFails(t *testing.T) {
	reported := survivePanics(t)
	eachOfOurs(t, func(t *testing.T, o informer.Options) {
		before := len(reported())
		failures := 1
		transformed := map[string]int{}
		o.Transform = func(obj any) (any, error) {
			p := obj.(*corev1.Pod)
			if p.Name == "bad" || p.Name == "pod-000001" && failures > 0 {
				failures--
				return nil, errors.New("on purpose")
			}
			transformed[p.Name]++
			return obj, nil
		}
		s := newSource(t, 3)
		inf := informer.New(s, &corev1.Pod{}, o)
		start(t, inf)
		waitInBubble()
		if n := len(inf.GetStore().ListKeys()); n != 3 || !inf.HasSynced() {
			t.Errorf("%d objects, synced %t", n, inf.HasSynced())
		}
		for name, times := range transformed {
			if times != 1 {
				t.Errorf("%s was transformed %d times", name, times)
			}
		}
		must[any](t)(s.Create(pod("ns/bad")))
		must[any](t)(s.Create(pod("ns/good")))
		waitInBubble()
		if keys := inf.GetStore().ListKeys(); len(keys) != 4 {
			t.Errorf("objects: %v", keys)
		}
		if n := len(reported()) - before; n < 1 {
			t.Error("nothing reported")
		}
	})
}

// The log says once, for each type of objects, that informers of this package run.
func TestAnInformerIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(),
			funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})))
		cancel()
		for _, example := range []runtime.Object{&corev1.Secret{}, &corev1.Secret{}, &corev1.Event{}} {
			informer.New(newSource(t, 0), example, informer.Options{}).RunWithContext(ctx)
		}
		if len(lines) != 2 || !strings.Contains(lines[0], `"kind"="informer of *v1.Secret"`) ||
			!strings.Contains(lines[1], `"kind"="informer of *v1.Event"`) {
			t.Errorf("logged %q, want one line for Secrets and one for Events", lines)
		}
	})
}

// TestFeatureGates: client-go's gates choose as they do there. Not parallel: they are global.
func TestFeatureGates(t *testing.T) {
	for _, on := range []bool{true, false} {
		featuretesting.SetFeatureDuringTest(t, features.AtomicFIFO, on)
		featuretesting.SetFeatureDuringTest(t, features.InOrderInformersBatchProcess, on)
		synctest.Test(t, func(t *testing.T) {
			inf := informer.New(newSource(t, 3), &corev1.Pod{}, informer.Options{})
			start(t, inf)
			batches := 0
			c := informer.NewController(informer.Config{
				FIFO:          deltafifo.NewInOrder(contract.FIFOConfig{}, deltafifo.Options{}),
				ListerWatcher: newSource(t, 3),
				Process:       func(any, bool) error { return nil },
				ProcessBatch:  func([]contract.Delta, bool) error { batches++; return nil },
			})
			runController(t, c)
			waitInBubble()
			version := inf.GetStore().LastStoreSyncResourceVersion()
			if (version != "") != on || (batches > 0) != on {
				t.Errorf("with the gates %v: the store is at %q, %d batches", on, version, batches)
			}
		})
	}
}
