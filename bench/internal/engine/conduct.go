package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
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
func Conduct(ctx context.Context, base, head *Peer, w load.Workload, index int) (results [2]Results,
	err error) {
	peers := [2]*Peer{candidate: head, reference: base}
	// other orders of turns in each fork
	all := trialsOf(w, rand.New(rand.NewPCG(w.Seed, uint64(index))))
	sittings := Sittings(w)
	for i := range sittings {
		// What is prepared last has its data in the caches.
		order := []int{candidate, reference}
		if i%2 == 1 {
			slices.Reverse(order)
		}
		if _, err := both(peers, order, ask{What: askSit, Sitting: i}); err != nil {
			return results, err
		}
		for _, t := range all {
			if err := errors.Join(ctx.Err(),
				t.sitApart(peers, order, w.Duration/time.Duration(sittings))); err != nil {
				return results, fmt.Errorf("%s: %w", t.op, err)
			}
		}
	}
	last, err := both(peers, []int{candidate, reference}, ask{What: askFinish})
	if err != nil {
		return results, err
	}
	for _, t := range all {
		for side, r := range [2]*Results{candidate: &results[1], reference: &results[0]} {
			if err := t.lacking[side]; err != nil {
				r.Unsupported = append(r.Unsupported, err.Error())
				continue
			}
			series := t.series(side, last[side].PerByte)
			if ratios := t.duet.ratios(); side == candidate && len(ratios) > 0 {
				series.Base = ratios
			}
			r.Series = append(r.Series, series)
		}
	}
	return results, nil
}

// sitApart measures the operation in a sitting for about the time budget, by peers, which
// prepare it in this order. A side that lacks it leaves the other alone.
func (t *trial) sitApart(peers [2]*Peer, order []int, budget time.Duration) error {
	replies, err := both(peers, order, ask{What: askCrew, Op: t.op, Goroutines: t.goroutines})
	if err != nil {
		return err
	}
	var crews [2]crew
	for side, reply := range replies {
		if reply.Unsupported != "" {
			t.lacking[side] = unsupported(reply.Unsupported)
		} else {
			crews[side] = &distant{peers[side], t.goroutines, reply.Deferred, reply.Turn}
		}
	}
	return t.sit(crews, budget)
}

// both asks both peers, in this order, and waits for both: they work at the same time.
func both(peers [2]*Peer, order []int, a ask) (replies [2]answer, err error) {
	for _, side := range order {
		if err := peers[side].send(a); err != nil {
			return replies, err
		}
	}
	for _, side := range order {
		if replies[side], err = peers[side].receive(); err != nil {
			return replies, err
		}
	}
	return replies, nil
}
