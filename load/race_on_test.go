//go:build race

package load

// allocationSlack is how many times its bound a measured allocation may be. Under the race
// detector sync.Pool drops items at random, and the decoders allocate them anew.
const allocationSlack = 1.25
