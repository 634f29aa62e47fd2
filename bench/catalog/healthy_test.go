package catalog

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/conformance/suite"
)

var (
	healthyRuns = flag.Int("healthy.runs", 0,
		"how often each implementation's suite is run, each time with a new seed; 0 skips it")
	healthyOnly = flag.String("healthy.components", "",
		"only these components, such as store,queue; empty for all")
	healthyImpl = flag.String("healthy.impl", "",
		"only the implementations with this name; empty for all")
	healthyEffort = flag.Float64("healthy.effort", 0.02,
		"the effort of each of these runs; every case runs at any effort")
)

// accused counts the failures that the suites reported of one implementation.
type accused struct {
	runs    int
	elapsed time.Duration
	slowest time.Duration
	faults  []error
}

// A suite that fails healthy implementations is not believed when it is right. `make
// proofs` runs this a thousand times. A failure names the seed that repeats it. Ctrl-C ends
// it after the run under way, and the table is of the runs that were made.
func TestNoHealthyImplementationIsAccused(t *testing.T) {
	if *healthyRuns == 0 {
		t.Skip("TestEveryImplementationKeepsTheContract runs each once; give -healthy.runs, as make " +
			"proofs does")
	}
	klog.SetLogger(logr.Discard()) // client-go logs the failures that the suites provoke
	t.Cleanup(klog.ClearLogger)
	entries := All()
	if *healthyOnly != "" {
		entries = slices.DeleteFunc(entries, func(e Entry) bool {
			return !slices.Contains(strings.Split(*healthyOnly, ","), string(e.Component))
		})
	}
	if *healthyImpl != "" {
		entries = slices.DeleteFunc(entries, func(e Entry) bool { return e.Name != *healthyImpl })
	}
	if len(entries) == 0 {
		t.Fatalf("-healthy.components=%s and -healthy.impl=%s name none of the catalog's", *healthyOnly,
			*healthyImpl)
	}
	found := make([]accused, len(entries))
	first := rand.Uint64N(1 << 52)
	t.Logf("%d runs at effort %g, seeds from %d in steps of %d", *healthyRuns, *healthyEffort,
		first+1<<20, 1<<20)
	interrupted, restore := signal.NotifyContext(t.Context(), os.Interrupt)
	defer restore()
	enough := timeToStop(t)
	begin := time.Now()
	for run := range uint64(max(0, *healthyRuns)) {
		if interrupted.Err() != nil || enough() {
			t.Logf("stopped after %d of %d runs", run, *healthyRuns)
			break
		}
		// All entries have one seed in a run: rapid is configured for the whole process.
		// Seeds lie apart, because a run's histories have the seeds that follow its own.
		round(entries, found, suite.WithSeed(first+(1+run)<<20))
		if n := run + 1; n%20 == 0 {
			took := time.Since(begin)
			left := took / time.Duration(n) * time.Duration(uint64(*healthyRuns)-n)
			fmt.Printf("%d of %d runs after %s, some %s left\n", n, *healthyRuns, took.Round(time.Second),
				left.Round(time.Minute))
		}
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "implementation\truns\taccusations\ttime of a run\tslowest")
	for i, e := range entries {
		f := found[i]
		mean := f.elapsed / time.Duration(max(1, f.runs))
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\n", e.ID(), f.runs, len(f.faults),
			mean.Round(time.Millisecond), f.slowest.Round(time.Millisecond))
		if len(f.faults) > 0 {
			t.Errorf("%s was accused in %d of %d runs:\n%v", e.ID(), len(f.faults), f.runs,
				errors.Join(f.faults[:min(3, len(f.faults))]...))
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Logf("in %s:\n%s", time.Since(begin).Round(time.Second), &table)
}

// round verifies every entry once. More entries run at once than there are processors: the
// queues' suites mostly wait, and a crowded machine is a harder test.
func round(entries []Entry, found []accused, seed suite.Option) {
	room := make(chan struct{}, 3*runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i, e := range slices.Backward(entries) { // the queues' suites take longest
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			begin := time.Now()
			err := Verify(e, seed, suite.WithEffort(*healthyEffort))
			took := time.Since(begin)
			f := &found[i]
			f.runs++
			f.elapsed += took
			f.slowest = max(f.slowest, took)
			if err != nil {
				f.faults = append(f.faults, err)
				// a thousand runs take long, and may be cut short
				fmt.Printf("%s is accused: %v\n", e.ID(), err)
			}
		})
	}
	wg.Wait()
}

// timeToStop returns a function that reports whether less than a minute is left of
// -timeout.
func timeToStop(t *testing.T) func() bool {
	deadline, bounded := t.Deadline()
	return func() bool { return bounded && time.Until(deadline) < time.Minute }
}
