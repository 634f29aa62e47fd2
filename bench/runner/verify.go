package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/measure/record"
)

// Verify runs the conformance suite of one entry and describes the entry with the outcome.
// opts may set the seed, the effort and a context. If the context ends, the outcome says nothing.
func Verify(e catalog.Entry, opts ...suite.Option) record.Implementation {
	im := describe(e)
	opts = append(slices.Clone(opts), suite.WithObserver(func(r suite.Result) {
		im.Seed = r.Seed
		switch r.Outcome {
		case suite.Pass:
			im.CasesPassed++
		case suite.Skip:
			im.Skipped = append(im.Skipped,
				record.Waiver{Clause: r.Clause.ID + "/" + r.Case, Reason: r.Reason})
		}
	}))
	err := catalog.Verify(e, opts...)
	im.Verified = record.VerifyPassed
	if err != nil {
		im.Verified = record.VerifyFailed
		im.Failures = messages(err)
	}
	return im
}

func messages(err error) []string {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []string
		for _, e := range joined.Unwrap() {
			out = append(out, e.Error())
		}
		return out
	}
	return []string{err.Error()}
}

func describe(e catalog.Entry) record.Implementation {
	im := record.Implementation{
		Component: string(e.Component), Name: e.Name, Module: e.Module, Description: e.Description,
		Guarantees: e.Guarantees, Reference: e.Reference, Verified: record.VerifySkipped,
	}
	for _, w := range e.Waivers {
		im.Waivers = append(im.Waivers, record.Waiver(w))
	}
	return im
}

// verifyAll verifies the entries, as many at once as there are processors, and returns those
// that failed, which may not be measured. It prints the outcomes in the order of the entries.
// All suites have one seed, because rapid is configured for the whole process.
func verifyAll(ctx context.Context, entries []catalog.Entry, skip bool,
	out io.Writer) (impls []record.Implementation, failed []catalog.Entry, err error) {
	if skip {
		for _, e := range entries {
			impls = append(impls, describe(e))
		}
		return impls, nil, nil
	}
	type outcome struct {
		im   record.Implementation
		took time.Duration
	}
	seed := suite.WithSeed(1 + rand.Uint64N(1<<52))
	outcomes := make([]chan outcome, len(entries))
	for i := range outcomes {
		outcomes[i] = make(chan outcome, 1)
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(len(entries), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(entries)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				start := time.Now()
				im := Verify(entries[i], suite.WithEffort(catalog.BriefEffort), seed, suite.WithContext(ctx))
				outcomes[i] <- outcome{im, time.Since(start)}
			}
		})
	}
	defer wg.Wait()
	for i, e := range entries {
		var o outcome
		select {
		case <-ctx.Done():
		case o = <-outcomes[i]:
		}
		if ctx.Err() != nil { // if there is an outcome, its suite may not have run to its end
			return nil, nil, fmt.Errorf("%w while verifying; nothing was measured or written",
				ErrInterrupted)
		}
		impls = append(impls, o.im)
		PrintVerified(out, o.im, o.took, catalog.BriefEffort)
		if o.im.Verified == record.VerifyFailed {
			failed = append(failed, e)
		}
	}
	if len(failed) == len(entries) {
		return nil, nil, errors.Join(ErrFailed,
			errors.New("no chosen implementation passed its conformance suite: there is nothing to measure"))
	}
	return impls, failed, nil
}

// PrintVerified writes the outcome of one verification with that effort: every waived clause
// and the reason, and every failure with the command that repeats it.
func PrintVerified(out io.Writer, im record.Implementation, took time.Duration, effort float64) {
	mark := "ok  "
	if im.Verified != record.VerifyPassed {
		mark = "FAIL"
	}
	fmt.Fprintf(out, "%s %s/%s: %d cases passed, %d do not apply, %d clauses waived (%.1fs, seed "+
		"%d)\n", mark, im.Component, im.Name, im.CasesPassed, len(im.Skipped), len(im.Waivers),
		took.Seconds(), im.Seed)
	for _, w := range im.Waivers {
		fmt.Fprintf(out, "     waived %s: %s\n", w.Clause, w.Reason)
	}
	for _, f := range im.Failures {
		fmt.Fprintf(out, "     %s\n", strings.ReplaceAll(f, "\n", "\n     "))
	}
	if im.Verified == record.VerifyFailed {
		fmt.Fprintf(out, "     to see it again: %s\n", verifyAgain(im, effort))
	}
}

// programName is that of this program's file: a program with entries of its own is not benchrun.
func programName() string { return strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") }

// verifyAgain is the command that repeats a verification.
func verifyAgain(im record.Implementation, effort float64) string {
	return fmt.Sprintf("%s verify --component %s --impl %s --seed %d --effort %g", programName(),
		im.Component, im.Name, im.Seed, effort)
}
