package runner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// sharpWorkload has the operations whose slowdowns must be found, with the sizes of the
// default preset.
const sharpWorkload = "store-ops"

// perOperation is the time of an operation in a fork. A verdict needs some forks, however
// short its time; with more time, longer forks prepare less.
func perOperation(cell time.Duration) time.Duration {
	return max(25*time.Millisecond, min(100*time.Millisecond, cell/300))
}

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

// found counts what was said of one operation's cells.
type found struct {
	slower, faster int
	widths, ratios []float64 // half widths of the intervals; estimates
}

// sharpness plants a slowdown of percent in the reference store, measures it in turns with
// the same store unspoiled, cell by cell, and counts the operations that are found slower:
// the whole interval above 1, and q at most alpha. A slowdown of 0 must be found nowhere.
func (c *selfCheck) sharpness(ctx context.Context, percent float64) error {
	workload, cell, err := sharpCell(percent)
	if err != nil {
		return err
	}
	all := map[string]*found{}
	index := 0
	for k := range c.o.Cells {
		fmt.Fprintf(c.progress, "a slowdown of %g%%: cell %d of %d, %s each\n", percent, k+1, c.o.Cells, cellTime(percent))
		logs := map[string][]float64{}
		for start := time.Now(); time.Since(start) < cellTime(percent); index++ {
			share, none := percent/100, 0.0
			f := record.Fork{}
			req := bench.Request{Cell: cell, Index: index, Workload: workload, Against: cell.Impl, Plant: &share, AgainstPlant: &none}
			if _, err := sysinfo.RunChild(ctx, "", cell.Procs, req, &f, ForkCommand); err != nil {
				return err
			}
			for _, s := range f.Series {
				logs[s.Name()] = append(logs[s.Name()], s.Duet.LogRatio)
			}
		}
		if err := count(all, logs); err != nil {
			return err
		}
	}
	return c.reportSharpness(percent, index, all)
}

// sharpCell is the cell of the reference store, and its workload as YAML.
func sharpCell(percent float64) (workload string, cell record.Cell, err error) {
	p, err := NewPlan(Options{Preset: load.DefaultPreset, Components: []string{string(contract.ComponentStore)}, Duration: perOperation(cellTime(percent)), Out: fmt.Sprintf("sharpness-%g", percent)})
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
	return "", cell, fmt.Errorf("preset %s has no workload %s", load.DefaultPreset, sharpWorkload)
}

// count judges the operations of a cell together and adds the outcome.
func count(all map[string]*found, logs map[string][]float64) error {
	ratios := map[string]*stats.Ratio{}
	for op, values := range logs {
		r, err := stats.PairedRatioOf(values)
		if err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
		ratios[op] = &r
	}
	stats.Adjust(slices.Collect(maps.Values(ratios)))
	for op, r := range ratios {
		if all[op] == nil {
			all[op] = &found{}
		}
		f := all[op]
		f.ratios = append(f.ratios, r.Estimate)
		f.widths = append(f.widths, (r.Hi-r.Lo)/2)
		if proven := r.Enough() && r.Q <= stats.DefaultRule.Alpha; proven && r.Lo > 1 {
			f.slower++
		} else if proven && r.Hi < 1 {
			f.faster++
		}
	}
	return nil
}

// reportSharpness writes a table and fails if too few are found, or any where there is
// nothing.
func (c *selfCheck) reportSharpness(percent float64, forks int, all map[string]*found) error {
	fmt.Fprintf(c.out, "## Single operations, slowed down by %g percent\n\nThe store of client-go in turns with itself, one of the two slowed down: %d cells of %s each with all of its preparations, %.0f processes a cell. Found: q <= %g, and the whole interval above 1.\n\n",
		percent, c.o.Cells, cellTime(percent), float64(forks)/float64(c.o.Cells), stats.DefaultRule.Alpha)
	fmt.Fprintf(c.out, "| operation | found slower | found faster | ratio, median over the cells | interval, half its width |\n|---|---|---|---|---|\n")
	slower, faster, total := 0, 0, 0
	for _, op := range slices.Sorted(maps.Keys(all)) {
		f := all[op]
		slower, faster, total = slower+f.slower, faster+f.faster, total+len(f.ratios)
		fmt.Fprintf(c.out, "| %s | %d of %d | %d | %.4f | ±%.2f%% |\n", op, f.slower, len(f.ratios), f.faster, stats.MedianOf(f.ratios), 100*stats.MedianOf(f.widths))
	}
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
