//go:build next

package dropin_test

// next says that the tests run on the client-go of make next.
const next = true
