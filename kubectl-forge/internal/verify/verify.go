// Package verify tests a running control plane as one of its users would: it logs in, reads the
// catalog, reaches every endpoint in it, and creates and deletes a project.
package verify

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
)

// Run runs the checks one after the other. The error is not about what they found: it says that the
// context has ended, or why a check is undecided, as for a missing permission in the cluster.
func (p Plan) Run(ctx context.Context) (Report, error) {
	begun := p.Clock()
	r := &run{Plan: p, report: Report{Target: p.Target}}
	r.all(ctx)
	r.report.Seconds = seconds(p.Clock().Sub(begun))
	r.report.Passed = ctx.Err() == nil && r.report.Failed() == 0
	if ctx.Err() != nil {
		return r.report, errors.Join(ctx.Err(), r.left)
	}
	if slices.ContainsFunc(r.report.Checks, func(s Step) bool { return s.Result == check.Failed }) {
		return r.report, nil
	}
	return r.report, r.undecided
}

type run struct {
	Plan

	report Report
	// undecided is the reason of the first undecided check.
	undecided error
	// left says what could not be removed.
	left error
}

func (r *run) all(ctx context.Context) {
	var token token
	loggedIn := r.step(ctx, checkLogin, func(ctx context.Context) (text string, err error) {
		token, text, err = r.logIn(ctx, r.Administrator)
		return text, err
	})
	if r.Credential != nil {
		r.step(ctx, checkCredential, r.logInWithCredential)
	}
	if loggedIn {
		r.withToken(ctx, token)
	} else {
		r.skip(ctx, checkLogin, checkToken, checkCatalog, checkCreateProject, checkDeleteProject)
	}
	for _, more := range r.More {
		n := slices.IndexFunc(r.report.Checks, func(s Step) bool { return s.Result != check.OK })
		if n < 0 {
			r.step(ctx, more.Name, more.Run)
		} else {
			r.skip(ctx, r.report.Checks[n].Name, more.Name)
		}
	}
}

func (r *run) withToken(ctx context.Context, token token) {
	r.step(ctx, checkToken, func(ctx context.Context) (string, error) { return r.validate(ctx, token) })
	var endpoints []endpoint
	r.step(ctx, checkCatalog, func(ctx context.Context) (text string, err error) {
		endpoints, text, err = r.catalog(ctx, token)
		return text, err
	})
	for _, e := range endpoints {
		r.step(ctx, e.String(), func(ctx context.Context) (string, error) { return r.reach(ctx, e, token.id) })
	}
	r.project(ctx, token)
}

// step runs a check and records its result. It reports whether the check has succeeded.
func (r *run) step(ctx context.Context, name string, look func(context.Context) (string, error)) bool {
	if ctx.Err() != nil {
		return false
	}
	begun := r.Clock()
	text, err := look(ctx)
	result := check.OK
	switch {
	case err != nil && ctx.Err() != nil:
		return false
	case isUndecided(err):
		result, text = check.Unknown, err.Error()
		if r.undecided == nil {
			r.undecided = fmt.Errorf("%s: %w", name, err)
		}
	case err != nil:
		result, text = check.Failed, advised(err)
	}
	r.add(name, result, text, r.Clock().Sub(begun))
	return result == check.OK
}

func isUndecided(err error) bool {
	_, undecided := errors.AsType[UndecidedError](err)
	return undecided || kube.IsMissingRight(err)
}

func (r *run) add(name string, result check.Result, text string, took time.Duration) {
	step := Step{check.Finding{Name: name, Result: result, Text: text}, seconds(took)}
	r.report.Checks = append(r.report.Checks, step)
	r.Show(step)
}

// skip records the checks that make no sense after another one has failed.
func (r *run) skip(ctx context.Context, failed string, names ...string) {
	for _, name := range names {
		if ctx.Err() == nil {
			r.add(name, check.Unknown, fmt.Sprintf("not checked: %q did not pass", failed), 0)
		}
	}
}

// seconds are rounded to milliseconds, so that a document does not show more than is measured.
func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }

// advised adds to an error what can be done about it.
func advised(err error) string {
	text := err.Error()
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); unknown {
		text += "; if the certificate is signed by an authority of your own, name its certificate with --os-cacert"
	}
	return text
}
