package follow

import (
	"io"
	"time"

	"github.com/c5c3/forge/kubectl-forge/internal/show"
)

// Options determine where and how often views are shown.
type Options struct {
	Out   io.Writer
	Style show.Style
	// Live redraws a table in place instead of writing a line for each change.
	Live bool
	// Interval is the polling interval.
	Interval time.Duration
	// Timeout is the maximum duration; 0 means no limit.
	Timeout time.Duration
	// Temporary reports whether an error of a look is transient, as when the
	// API server restarts. It may be nil.
	Temporary func(error) bool
	// Clock is [time.Now] except in tests.
	Clock func() time.Time
}
