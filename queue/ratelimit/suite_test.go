package ratelimit_test

import (
	"math"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/informerbench/informerbench/conformance/limittest"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/ratelimit"
)

func TestLimitersKeepTheClauses(t *testing.T) {
	t.Parallel()
	for name, newLimiter := range map[string]func() contract.RateLimiter[string]{
		"exponential": func() contract.RateLimiter[string] {
			return ratelimit.NewItemExponentialFailure[string](5*time.Millisecond, 1000*time.Second)
		},
		"exponential-widest": func() contract.RateLimiter[string] {
			return ratelimit.NewItemExponentialFailure[string](1, math.MaxInt64)
		},
		"exponential-zero": func() contract.RateLimiter[string] {
			return ratelimit.NewItemExponentialFailure[string](0, time.Second)
		},
		"exponential-negative": func() contract.RateLimiter[string] {
			return ratelimit.NewItemExponentialFailure[string](-time.Second, -1)
		},
		"fast-slow": func() contract.RateLimiter[string] {
			return ratelimit.NewItemFastSlow[string](time.Millisecond, time.Minute, 3)
		},
		"bucket": func() contract.RateLimiter[string] {
			return ratelimit.NewBucket[string](rate.NewLimiter(10, 100))
		},
		"bucket-empty": func() contract.RateLimiter[string] {
			return ratelimit.NewBucket[string](rate.NewLimiter(0, 0))
		},
		"max-of-none": func() contract.RateLimiter[string] { return ratelimit.NewMaxOf[string]() },
		"controller": func() contract.RateLimiter[string] {
			return ratelimit.DefaultController[string]()
		},
		"max-wait": func() contract.RateLimiter[string] {
			return ratelimit.NewWithMaxWait[string](ratelimit.DefaultController[string](), time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limittest.Run(t, newLimiter)
		})
	}
}
