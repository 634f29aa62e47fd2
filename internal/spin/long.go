//go:build !explore

package spin

import "time"

// longYield is many times what waking a goroutine costs.
const longYield = 50 * time.Microsecond
