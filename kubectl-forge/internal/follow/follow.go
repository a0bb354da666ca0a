// Package follow shows the progress of an operation until it has finished.
package follow

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Look returns the current view. An error stops the following.
type Look func(ctx context.Context) (View, error)

// patience is the number of consecutive looks that may fail with a temporary error.
const patience = 30

// ErrTimeout reports that the operation has not finished in time.
var ErrTimeout = errors.New("timed out")

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
