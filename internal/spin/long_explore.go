//go:build explore

package spin

import "time"

// The explorer repeats schedules, so nothing may depend on the time that a step took.
const longYield = time.Hour
