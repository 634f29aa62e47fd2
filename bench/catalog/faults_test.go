package catalog

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/informerbench/informerbench/conformance/informertest"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

var (
	faultHistories = flag.Int("faults.histories", 300,
		"how many random histories of faults each informer goes through")
	faultSeed = flag.Uint64("faults.seed", 0,
		"the seed of the first history, to repeat one; 0 takes a new one")
)

// Whatever the source and the handlers do, in the end the store, its indexes and every
// handler agree with the source. `make faults` plays 10,000 histories over each informer
// and prints the score. A failure names the seed that makes its history the first.
func TestNoFaultIsLost(t *testing.T) {
	const clause = "INFORMER-29"
	seed := *faultSeed
	if seed == 0 {
		seed = 1 + rand.Uint64N(1<<52)
	}
	entries, err := Select([]string{string(contract.ComponentInformer)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var score strings.Builder
	w := tabwriter.NewWriter(&score, 0, 0, 2, ' ', 0)
	for _, e := range entries {
		t.Run(e.Name, func(t *testing.T) {
			outcome, note := suite.Skip, "no history was played"
			begin := time.Now()
			err := Verify(e, suite.Only(clause), suite.WithSeed(seed),
				informertest.Histories(*faultHistories), suite.WithCaseTimeout(faultsTime(t)),
				suite.WithObserver(func(r suite.Result) {
					if r.Case == "random-histories" {
						outcome, note = r.Outcome, r.Note
					}
				}))
			if err != nil {
				t.Error(err)
			}
			if outcome == suite.Skip {
				t.Errorf("%s: %s", clause, note)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%.1fs\n", e.Name, outcome, note, time.Since(begin).Seconds())
		})
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Logf("seeds from %d\n%s", seed, &score)
}

// faultsTime returns the time left of go test's -timeout, or a day if there is none.
func faultsTime(t *testing.T) time.Duration {
	if deadline, ok := t.Deadline(); ok {
		return max(time.Minute, time.Until(deadline)-10*time.Second)
	}
	return 24 * time.Hour
}
