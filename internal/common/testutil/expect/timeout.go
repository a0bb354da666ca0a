//go:build !race

package expect

import "time"

// Timeout is how long an expectation may take to come true. It is generous:
// only a failing test ever waits that long. But it ends before the operators look
// at everything once more, after two minutes, which would hide a missing watch.
const Timeout = 100 * time.Second
