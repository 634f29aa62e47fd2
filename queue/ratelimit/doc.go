// Package ratelimit holds the limiters that say how long a failed item waits
// before its next try. Each satisfies contract.RateLimiter, client-go's
// TypedRateLimiter, and behaves as client-go's limiter of the like name, with
// one difference: no delay is ever negative. client-go's exponential limiter
// computes in floating point, and 1ns doubled 63 times comes out negative there.
//
// Every limiter may be used by any number of goroutines at once. The limiters
// that count failures keep one map entry for each item from its first failure
// until Forget: a caller that never forgets keeps them for ever, and an item that
// does not equal itself, such as NaN, cannot be forgotten. The map keeps the size of its
// fullest moment. All calls take O(1) time.
package ratelimit
