package benchcmd

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/bench/runner"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/measure/record"
)

// mostEffort bounds the factor of the random and stress cases: more would overflow their number.
const mostEffort = 1_000_000

func newVerify() *cobra.Command {
	var components, impls, clauses []string
	var seed uint64
	var effort float64
	var verbose, onMutants bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Run the conformance suites over the catalog",
		Long: `verify runs every conformance case over the chosen implementations and prints what
failed, by clause, with the seed that repeats it; what was waived, and why; and how
many cases do not apply. It exits with 1 if anything failed.

With --mutants it runs them over broken implementations instead, each sound but for
one small mistake, and prints how many are caught by the clauses that must catch
them. It exits with 1 if one survives.`,
		Example: `  benchrun verify
  benchrun verify --component store --impl mutexmap --effort 10
  benchrun verify --impl mutexmap --clause STORE-7 --seed 12345 -v
  benchrun verify --mutants --component store`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			entries, err := catalog.Select(components, impls)
			if err != nil {
				return err
			}
			if onMutants {
				return verifyMutants(cmd.Context(), cmd.OutOrStdout(), entries, verbose)
			}
			if !(effort > 0 && effort <= mostEffort) {
				return fmt.Errorf("--effort %g: want more than 0, up to %d; 1 is the usual", effort, mostEffort)
			}
			opts := []suite.Option{suite.WithEffort(effort), suite.WithSeed(seed),
				suite.WithContext(cmd.Context())}
			asked := map[contract.Component][]string{}
			for _, id := range clauses {
				clause, err := contract.LookupClause(id)
				if err != nil {
					return fmt.Errorf("--clause: %w", err)
				}
				asked[clause.Component] = append(asked[clause.Component], id)
			}
			out := cmd.OutOrStdout()
			checked, failed := 0, 0
			for _, e := range entries {
				if len(clauses) > 0 && len(asked[e.Component]) == 0 {
					continue
				}
				start := time.Now()
				im := runner.Verify(e, append(opts, suite.Only(asked[e.Component]...))...)
				if err := cmd.Context().Err(); err != nil {
					return fmt.Errorf("%w: %w; %s was not verified to its end", runner.ErrInterrupted, err, e.ID())
				}
				if im.CasesPassed == 0 && len(im.Failures) == 0 && len(clauses) > 0 {
					continue // the requested clauses are waived, or their cases do not apply
				}
				checked++
				runner.PrintVerified(out, im, time.Since(start), effort)
				if verbose {
					for _, s := range im.Skipped {
						fmt.Fprintf(out, "     does not apply %s: %s\n", s.Clause, s.Reason)
					}
				}
				if im.Verified == record.VerifyFailed {
					failed++
				}
			}
			if failed > 0 {
				return broken(fmt.Errorf("%d of %d implementations do not keep the contract", failed, checked))
			}
			if checked == 0 {
				return fmt.Errorf("no case ran: the chosen implementations have none for %s, or waive it",
					strings.Join(clauses, ", "))
			}
			what := "the contract"
			if len(clauses) > 0 {
				what = strings.Join(clauses, ", ")
			}
			fmt.Fprintf(out, "%d implementations keep %s\n", checked, what)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&components, "component", nil, "only these components")
	f.StringSliceVar(&impls, "impl", nil, "only these implementations: names or globs")
	f.StringSliceVar(&clauses, "clause", nil, "only these clauses, such as STORE-7")
	f.Uint64Var(&seed, "seed", 0, "repeat the random choices of an earlier run (default: new ones)")
	f.Float64Var(&effort, "effort", 1, "scale the random and stress cases")
	f.BoolVarP(&verbose, "verbose", "v", false,
		"print the cases that do not apply, with the reason; with --mutants, every mutant")
	f.BoolVar(&onMutants, "mutants", false,
		"run the suites over broken implementations and print the score")
	complete(cmd, "component", componentNames)
	complete(cmd, "impl", implementationNames)
	complete(cmd, "clause", clauseNames)
	for _, other := range []string{"impl", "clause", "seed", "effort"} {
		cmd.MarkFlagsMutuallyExclusive("mutants", other)
	}
	return cmd
}
