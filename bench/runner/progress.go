package runner

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/report"
)

// progress shows the current cell and the time left: as a bar at a terminal, elsewhere as a
// line after each tenth, for a log.
//
// The time left is the workloads' expected time, scaled by the ratio of actual to expected
// time of the forks so far.
type progress struct {
	out      io.Writer
	bar      *progressbar.ProgressBar // nil where out is no terminal
	expected map[string]time.Duration // of one fork, by cell ID
	total    time.Duration            // expected of all forks
	past     time.Duration            // expected of the forks that are done
	started  time.Time
	printed  int // tenths
	ended    int // forks
}

func newProgress(out io.Writer, left []task) (*progress, error) {
	p := &progress{out: out, expected: map[string]time.Duration{}, started: time.Now()}
	for _, t := range left {
		id := t.Cell.ID()
		if p.expected[id] == 0 {
			w, err := workloadOf(t.sides[0].Run(), t.Cell)
			if err != nil {
				return nil, err
			}
			p.expected[id] = Expected(w)
		}
		p.total += p.expected[id]
	}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions64(int64(p.total), progressbar.OptionSetWriter(out),
			progressbar.OptionSetWidth(30),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false),
			progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
	}
	return p, nil
}

// Expected estimates how long a fork takes: its measurements and the generation of the
// objects.
func Expected(w load.Workload) time.Duration {
	d := 60*time.Millisecond + time.Duration(w.Objects.Count)*4*time.Microsecond
	d += time.Duration(len(w.Ops)*max(1, len(w.Parallel))) * 2 * w.Duration
	if len(w.Groups) > 0 {
		d += w.Warmup + w.Duration
	}
	return d
}

// remaining is the time left.
func (p *progress) remaining() time.Duration {
	left := p.total - p.past
	if p.past > 0 {
		left = time.Duration(float64(left) * float64(time.Since(p.started)) / float64(p.past))
	}
	return left.Round(time.Second)
}

func (p *progress) begin(next record.Planned) {
	what := "measuring"
	if next.Profile {
		what = "profiling"
	}
	text := report.VisibleLine(
		fmt.Sprintf("%s left, %s %s/%s %s", p.remaining(), what, next.Cell.Component, next.Cell.Label(),
			next.Cell.Workload))
	if p.bar != nil {
		p.bar.Describe(text)
		return
	}
	// The first line is a guess; the one after the first fork rests on a measurement.
	if tenth := int(10 * p.past / max(p.total, 1)); tenth >= p.printed || p.ended == 1 {
		p.printed = tenth + 1
		fmt.Fprintf(p.out, "%3d%% %s\n", int(100*p.past/max(p.total, 1)), text)
	}
}

func (p *progress) end(done record.Planned) {
	p.ended++
	p.past += p.expected[done.Cell.ID()]
	if p.bar != nil {
		// The bar only refuses numbers beyond its end, which past never exceeds.
		_ = p.bar.Set64(int64(p.past))
	}
}

// skip takes a fork that is not measured out of the time that is left.
func (p *progress) skip(next record.Planned) {
	p.total -= p.expected[next.Cell.ID()]
	if p.bar != nil {
		p.bar.ChangeMax64(int64(p.total))
	}
}

// say prints a text above the bar, or as lines of the log.
func (p *progress) say(text string) {
	if p.bar != nil {
		_ = p.bar.Clear() // the next fork draws it again
	}
	fmt.Fprintln(p.out, report.Visible(text))
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
