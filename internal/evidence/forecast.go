package evidence

import (
	"os"
	"path/filepath"
	"time"

	"github.com/informerbench/informerbench/bench/runner"
	"github.com/informerbench/informerbench/measure/record"
)

// forecast says how long presets take: as long as their last whole runs in the folder took.
// Of a preset without one only the plan's load is known, to which each process adds its
// preparation; so the load is multiplied by what the presets that have runs took for theirs.
func (o Options) forecast(presets []string) string {
	last := map[string]time.Duration{}
	var took, load time.Duration
	for _, name := range o.Presets {
		d, ok := o.lastTook(name)
		l, err := planLoad(name)
		if !ok || err != nil {
			continue
		}
		last[name] = d
		took, load = took+d, load+l
	}
	var sum time.Duration
	for _, name := range presets {
		if d, ok := last[name]; ok {
			sum += d
			continue
		}
		l, err := planLoad(name)
		if err != nil {
			return "for an unknown time: " + err.Error()
		}
		if load > 0 {
			l = time.Duration(float64(l) * float64(took) / float64(load))
		}
		sum += l
	}
	text := "some " + sum.Round(time.Minute).String()
	if load == 0 && len(presets) > 0 {
		text += " of load alone, perhaps twice that in all"
	}
	return text
}

// lastTook is the time that the processes of a preset's last whole run took.
func (o Options) lastTook(preset string) (took time.Duration, ok bool) {
	for _, dir := range []string{filepath.Join(o.Results, Next, preset), filepath.Join(o.Results, preset)} {
		r, err := record.ReadRun(dir)
		if err != nil || !r.Complete {
			continue
		}
		return measured(r), true
	}
	return 0, false
}

// planLoad is the time that a preset's load takes by its plan.
func planLoad(preset string) (time.Duration, error) {
	p, err := runner.NewPlan(runner.Options{Preset: preset, Out: filepath.Join(os.TempDir(), "informerbench-forecast"), Profile: true})
	if err != nil {
		return 0, err
	}
	return p.Load(), nil
}

// measured is the time that a run's processes took, without what lay between them: a run may
// have been interrupted for a day.
func measured(r *record.Run) (took time.Duration) {
	for _, f := range r.Forks {
		took += time.Duration(f.Seconds * float64(time.Second))
	}
	return took
}
