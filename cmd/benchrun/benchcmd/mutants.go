package benchcmd

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/bench/runner"
	"github.com/informerbench/informerbench/conformance/mutants"
	"github.com/informerbench/informerbench/contract"
)

// verifyMutants runs the suites of the entries' components over broken implementations and
// prints how many the suites detect.
func verifyMutants(ctx context.Context, out io.Writer, entries []catalog.Entry,
	verbose bool) error {
	components := map[contract.Component]bool{}
	for _, e := range entries {
		components[e.Component] = true
	}
	chosen := slices.DeleteFunc(mutants.All(), func(m mutants.Mutant) bool {
		return !components[m.Component]
	})
	results := mutants.Try(ctx, chosen)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", runner.ErrInterrupted, err)
	}
	if verbose {
		listMutants(out, results)
	}
	caught := 0
	var survivors []string
	t := table.NewWriter()
	t.SetOutputMirror(out)
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.SetTitle("Broken implementations, and how many of them the suites catch")
	t.AppendHeader(table.Row{"component", "caught", "slowest"})
	for _, row := range mutants.Score(results) {
		t.AppendRow(table.Row{row.Component, fmt.Sprintf("%d of %d", row.Caught, row.Total),
			fmt.Sprintf("%.1fs (%s)", row.Slowest.Seconds(), row.SlowestName)})
		caught += row.Caught
		survivors = append(survivors, row.Survivors...)
	}
	t.Render()
	for _, s := range survivors {
		fmt.Fprintln(out, "survived", s)
	}
	if len(survivors) > 0 {
		return broken(fmt.Errorf("%d of %d broken implementations are not caught", len(survivors),
			len(results)))
	}
	fmt.Fprintf(out, "all %d are caught\n", caught)
	return nil
}

func listMutants(out io.Writer, results []mutants.Result) {
	for _, r := range results {
		mark := "ok  "
		if !r.Caught() {
			mark = "FAIL"
		}
		fmt.Fprintf(out, "%s %s: %s\n", mark, r.Mutant.ID(), r.Mutant.Mistake)
		fmt.Fprintf(out, "     %.1fs, caught by %s\n", r.Elapsed.Seconds(),
			strings.Join(slices.Sorted(maps.Keys(r.Said)), ", "))
		if r.Mutant.Link != "" {
			fmt.Fprintf(out, "     as in %s\n", r.Mutant.Link)
		}
	}
}
