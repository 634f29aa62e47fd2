package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/informerbench/informerbench/catalog"
	"github.com/informerbench/informerbench/load"
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
		Args: cobra.NoArgs,
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
	cmd.Flags().BoolVar(&showMetrics, "metrics", false, "show what is measured: names, which way is better, what gets a verdict")
	return cmd
}

// columnWidth keeps a table of three long columns within a terminal of 140 characters.
const columnWidth = 42

func newTable(out io.Writer, title string, header ...any) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(out)
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.SetTitle("%s", title)
	t.AppendHeader(table.Row(header))
	var columns []table.ColumnConfig
	for i := range header {
		columns = append(columns, table.ColumnConfig{Number: i + 1, WidthMax: columnWidth, WidthMaxEnforcer: text.WrapSoft})
	}
	t.SetColumnConfigs(columns)
	return t
}

func listImplementations(out io.Writer, entries []catalog.Entry) {
	t := newTable(out, "Implementations (* is what the others of its component are compared with)", "component", "name", "what it is", "guarantees")
	for i, e := range entries {
		name := e.Name
		if e.Reference {
			name += " *"
		}
		guarantees := e.Guarantees
		name += "\n(" + e.Module + ")"
		for _, w := range e.Waivers {
			guarantees += fmt.Sprintf("\n%s waived: %s", w.Clause, w.Reason)
		}
		if i > 0 && entries[i-1].Component != e.Component {
			t.AppendSeparator()
		}
		t.AppendRow(table.Row{e.Component, name, e.Description, guarantees})
	}
	t.Render()
}

// listMetrics prints the table of metrics.
func listMetrics(out io.Writer) {
	t := newTable(out, "Metrics (names are units of benchfmt; a gate matches them: --gate 'store/*/ns/op <= +5%')", "name", "better", "verdict", "what is measured")
	for _, m := range metrics.All() {
		better := map[metrics.Direction]string{metrics.LowerIsBetter: "lower", metrics.HigherIsBetter: "higher"}[m.Better]
		verdict := ""
		if m.Judged {
			verdict = "yes"
			if len(m.Unless) > 0 {
				verdict = "unless there is " + strings.Join(m.Unless, ", ")
			}
		}
		t.AppendRow(table.Row{m.Name, better, verdict, m.Help})
	}
	t.Render()
}

func listPresets(out io.Writer, components []string) {
	t := newTable(out, "Presets (benchrun run --preset NAME)", "name", "measures", "what it is", "source")
	for _, p := range load.Presets() {
		var measures []string
		for _, w := range p.Workloads {
			if c := string(w.Component); !slices.Contains(measures, c) && (len(components) == 0 || slices.Contains(components, c)) {
				measures = append(measures, c)
			}
		}
		if len(measures) == 0 {
			continue
		}
		name := p.Name
		if name == load.DefaultPreset {
			name += " (default)"
		}
		t.AppendRow(table.Row{name, strings.Join(measures, ", "), p.Description, p.Source})
	}
	t.Render()
}
