package runner

import (
	"fmt"
	"io"
	"time"

	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/internal/progress"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/report"
)

// forecast shows the current cell and the time left.
//
// The time left is the workloads' expected time, scaled by the ratio of actual to expected
// time of the forks so far.
type forecast struct {
	line     *progress.Line
	expected map[string]time.Duration // of one fork, by cell ID
	total    time.Duration            // expected of all forks
	past     time.Duration            // expected of the forks that are done
	started  time.Time
}

func newForecast(out io.Writer, left []task) (*forecast, error) {
	p := &forecast{line: progress.New(out), expected: map[string]time.Duration{},
		started: time.Now()}
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
	return p, nil
}

// Expected estimates how long a fork takes: its measurements and the generation of the
// objects. A fork that takes many times as long is given up.
func Expected(w load.Workload) time.Duration {
	d := 60*time.Millisecond + time.Duration(w.Objects.Count)*4*time.Microsecond
	if w.Objects.Decoded {
		// Each sitting makes the objects anew, and collects them: 25 to 40 ns a byte were measured,
		// whatever the operations.
		made := uint64(1)
		if w.Component == contract.ComponentObjects {
			made = uint64(engine.Sittings(w))
		}
		d += time.Duration(made*uint64(w.Objects.Count)*w.Objects.BytesEach()) * 30
	}
	d += time.Duration(len(w.Ops)*max(1, len(w.Parallel))) * 2 * w.Duration
	if len(w.Groups) > 0 {
		d += w.Warmup + w.Duration
	}
	return d
}

// remaining is the time left.
func (p *forecast) remaining() time.Duration {
	left := p.total - p.past
	if p.past > 0 {
		left = time.Duration(float64(left) * float64(time.Since(p.started)) / float64(p.past))
	}
	return left.Round(time.Second)
}

func (p *forecast) begin(next record.Planned) {
	what := "measuring"
	if next.Profile {
		what = "profiling"
	}
	p.line.Show(float64(p.past)/float64(max(p.total, 1)), report.VisibleLine(
		fmt.Sprintf("%s left, %s %s/%s %s", p.remaining(), what, next.Cell.Component, next.Cell.Label(),
			next.Cell.Workload)))
}

func (p *forecast) end(done record.Planned) { p.past += p.expected[done.Cell.ID()] }

// skip takes a fork that is not measured out of the time that is left.
func (p *forecast) skip(next record.Planned) { p.total -= p.expected[next.Cell.ID()] }
