package scale

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

const results, pageFile = "../../results", "../../docs/scale.md"

// A run that somebody makes in results/ does not change what the page says.
func TestOnlyKeptRunsCount(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, run := range []string{"quick", "20261121-queues", "pair/base", "next/stores", record.Stamp(time.Now()) + "-quick", record.Stamp(time.Now()) + "-pair/head"} {
		if err := os.MkdirAll(filepath.Join(dir, run), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, run, record.RunFile), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := keptRuns(dir)
	if want := []string{filepath.Join(dir, "20261121-queues"), filepath.Join(dir, "pair", "base"), filepath.Join(dir, "quick")}; err != nil || !slices.Equal(runs, want) {
		t.Errorf("%q, %v; want %q", runs, err, want)
	}
}

// docs/scale.md is what the program says of the present catalog, presets and records, up to the
// simulation, whose draws may differ in the last digit between processors. The simulation here
// has fewer shards: nearly all that is planted is found, and hardly anything else.
func TestPageIsTrue(t *testing.T) {
	t.Parallel()
	n, err := readNoise(results)
	if err != nil {
		t.Fatal(err)
	}
	m, err := newMatrix(n)
	if err != nil {
		t.Fatal(err)
	}
	var made bytes.Buffer
	p := &page{out: &made, noise: n, matrix: m}
	p.head(Options{Shards: PageShards})
	p.onePercent()
	p.inTenMinutes(PageShards)
	kept, err := os.ReadFile(pageFile)
	if err != nil || !strings.HasPrefix(string(kept), made.String()) {
		t.Errorf("docs/scale.md is not what the program says (%v): go generate ./internal/scale", err)
	}

	const shards, forks = 120, 20
	differences := map[kind]float64{}
	for _, k := range kinds {
		differences[k] = smallest(k, quantile(m.spreadsOf(k), 0.95), forks)
	}
	got, err := m.simulate(n, shards, forks, differences)
	if err != nil {
		t.Fatal(err)
	}
	all := total(got)
	t.Logf("%+v", got)
	if all.planted < 200 || all.same < 2000 || float64(all.found) < 0.93*float64(all.planted) {
		t.Errorf("%d of %d found beside %d of the same code", all.found, all.planted, all.same)
	}
	// Of all that is called different, one in a hundred may be false.
	if float64(all.wrong) > 0.03*float64(all.found) {
		t.Errorf("%d false beside %d found", all.wrong, all.found)
	}
	for _, k := range kinds {
		if o := got[k]; float64(o.found) < 0.85*float64(o.planted) {
			t.Errorf("%s: %d of %d found", k, o.found, o.planted)
		}
	}
}

// The formula's difference is found in about 95 of 100 tests at the p-value that it assumes.
func TestFormulaAgreesWithTheTests(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	n := &noise{shapes: map[kind][]float64{}}
	for range 2000 {
		n.shapes[tail] = append(n.shapes[tail], rng.NormFloat64())
	}
	for _, c := range []struct {
		kind     kind
		spread   float64
		machines []int
	}{{turns, 0.01, []int{8, 8, 8}}, {turns, 0.03, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}, {tail, 0.1, []int{10, 10, 10}}, {tail, 0.2, []int{25, 25, 25, 25}}} {
		forks := 0
		for _, m := range c.machines {
			forks += m
		}
		difference := smallest(c.kind, c.spread, forks)
		if got := forksFor(c.kind, c.spread, difference*1.0001); got != forks {
			t.Errorf("%s: %d forks find %g, and the formula asks for %d", c.kind, forks, difference, got)
		}
		const trials = 600
		found := 0
		for range trials {
			r, err := n.draw(rng, c.kind, c.spread, c.machines, difference)
			if err != nil {
				t.Fatal(err)
			}
			if r.P <= planted*stats.DefaultRule.Alpha && r.Lo > 1 {
				found++
			}
		}
		if share := float64(found) / trials; share < 0.88 || share > 0.99 {
			t.Errorf("%s on %v: %.3f found, the formula says 0.95", c.kind, c.machines, share)
		}
	}
	for _, k := range []kind{turns, tail} {
		if !math.IsInf(smallest(k, 0.01, 3), 1) {
			t.Errorf("%s: 3 forks are said to find something", k)
		}
	}
}

// Without records there is no page, and the error names the folder.
func TestNoRecords(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"nowhere", t.TempDir()} {
		if err := WritePage(&bytes.Buffer{}, Options{Results: dir, Shards: PageShards}); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
