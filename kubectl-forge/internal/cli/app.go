package cli

import (
	"context"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/c5c3/forge/kubectl-forge/internal/follow"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	"github.com/c5c3/forge/kubectl-forge/internal/reach"
	"github.com/c5c3/forge/kubectl-forge/internal/show"
)

// app holds what all commands share.
type app struct {
	genericiooptions.IOStreams

	// open returns the session that the flags ask for.
	open func() (*kube.Session, error)
	// forward forwards ports until the lifetime ends.
	forward func(lifetime context.Context, s *kube.Session) reach.Forward
	// interval is the polling interval of commands that follow progress.
	interval time.Duration
}

// Option replaces a dependency in tests.
type Option func(*app)

// WithSession makes all commands use the session, regardless of the flags.
func WithSession(s *kube.Session) Option {
	return func(a *app) { a.open = func() (*kube.Session, error) { return s, nil } }
}

// WithForward makes all commands forward ports with the function.
func WithForward(forward reach.Forward) Option {
	return func(a *app) { a.forward = func(context.Context, *kube.Session) reach.Forward { return forward } }
}

// WithInterval sets the polling interval of commands that follow progress.
func WithInterval(interval time.Duration) Option {
	return func(a *app) { a.interval = interval }
}

// progress returns the options for showing progress.
func (a *app) progress(timeout time.Duration) follow.Options {
	style := show.StyleOf(a.Out)
	return follow.Options{
		Out: a.Out, Style: style, Live: style.Terminal, Interval: a.interval, Timeout: timeout, Temporary: kube.Temporary,
	}
}
