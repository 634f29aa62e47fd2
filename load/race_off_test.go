//go:build !race

package load

// allocationSlack is how many times its bound a measured allocation may be.
const allocationSlack = 1
