//go:build race

package expect

import "time"

// Timeout is longer with the race detector, which makes everything slower by
// far. That no watch is missing is shown without it.
const Timeout = 5 * time.Minute
