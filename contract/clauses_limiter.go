package contract

// The clauses hold for every limiter. What one kind adds (doubling, a switch from fast to
// slow, a token bucket) is its constructor's promise, and its own tests check it.
var limiterClauses = []Clause{
	{"LIMIT-1", ComponentLimiter, CapCore, "When is never negative, at any number of failures",
		"design; client-go v0.37.2's exponential limiter overflows at a power-of-two base"},
	{"LIMIT-2", ComponentLimiter, CapCore, "NumRequeues of an item that never failed is zero",
		srcRateLimiters},
	{"LIMIT-3", ComponentLimiter, CapCore,
		"NumRequeues counts the item's Whens since its last Forget; a limiter that keeps no count " +
			"answers zero always", srcRateLimiters},
	{"LIMIT-4", ComponentLimiter, CapCore,
		"Forget clears the item's count and the delay that grew with it, and is harmless for an item " +
			"that never failed", srcRateLimiters},
	{"LIMIT-5", ComponentLimiter, CapCore,
		"Items are counted apart: When and Forget of one change no other's count, and failures of one " +
			"item delay another no more than as many failures of different items would", srcRateLimiters},
	{"LIMIT-6", ComponentLimiter, CapCore,
		"Any number of goroutines may call every method at once, and no failure goes uncounted",
		srcRateLimiters},
}
