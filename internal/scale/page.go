package scale

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/informerbench/informerbench/measure/stats"
)

// budget is the time in which a run must end; verification is what a shard uses of it before it
// measures.
const (
	budget       = 10 * time.Minute
	verification = time.Minute
)

func itoa(n int) string { return strconv.Itoa(n) }

// Options are what the page is made of.
type Options struct {
	Results string // the folder of the runs whose noise is used
	Shards  []int  // numbers of shards of the second table; the last is simulated
}

// PageShards are the numbers of shards of docs/scale.md.
var PageShards = []int{1, 16, 100, 300, 1000}

// WritePage writes the page, in Markdown. It takes some seconds, most of them for the
// simulation of the last number of shards.
func WritePage(out io.Writer, o Options) error {
	if err := exists(o.Results); err != nil {
		return err
	}
	n, err := readNoise(o.Results)
	if err != nil {
		return err
	}
	m, err := newMatrix(n)
	if err != nil {
		return err
	}
	p := &page{out: out, noise: n, matrix: m}
	p.head(o)
	p.onePercent()
	p.inTenMinutes(o.Shards)
	if err := p.simulation(o.Shards[len(o.Shards)-1]); err != nil {
		return err
	}
	p.assumptions()
	return p.err
}

type page struct {
	out    io.Writer
	err    error
	noise  *noise
	matrix *matrix
}

func (p *page) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format, args...)
	}
}

func (p *page) head(o Options) {
	comparisons := 0
	for _, k := range kinds {
		comparisons += len(p.matrix.spreadsOf(k))
	}
	cost, most := p.matrix.costOf(turns, 0.01)
	forks := p.forksOn(o.Shards[len(o.Shards)-1])
	p.printf("# What a thousand nodes would give\n\nMade by `go generate ./internal/scale`: a simulation, from the noise that was measured on the build machine and with the plan, the division and the tests of [sharded runs](shards.md). Nothing on this page was measured on a cluster.\n\n")
	p.printf("The whole matrix is every preset over the whole catalog: %d workloads, %d comparisons with a reference, %s of measuring for one process of each.\n\n", len(p.matrix.workloads), comparisons, hours(p.matrix.cost))
	p.printf("- **One percent of single operations** takes up to %d processes of each implementation: %s of machine time, or %d shards in ten minutes.\n", most, hours(cost), shardsFor(cost))
	p.printf("- **Ten minutes on %d shards** give %d processes of each. In 95 of 100 comparisons, a difference of %s is settled for operations in turns, and one of %s for p99s under load.\n", o.Shards[len(o.Shards)-1], forks, p.settles(turns, forks), p.settles(tail, forks))
	tails, _ := p.matrix.costOf(tail, 0.01)
	p.printf("- **One percent of a p99 under load is out of reach**: its processes differ by tens of percent, and the whole matrix would take %s shards. A p99 is judged with a margin of 25 percent for that reason ([how it is judged](comparing.md)).\n\n", thousands(shardsFor(tails)))
}

// settles is the difference that 95 of 100 comparisons of a kind find with so many forks.
func (p *page) settles(k kind, forks int) string {
	d := p.smallestFor(k, forks)
	if math.IsInf(d, 1) {
		return "none"
	}
	return inPercent(d)
}

// inPercent shows a relative difference with two digits.
func inPercent(d float64) string {
	if d >= 0.995 {
		return fmt.Sprintf("%.0f%%", 100*d)
	}
	return fmt.Sprintf("%.2g%%", 100*d)
}

func (p *page) smallestFor(k kind, forks int) float64 {
	return smallest(k, quantile(p.matrix.spreadsOf(k), 0.95), forks)
}

// forksOn is how many processes of each cell the shards measure in the budget.
func (p *page) forksOn(shards int) int {
	return int(time.Duration(shards) * (budget - verification) / p.matrix.cost)
}

func shardsFor(cost time.Duration) int {
	return int(math.Ceil(float64(cost) / float64(budget-verification)))
}

