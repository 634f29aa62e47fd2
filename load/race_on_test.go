//go:build race

package load

// allocationSlack is the largest ratio of a measured allocation to its bound. Under the
// race detector sync.Pool drops items at random, and the decoders allocate them again.
const allocationSlack = 1.25
