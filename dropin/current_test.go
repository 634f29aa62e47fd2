//go:build !next

package dropin_test

const next = false
