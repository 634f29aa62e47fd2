package runner

import (
	"testing"
	"time"

	"github.com/informerbench/informerbench/measure/record"
)

// Forks that are given up do not count as work that is left, nor as work that is done.
func TestSkippedForksTakeNoTime(t *testing.T) {
	t.Parallel()
	fork := record.Planned{Cell: record.Cell{Impl: "mine"}}
	p := &forecast{
		expected: map[string]time.Duration{fork.Cell.ID(): 10 * time.Second}, total: 40 * time.Second,
		started: time.Now()}
	p.end(fork)
	p.skip(fork)
	p.skip(fork)
	if p.total != 20*time.Second || p.past != 10*time.Second {
		t.Errorf("%s of %s are done, want 10 of 20 s", p.past, p.total)
	}
	p.end(fork)
	if left := p.remaining(); left != 0 {
		t.Errorf("%s are left, want none", left)
	}
}
