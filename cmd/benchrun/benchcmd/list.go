package benchcmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load/presets"
	"github.com/informerbench/informerbench/measure/metrics"
)

func newList() *cobra.Command {
	var components []string
	var showMetrics bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show implementations with their guarantees, and presets with their sources",
		Example: `  benchrun list
  benchrun list --component fifo
  benchrun list --metrics`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if showMetrics {
				listMetrics(cmd.OutOrStdout())
				return nil
			}
			entries, err := catalog.Select(components, nil)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			listImplementations(out, entries)
			fmt.Fprintln(out)
			listPresets(out, components)
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&components, "component", nil, "only these components")
	complete(cmd, "component", componentNames)
	cmd.Flags().BoolVar(&showMetrics, "metrics", false,
		"show what is measured: names, which way is better, what gets a verdict")
	cmd.MarkFlagsMutuallyExclusive("metrics", "component")
	return cmd
}

// listWidth is a terminal's usual width, and listIndent where the second column begins.
const (
	listWidth  = 80
	listIndent = 24
)

// entry prints a name and, in a column beside it, paragraphs about it.
func entry(out io.Writer, name string, paragraphs ...string) {
	name = "  " + name
	for _, p := range paragraphs {
		if p == "" {
			continue
		}
		for line := range strings.SplitSeq(text.WrapSoft(p, listWidth-listIndent), "\n") {
			if len(name) >= listIndent {
				fmt.Fprintln(out, name)
				name = ""
			}
			fmt.Fprintf(out, "%-*s%s\n", listIndent, name, strings.TrimRight(line, " "))
			name = ""
		}
	}
}

func listImplementations(out io.Writer, entries []catalog.Entry) {
	fmt.Fprintln(out, "Implementations; * is what the others of its component are compared with")
	last := contract.Component("")
	for _, e := range entries {
		if e.Component != last {
			fmt.Fprintf(out, "\n%s\n", e.Component)
			last = e.Component
		}
		name := e.Name
		if e.Reference {
			name += " *"
		}
		paragraphs := []string{e.Description, "keeps: " + e.Guarantees, "from " + e.Module}
		if e.Study {
			paragraphs = append(paragraphs,
				"for study: measured with -f or --trace, or if --impl names it")
		}
		for _, w := range e.Waivers {
			paragraphs = append(paragraphs, fmt.Sprintf("waives %s: %s", w.Clause, w.Reason))
		}
		entry(out, name, paragraphs...)
	}
}

// listMetrics prints the table of metrics.
func listMetrics(out io.Writer) {
	fmt.Fprintln(out, "Metrics; names are units of benchfmt, and a gate matches them:\n--gate "+
		"'store/*/ns/op <= +5%'")
	fmt.Fprintln(out)
	for _, m := range metrics.All() {
		better := map[metrics.Direction]string{metrics.LowerIsBetter: "lower is better",
			metrics.HigherIsBetter: "higher is better", metrics.Neither: "no result, a condition"}[m.Better]
		if m.Judged {
			better += "; gets a verdict"
			if len(m.Unless) > 0 {
				better += " unless there is " + strings.Join(m.Unless, " or ")
			}
		}
		entry(out, m.Name, m.Help, "("+better+")")
	}
}

func listPresets(out io.Writer, components []string) {
	fmt.Fprint(out, "Presets (benchrun run --preset NAME)\n\n")
	for _, p := range presets.All() {
		var measures []string
		for _, w := range p.Workloads {
			if c := string(w.Component); !slices.Contains(measures, c) &&
				(len(components) == 0 || slices.Contains(components, c)) {
				measures = append(measures, c)
			}
		}
		if len(measures) == 0 {
			continue
		}
		name := p.Name
		if name == presets.Default {
			name += " (default)"
		}
		entry(out, name, p.Description, "measures "+strings.Join(measures, ", "), p.Source)
	}
}
