package subject

import (
	"time"

	"github.com/informerbench/informerbench/bench/internal/engine"
)

// slowed makes an actor slower on purpose, by a share of the time that its operations take,
// to test whether the slowdown is found. The loop goes on reading the clock until the share
// is spent, so the slowdown is exact to some 50 ns for each call of the loop: for each turn
// of an operation that is measured alone, for each batch of one in a group. A share of 0
// reads the clock as well: compare a slowed actor with that.
func slowed(a engine.Actor, share float64) engine.Actor {
	loop := a.Loop
	a.Loop = func(n int) int {
		start := time.Now()
		done := loop(n)
		took := time.Since(start)
		for until := took + time.Duration(share*float64(took)); time.Since(start) < until; {
		}
		return done
	}
	return a
}
