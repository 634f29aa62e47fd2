package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/record"
)

// Results are what a process of those that take turns measured.
type Results struct {
	Series      []record.Series
	Unsupported []string // why operations were left out
}

// Conduct measures each operation as Alone does, of two builds of an implementation: by two
// processes that take turns, of which base is the reference and head the candidate. The
// results are base's and head's; head's series have the ratios to base's. index is that of
// the fork.
//
// While one process does its turn, the other waits for its pipe. Neither has the heap, the
// collector or the hash seeds of the other.
func Conduct(ctx context.Context, base, head *Peer, w load.Workload, index int) (results [2]Results, err error) {
	peers := [2]*Peer{candidate: head, reference: base}
	all := trialsOf(w, rand.New(rand.NewPCG(w.Seed, uint64(index)))) // other orders of turns in each fork
	sittings := sittingsOf(w)
	for i := range sittings {
		for _, p := range peers { // both fill at once: nothing is timed
			if err := p.send(ask{What: askSit, Sitting: i}); err != nil {
				return results, err
			}
		}
		for _, p := range peers {
			if _, err := p.receive(); err != nil {
				return results, err
			}
		}
		for _, t := range all {
			if err := errors.Join(ctx.Err(), t.sitApart(peers, w.Duration/time.Duration(sittings))); err != nil {
				return results, fmt.Errorf("%s: %w", t.op, err)
			}
		}
	}
	var perByte [2]float64
	for side, p := range peers {
		reply, err := p.call(ask{What: askFinish})
		if err != nil {
			return results, err
		}
		perByte[side] = reply.PerByte
	}
	for _, t := range all {
		for side, r := range [2]*Results{candidate: &results[1], reference: &results[0]} {
			if err := t.lacking[side]; err != nil {
				r.Unsupported = append(r.Unsupported, err.Error())
				continue
			}
			series := t.series(side, perByte[side])
			if ratios := t.duet.ratios(); side == candidate && len(ratios) > 0 {
				series.Base = ratios
			}
			r.Series = append(r.Series, series)
		}
	}
	return results, nil
}

// sitApart measures the operation in a sitting for about the time budget, by peers. A side
// that lacks it leaves the other alone.
func (t *trial) sitApart(peers [2]*Peer, budget time.Duration) error {
	var crews [2]crew
	for side, p := range peers {
		c, err := p.crew(t.op, t.goroutines)
		switch {
		case errors.Is(err, ErrUnsupported):
			t.lacking[side] = err
		case err != nil:
			return err
		default:
			crews[side] = c
		}
	}
	return t.sit(crews, budget)
}
