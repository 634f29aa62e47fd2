//go:build !next

package dropin_test

const next = false

var newInCache, differsInCache map[string]string
