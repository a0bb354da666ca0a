// Package follow shows how something proceeds until it has come to its end.
package follow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/c5c3/forge/kubectl-forge/internal/show"
)

// Row is a line of what is shown. A row with the same name replaces the one
// before.
type Row struct {
	Name string
	// State is a word or two, coloured by Colour.
	State  string
	Colour show.Colour
	Text   string
}

// View is what there is to see at one time.
type View struct {
	Title string
	Rows  []Row
	// Done is set when what is followed has come to a good end.
	Done bool
	// Failed is set when it cannot come to a good end by itself.
	Failed error
}

// Look returns the present view. An error ends the following.
type Look func(ctx context.Context) (View, error)

// patience is how many looks in a row may end with a temporary error.
const patience = 30

// ErrTimeout reports that the end has not come in time.
var ErrTimeout = errors.New("timed out")

// Options say where and how often views are shown.
type Options struct {
	Out   io.Writer
	Style show.Style
	// Live redraws a table in place instead of writing a line for each change.
	Live bool
	// Interval is the time between two looks.
	Interval time.Duration
	// Timeout is how long the end may take, 0 for as long as it takes.
	Timeout time.Duration
	// Temporary reports whether an error of a look passes by itself, as when the
	// API server restarts. It may be nil.
	Temporary func(error) bool
	// Clock is [time.Now] except in tests.
	Clock func() time.Time
}

// Until shows views until one is done or failed, the time is over or the context
// ends.
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
