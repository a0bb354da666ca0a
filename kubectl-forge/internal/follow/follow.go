// Package follow shows the progress of an operation until it has finished.
package follow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/c5c3/forge/kubectl-forge/internal/show"
)

// Row is a line of a view. It replaces an earlier row with the same name.
type Row struct {
	Name string
	// State is a word or two, coloured by Colour.
	State  string
	Colour show.Colour
	Text   string
}

// View is a snapshot of the progress.
type View struct {
	Title string
	Rows  []Row
	// Done is set when the operation has succeeded.
	Done bool
	// Failed is set when the operation cannot succeed by itself.
	Failed error
}

// Look returns the current view. An error stops the following.
type Look func(ctx context.Context) (View, error)

// patience is the number of consecutive looks that may fail with a temporary error.
const patience = 30

// ErrTimeout reports that the operation has not finished in time.
var ErrTimeout = errors.New("timed out")

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

// Until shows views until one is done or failed, the timeout expires or the context
// is cancelled.
func Until(ctx context.Context, o Options, look Look) error {
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.Timeout, fmt.Errorf("%w after %s", ErrTimeout, o.Timeout))
		defer cancel()
	}
	screen := newScreen(o)
	ticker := time.NewTicker(o.Interval)
	defer ticker.Stop()
	for failures := 0; ; {
		view, err := look(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
			failures = 0
			screen.show(view)
		case failures < patience && o.Temporary != nil && o.Temporary(err):
			failures++
		default:
			return err
		}
		switch {
		case view.Failed != nil:
			return view.Failed
		case view.Done && err == nil:
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}
