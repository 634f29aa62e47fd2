package report

import (
	"cmp"
	"encoding/json"
	"io"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/stats"
)

// RunSchema is the version of the JSON that WriteJSON writes. It grows when a reader of the
// former version would misread the JSON.
const RunSchema = 1

// WriteJSON writes what a run says: every number with its interval, and every comparison
// with the reference with its verdict. run.json has the samples instead.
func (rep *Report) WriteJSON(w io.Writer) error {
	type number struct {
		Name     compare.Name        `json:"name"`
		Estimate stats.Estimate      `json:"estimate"`
		Against  *compare.Comparison `json:"against,omitempty"`
	}
	r := rep.Run
	out := struct {
		Schema   int        `json:"schema"`
		Run      string     `json:"run"`
		Preset   string     `json:"preset"`
		Rule     stats.Rule `json:"rule"`
		Warnings []string   `json:"warnings,omitempty"`
		Left     []string   `json:"left,omitempty"`
		Numbers  []number   `json:"numbers"`
	}{Schema: RunSchema, Run: r.Name, Preset: r.Preset, Rule: r.Settings.Rule,
		Warnings: compare.RunWarnings(r), Left: leftOut(r), Numbers: []number{}}
	for _, g := range rep.Groups {
		for _, row := range g.Rows {
			for _, v := range row.Values {
				c := g.Cells[0]
				out.Numbers = append(out.Numbers, number{
					Name: compare.Name{Component: string(c.Component), Workload: g.Title, Procs: c.Procs,
						Series: cmp.Or(row.Series, compare.ProcessSeries), Impl: v.Impl, Metric: row.Metric},
					Estimate: v.Estimate, Against: v.Against,
				})
			}
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "\t")
	return e.Encode(out)
}
