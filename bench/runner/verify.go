package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/catalog"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/measure/record"
)

// quickEffort is the share of the random and stress cases that a run does before it
// measures; benchrun verify does all.
const quickEffort = 0.2

// Verify runs the conformance suite of one entry and describes the entry with the outcome.
// opts may set the seed and the effort.
func Verify(e catalog.Entry, opts ...suite.Option) record.Implementation {
	im := describe(e)
	opts = append(slices.Clone(opts), suite.WithObserver(func(r suite.Result) {
		im.Seed = r.Seed
		switch r.Outcome {
		case suite.Pass:
			im.CasesPassed++
		case suite.Skip:
			im.Skipped = append(im.Skipped, record.Waiver{Clause: r.Clause.ID + "/" + r.Case, Reason: r.Reason})
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

// verifyAll verifies each entry and returns those that failed, which may not be measured.
func verifyAll(ctx context.Context, entries []catalog.Entry, skip bool, out io.Writer) (impls []record.Implementation, failed []catalog.Entry, err error) {
	for _, e := range entries {
		if ctx.Err() != nil {
			return nil, nil, fmt.Errorf("%w while verifying; nothing was measured or written", ErrInterrupted)
		}
		if skip {
			impls = append(impls, describe(e))
			continue
		}
		start := time.Now()
		im := Verify(e, suite.WithEffort(quickEffort))
		impls = append(impls, im)
		PrintVerified(out, im, time.Since(start))
		if im.Verified == record.VerifyFailed {
			failed = append(failed, e)
		}
	}
	if len(failed) == len(entries) {
		return nil, nil, errors.Join(ErrFailed, errors.New("no chosen implementation passed its conformance suite: there is nothing to measure"))
	}
	return impls, failed, nil
}

// PrintVerified writes the outcome of one verification, with every waived clause and the
// reason.
func PrintVerified(out io.Writer, im record.Implementation, took time.Duration) {
	mark := "ok  "
	if im.Verified != record.VerifyPassed {
		mark = "FAIL"
	}
	fmt.Fprintf(out, "%s %s/%s: %d cases passed, %d do not apply, %d clauses waived (%.1fs, seed %d)\n", mark, im.Component, im.Name, im.CasesPassed, len(im.Skipped), len(im.Waivers), took.Seconds(), im.Seed)
	for _, w := range im.Waivers {
		fmt.Fprintf(out, "     waived %s: %s\n", w.Clause, w.Reason)
	}
	for _, f := range im.Failures {
		fmt.Fprintf(out, "     %s\n", strings.ReplaceAll(f, "\n", "\n     "))
	}
}
