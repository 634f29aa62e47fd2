//go:build !race

package load

// allocationSlack is the largest ratio of a measured allocation to its bound.
const allocationSlack = 1
