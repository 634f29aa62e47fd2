//go:build !race

// Without the race detector: one goroutine calls here, and the detector makes the thousands of
// histories that shrinking tries ten times slower.

package storetest

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
)

// calls matches the calls in the text of a failure.
var calls = regexp.MustCompile(
	`(?m)^(the caller|Writes|Update|Replace|Transaction|AddIndexers|Bookmark|Index)\b`)

// A long history finds each broken store, and rapid shrinks it to a few calls.
func TestBrokenStoresAreShrunk(t *testing.T) {
	// A second is enough on a machine with nothing else to do; rapid stops when it is done.
	const shrinking = 3 * time.Minute
	for _, c := range []struct{ bug, clause string }{
		{"old values stay", "STORE-19"},
		{"empty sets stay", "STORE-19"},
		{"half a write", "STORE-28"},
		{"half a transaction", "STORE-39"},
		{"transaction adds once", "STORE-19"},
		{"replace merges", "STORE-19"},
		{"lost after a relist", "STORE-19"},
		{"no back-fill", "STORE-19"},
		{"takes names twice", "STORE-19"},
		{"its own indexers", "STORE-26"},
		{"shared slice", "STORE-6"},
		{"list stops at three", "STORE-19"},
		{"index panics without values", "STORE-19"},
		{"deletions have no version", "STORE-40"},
	} {
		t.Run(c.bug, func(t *testing.T) {
			cases := slices.DeleteFunc(LongHistories(), func(of suite.Case[NewStore]) bool {
				return of.Clause != c.clause
			})
			var err error
			for seed := uint64(11); err == nil && seed <= 40; seed++ { // some seeds shrink for a minute
				err = suite.Check(cases, newSimple(c.bug), suite.WithSeed(seed),
					suite.WithCaseTimeout(12*shrinking))
			}
			var f *suite.Failure
			if !errors.As(err, &f) {
				t.Fatalf("got %v, want a *suite.Failure", err)
			}
			if left := len(calls.FindAllString(f.Reason, -1)); left > 10 || left == 0 {
				t.Errorf("shrunk to %d calls, want at most ten:\n%v", left, f)
			}
			if text := f.Error(); !strings.Contains(text, "suite.WithSeed(") {
				t.Errorf("the seed is not printed:\n%s", text)
			}
		})
	}
}
