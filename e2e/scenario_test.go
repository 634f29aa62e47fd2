package e2e

// The scenarios: informers of every kind follow one server through disturbances, while
// twenty writers change objects, and are compared when the writers rest.

import (
	"errors"
	"fmt"
	"testing"
)

// size is how many objects the scenarios begin with, and how many writes are made before
// each disturbance, and again after it.
func size() (objects int, writes int64) {
	if testing.Short() {
		return 2000, 300
	}
	return 5000, 2000
}

// disturbance is something that happens while the writers write.
type disturbance struct {
	name    string
	do      func(c *cluster, subjects []*subject, w *writers)
	padding int // bytes in each write
}

// A disturbance proves that it took place: it waits for its own evidence.
var disturbances = []disturbance{
	{name: "none", do: func(*cluster, []*subject, *writers) {}},
	{name: "watches end after a second", do: shortWatches},
	{name: "connections are cut", do: cutConnections},
	{name: "the CRD changes", do: changeDefinition},
	{name: "the server is killed", do: killServer},
	{name: "etcd is compacted while the line is down", do: compactAway},
	{name: "slow watchers are ended", do: endSlowWatchers, padding: 16 << 10},
}

func TestInformersFollowTheServer(t *testing.T) {
	objects, writes := size()
	rounds := 1
	if !testing.Short() {
		rounds = 3
	}
	c := newCluster(t)
	c.createWidgets(t.Context(), objects)
	var subjects []*subject
	for _, k := range kinds {
		s := c.newSubject(k)
		s.start(t)
		subjects = append(subjects, s)
	}
	c.compare(t, subjects)
	for range rounds {
		for _, d := range disturbances {
			ok := t.Run(d.name, func(t *testing.T) {
				c.reportTo(t)
				w := c.startWriters(t.Context(), objects+objects/10, d.padding)
				w.awaitWrites(t, writes)
				d.do(c, subjects, w)
				w.awaitWrites(t, writes)
				w.stop(t)
				c.compare(t, subjects)
				for _, s := range subjects {
					if d.name == disturbances[0].name {
						s.addWitness(t) // a handler that comes late
					}
					t.Logf("%-28s %d fetches of the state (%d more pages), %d watches so far", s.name,
						s.source.fetches.Load(), s.source.pages.Load(), s.source.watches.Load())
				}
			})
			if !ok {
				t.FailNow() // what differs now would differ after every further disturbance
			}
		}
	}
	for _, s := range subjects {
		t.Logf("%-28s told %d adds, %d updates, %d deletions, %d tombstones", s.name,
			s.witness[0].Calls("add"), s.witness[0].Calls("update"), s.witness[0].Calls("delete"),
			s.witness[0].Calls("tombstone"))
	}
}

// reportTo makes the cluster report to a subtest until that ends.
func (c *cluster) reportTo(t *testing.T) {
	outer := c.t
	c.t = t
	t.Cleanup(func() { c.t = outer })
}

// awaitMore waits until a counter of every subject has grown by n.
func awaitMore(c *cluster, subjects []*subject, what string, n int64, counter func(*subject) int64,
	do func()) {
	c.t.Helper()
	before := map[*subject]int64{}
	for _, s := range subjects {
		before[s] = counter(s)
	}
	do()
	for _, s := range subjects {
		eventually(c.t, s.name+" "+what, func() error {
			if got := counter(s) - before[s]; got < n {
				return fmt.Errorf("%d, want %d", got, n)
			}
			return nil
		})
	}
}

func fetches(s *subject) int64 { return s.source.fetches.Load() }
func watches(s *subject) int64 { return s.source.watches.Load() }

func shortWatches(c *cluster, subjects []*subject, _ *writers) {
	c.watchSeconds.Store(1)
	defer c.watchSeconds.Store(0)
	awaitMore(c, subjects, "watches that ended", 4, watches, func() { c.line.cut() })
}

// cutConnections cuts whenever there is something to cut and something was written.
func cutConnections(c *cluster, subjects []*subject, w *writers) {
	for range 4 {
		awaitMore(c, subjects, "watches after a cut", 1, watches, func() {
			if c.line.cut() == 0 {
				c.t.Error("there was no connection to cut")
			}
		})
		w.awaitWrites(c.t, 50)
	}
}

