package runner

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load/presets"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// sharpWorkload has the operations whose slowdowns must be found, with the sizes of the
// default preset.
const sharpWorkload = "store-ops"

// perOperation is the time of an operation in a fork. Short forks give a verdict more samples
// of a process, long ones prepare less.
func perOperation(cell time.Duration) time.Duration { return min(100*time.Millisecond, cell/400) }

// cellTime is how long a cell is measured, all its operations, until a slowdown of the given
// percent must be found.
func cellTime(percent float64) time.Duration {
	switch {
	case percent >= 10:
		return 5 * time.Second
	case percent >= 3 || percent == 0:
		return 15 * time.Second
	}
	return time.Minute
}

// mustFind is the share of the operations whose slowdown must be found.
func mustFind(percent float64) float64 {
	switch {
	case percent >= 10:
		return 1
	case percent >= 3:
		return 0.99
	}
	return 0.95
}

// sharpMetrics are those by which a slowdown of an operation may be found.
var sharpMetrics = []string{metrics.NsPerOp, metrics.UsualNsPerOp}

// tested is an operation's ratio by one of sharpMetrics.
type tested struct{ op, metric string }

// found counts what was said of it in all cells.
type found struct {
	slower, faster int
	widths, ratios []float64 // half widths of the intervals; estimates
}

// sharpness plants a slowdown of percent in the reference store, measures it in turns with
// the same store unspoiled, cell by cell, and counts the operations that are found slower:
// by one of sharpMetrics the whole interval lies above 1, and q is at most alpha. A slowdown
// of 0 must be found nowhere.
func (c *selfCheck) sharpness(ctx context.Context, percent float64) error {
	workload, cell, err := sharpCell(percent)
	if err != nil {
		return err
	}
	all := map[tested]*found{}
	slower, faster, total, index := 0, 0, 0, 0
	for k := range c.o.Cells {
		fmt.Fprintf(c.progress, "a slowdown of %g%%: cell %d of %d, %s each\n", percent, k+1, c.o.Cells,
			cellTime(percent))
		logs := map[tested][]float64{}
		for start := time.Now(); time.Since(start) < cellTime(percent); index++ {
			share, none := percent/100, 0.0
			f := record.Fork{}
			req := bench.Request{Cell: cell, Index: index, Workload: workload, Against: cell.Impl,
				Plant: &share, AgainstPlant: &none}
			if _, err := (sysinfo.Child{Args: []string{ForkCommand}, Procs: cell.Procs}).Run(ctx, req,
				&f); err != nil {
				return err
			}
			for _, s := range f.Series {
				for _, metric := range sharpMetrics {
					by := tested{s.Name(), metric}
					logs[by] = append(logs[by], s.Duet.Ratios[metric].Log)
				}
			}
		}
		up, down, err := judgeCell(all, logs)
		if err != nil {
			return err
		}
		slower, faster, total = slower+len(up), faster+len(down), total+len(logs)/len(sharpMetrics)
	}
	c.reportSharpness(percent, index, all)
	var wrong []string
	if percent == 0 && slower+faster > 0 {
		wrong = append(wrong, "nothing was planted")
	}
	if share := float64(slower) / float64(total); percent > 0 && share < mustFind(percent) {
		wrong = append(wrong, fmt.Sprintf("%.0f%% found, want %.0f%%", 100*share, 100*mustFind(percent)))
	}
	if percent > 0 && faster > 0 {
		wrong = append(wrong, "a slowdown was called faster")
	}
	return c.conclude(fmt.Sprintf("%d of %d found slower, %d faster.", slower, total, faster), wrong)
}

// sharpCell is the cell of the reference store, and its workload as YAML.
func sharpCell(percent float64) (workload string, cell record.Cell, err error) {
	p, err := NewPlan(Options{Preset: presets.Default,
		Components: []string{string(contract.ComponentStore)}, Duration: perOperation(cellTime(percent)),
		Out: fmt.Sprintf("sharpness-%g", percent)})
	if err != nil {
		return "", cell, err
	}
	reference := slices.IndexFunc(p.entries, func(e catalog.Entry) bool { return e.Reference })
	for _, v := range p.variants {
		if v.Workload.Name == sharpWorkload {
			text, err := p.text(v)
			return text.YAML, p.cell(p.entries[reference], v), err
		}
	}
	return "", cell, fmt.Errorf("preset %s has no workload %s", presets.Default, sharpWorkload)
}

// judgeCell judges the operations of a cell, which are one family with all their metrics. It
// adds what was said to all, and returns the operations that were found slower, and faster,
// by any metric.
func judgeCell(all map[tested]*found, logs map[tested][]float64) (slower, faster map[string]bool,
	err error) {
	ratios := map[tested]*stats.Ratio{}
	for by, values := range logs {
		r, err := stats.PairedRatioOf(values)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %s: %w", by.op, by.metric, err)
		}
		ratios[by] = &r
	}
	stats.Adjust(slices.Collect(maps.Values(ratios)))
	slower, faster = map[string]bool{}, map[string]bool{}
	for by, r := range ratios {
		if all[by] == nil {
			all[by] = &found{}
		}
		f := all[by]
		f.ratios = append(f.ratios, r.Estimate)
		f.widths = append(f.widths, (r.Hi-r.Lo)/2)
		switch proven := r.Enough() && r.Q <= stats.DefaultRule.Alpha; {
		case proven && r.Lo > 1:
			f.slower++
			slower[by.op] = true
		case proven && r.Hi < 1:
			f.faster++
			faster[by.op] = true
		}
	}
	return slower, faster, nil
}

// reportSharpness writes a table of the operations by each metric.
func (c *selfCheck) reportSharpness(percent float64, forks int, all map[tested]*found) {
	fmt.Fprintf(c.out, "## Single operations, slowed down by %g percent\n\nThe store of client-go "+
		"takes turns with itself, and one of the two is slowed down. %d cells were measured, each for "+
		"%s, preparations included, by %.0f processes. An operation is found slower by %s if its q is "+
		"at most %g and its whole interval is above 1. All q of a cell belong to one family.\n\n",
		percent, c.o.Cells, cellTime(percent), float64(forks)/float64(c.o.Cells),
		strings.Join(sharpMetrics, " or "), stats.DefaultRule.Alpha)
	fmt.Fprintf(c.out, "| operation | by | found slower | found faster | ratio, median over the "+
		"cells | interval, half its width |\n|---|---|---|---|---|---|\n")
	order := func(a, b tested) int {
		return cmp.Or(cmp.Compare(a.op, b.op), metrics.Compare(a.metric, b.metric))
	}
	for _, by := range slices.SortedFunc(maps.Keys(all), order) {
		f := all[by]
		fmt.Fprintf(c.out, "| %s | %s | %d of %d | %d | %.4f | ±%.2f%% |\n", by.op, by.metric, f.slower,
			len(f.ratios), f.faster, stats.MedianOf(f.ratios), 100*stats.MedianOf(f.widths))
	}
}