func hours(d time.Duration) string {
	if d < 3*time.Hour {
		return fmt.Sprintf("%.0f minutes", d.Minutes())
	}
	return thousands(int(math.Round(d.Hours()))) + " hours"
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func (p *page) onePercent() {
	p.printf("## How much each kind of number takes\n\nThe noise is the standard deviation from process to process.\n\n- A difference is *found* if its q is at most %g, in a family of which a tenth differs, and its whole interval is above 1.\n- It is *settled* if each of 95 of 100 comparisons of a workload finds it in 95 of 100 runs.\n- A *verdict* of better or worse asks for more: an interval beyond %s and beyond [the noise floor](comparing.md). So a difference of 1%% can be found, and has no such verdict.\n\n", stats.DefaultRule.Alpha, inPercent(stats.DefaultRule.Threshold))
	p.printf("| kind | comparisons | noise: median, and 95 of 100 | 1%%: shards for ten minutes | 3%% | 10%% |\n|---|---|---|---|---|---|\n")
	for _, k := range kinds {
		spreads := p.matrix.spreadsOf(k)
		p.printf("| %s | %d | %s, %s |", k, len(spreads), inPercent(quantile(spreads, 0.5)), inPercent(quantile(spreads, 0.95)))
		for _, d := range []float64{0.01, 0.03, 0.1} {
			cost, _ := p.matrix.costOf(k, d)
			p.printf(" %s |", thousands(shardsFor(cost)))
		}
		p.printf("\n")
	}
	p.printf("\nEach number is for that kind alone: a workload is measured as often as its own comparisons of the kind need.\n\n")
}

func (p *page) inTenMinutes(shards []int) {
	p.printf("## What ten minutes settle\n\nEvery workload is measured equally often. The difference that is settled in 95 of 100 comparisons:\n\n| shards | processes of each |")
	for _, k := range kinds {
		if k != memory && k != alone {
			p.printf(" %s |", k)
		}
	}
	p.printf("\n|---|---|---|---|---|---|\n")
	for _, s := range shards {
		forks := p.forksOn(s)
		p.printf("| %s | %d |", thousands(s), forks)
		for _, k := range kinds {
			if k != memory && k != alone {
				p.printf(" %s |", p.settles(k, forks))
			}
		}
		p.printf("\n")
	}
	p.printf("\nA verdict needs at least %d processes, and %d for operations in turns.\n\n", 6, 4)
}

// simulation checks the tables' formula with the tests that benchrun merge makes.
func (p *page) simulation(shards int) error {
	forks := p.forksOn(shards)
	differences := map[kind]float64{}
	for _, k := range kinds {
		differences[k] = p.smallestFor(k, forks)
	}
	p.printf("## The check: the matrix on %s shards, simulated\n\nOne run of the whole matrix: the plan is divided as `--shard` does, each shard is a machine of another speed, and all verdicts are one family. One comparison in ten is slower by what the table says is settled; the others are the same code.\n\n", thousands(shards))
	got, err := p.matrix.simulate(p.noise, shards, forks, differences)
	if err != nil {
		return err
	}
	p.printf("| kind | planted | slower by | found | the same code | of these called different |\n|---|---|---|---|---|---|\n")
	for _, k := range kinds {
		o := got[k]
		p.printf("| %s | %d | %s | %s | %d | %d |\n", k, o.planted, inPercent(differences[k]), percent(o.found, o.planted), o.same, o.wrong)
	}
	all := total(got)
	p.printf("\n%s of all that was planted are found, and %d of %s comparisons of the same code are called different; the family allows that one of a hundred findings is false.\n\n", percent(all.found, all.planted), all.wrong, thousands(all.same))
	return nil
}

func percent(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(n)/float64(of))
}

func (p *page) assumptions() {
	p.printf("## What is assumed\n\n")
	p.printf("- **Noise.** Operations in turns: the standard deviations of client-go's store against itself in [the log](log/decisions.md#operations-take-turns-and-the-collector-waits), the row of 25 ms for workloads that measure an operation for less than %s, else that of 0.2 s. Operations that are not in that table have its middle value. Two different implementations are noisier than one against itself, in the default preset by a factor of up to two, so operations in turns may need up to four times as many processes. All else: the %d runs in `results/`, every cell with %d forks and more; a comparison draws the noise of one recorded cell of its component and kind.\n", shortOperation, p.noise.runs, fewestForks)
	p.printf("- **Machines** are of one class, and their speeds differ by a standard deviation of %.0f percent. The build machine is a virtual machine with 2 cores; bare nodes with exclusive CPUs should be quieter. A ratio is the same on every machine. Where it is not, `benchrun merge` says so, and the interval is of the machines that measured.\n", 100*speeds)
	p.printf("- **Time.** A fork takes %.2f times what the plan expects: the median over %d workloads that are in `results/`. A shard verifies for %.0f of the ten minutes. Starting pods and pulling the image come on top.\n", p.matrix.longer, p.matrix.matched, verification.Minutes())
	p.printf("- **Work** is divided between shards by expected times. The longest shard takes up to one process of every implementation of a workload more than the average.\n")
}
