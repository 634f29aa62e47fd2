// Package ratelimit holds the limiters that say how long a failed item waits
// before its next try. Each satisfies contract.RateLimiter, client-go's
// TypedRateLimiter, and behaves as client-go's limiter of the like name, with
// two differences. No delay is ever negative: client-go's exponential limiter
// computes in floating point, and 1ns doubled 63 times comes out negative there.
//
// Every limiter may be used by any number of goroutines at once. The limiters
// that count failures keep one map entry for each item from its first failure until
// Forget. Without Forget they drop it once it has not failed for one to two hours, or for two
// to four times the longest delay if that is more: client-go's limiters grow for ever
// (kubernetes#138743). All calls take O(1) time.
package ratelimit