// changeDefinition changes the CRD under open watches, and then while the informers are
// away: the first ends the watches, the second has all of them answered with 410.
func changeDefinition(c *cluster, subjects []*subject, w *writers) {
	awaitMore(c, subjects, "watches after the change", 1, watches, func() {
		c.changeCRD(c.t.Context())
	})
	awaitMore(c, subjects, "fetches after 410", 1, fetches, func() {
		c.line.setDown(true)
		defer c.line.setDown(false)
		w.awaitWrites(c.t, 50)
		const caches = "apiserver_watch_cache_initializations_total"
		before := must1(c.metric(c.t.Context(), caches))(c.t)
		c.changeCRD(c.t.Context())
		eventually(c.t, "a new watch cache", func() error {
			now, err := c.metric(c.t.Context(), caches)
			if err == nil && now <= before {
				err = fmt.Errorf("%s is %v", caches, now)
			}
			return err
		})
	})
}

func killServer(c *cluster, subjects []*subject, w *writers) {
	for range 2 {
		awaitMore(c, subjects, "watches of the new server", 1, watches, c.restart)
		w.awaitWrites(c.t, 50)
	}
}

// compactAway leaves the informers behind at versions that neither the new server's
// watch cache nor etcd has.
func compactAway(c *cluster, subjects []*subject, w *writers) {
	awaitMore(c, subjects, "fetches after 410", 1, fetches, func() {
		c.line.setDown(true)
		w.awaitWrites(c.t, 100)
		c.restart()
		w.awaitWrites(c.t, 100)
		must(c.t, c.compact(c.t.Context()))
		c.line.setDown(false)
	})
}

// endSlowWatchers holds the answers back until the server's buffers are full.
func endSlowWatchers(c *cluster, subjects []*subject, _ *writers) {
	const ended = "apiserver_terminated_watchers_total"
	before, err := c.metric(c.t.Context(), ended)
	must(c.t, err)
	awaitMore(c, subjects, "watches after the slow one", 1, watches, func() {
		c.line.hold()
		defer c.line.flow()
		eventually(c.t, "the server ends slow watchers", func() error {
			now, err := c.metric(c.t.Context(), ended)
			if err == nil && now-before < float64(len(subjects)) {
				err = fmt.Errorf("%s rose by %v, want %d", ended, now-before, len(subjects))
			}
			return err
		})
	})
}

// TestWithoutWatchCache follows a server that answers everything from etcd: lists in
// pages, and watches that compaction ends.
func TestWithoutWatchCache(t *testing.T) {
	objects, writes := size()
	c := newCluster(t, "--watch-cache=false")
	c.createWidgetsWithoutCache(t.Context(), objects)
	var subjects []*subject
	for _, k := range kinds {
		s := c.newSubject(k)
		if !k.streaming {
			// Each first list meets a compaction between its first page and its second.
			compactions := 0
			s.source.beforePage = func() {
				if compactions++; compactions == 1 {
					// The informer's goroutine is here, which must not end the test.
					if err := errors.Join(c.tryMark("between pages of "+k.name),
						c.compact(t.Context())); err != nil {
						t.Error(err)
					}
				}
			}
		}
		s.start(t)
		if !k.streaming {
			eventually(t, k.name+" lists again after its continue token expired", func() error {
				if fetches, pages := s.source.fetches.Load(), s.source.pages.Load(); fetches < 2 || pages < 1 {
					return fmt.Errorf("%d lists, %d more pages", fetches, pages)
				}
				return nil
			})
		}
		subjects = append(subjects, s)
	}
	c.compare(t, subjects)
	w := c.startWriters(t.Context(), objects+objects/10, 0)
	w.awaitWrites(t, writes)
	awaitMore(c, subjects, "fetches after 410", 1, fetches, func() {
		c.line.setDown(true)
		w.awaitWrites(t, 100)
		must(t, c.compact(t.Context()))
		c.line.setDown(false)
	})
	w.awaitWrites(t, writes)
	w.stop(t)
	c.compare(t, subjects)
}
