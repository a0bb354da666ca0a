// Package verify tests a running control plane as one of its users would: it logs in, reads the
// catalog, reaches every endpoint in it, and creates and deletes a project.
package verify

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/catalog"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
)

// The names of the checks. Those of endpoints follow [checkEndpoint].
const (
	checkLogin         = "Login"
	checkCredential    = "Application credential"
	checkToken         = "Token"
	checkCatalog       = "Catalog"
	checkEndpoint      = "Endpoint"
	checkCreateProject = "Create project"
	checkDeleteProject = "Delete project"
	checkCleanUp       = "Clean up"
)

// Step is the result of one check.
type Step struct {
	check.Finding

	// Seconds is how long the check took.
	Seconds float64 `json:"seconds"`
}

// Report is the result of all checks.
type Report struct {
	Target inventory.Ref `json:"target"`
	// Passed is set if every check has succeeded.
	Passed bool `json:"passed"`
	// Seconds is how long all checks took.
	Seconds float64 `json:"seconds"`
	Checks  []Step  `json:"checks"`
}

// Failed returns how many checks have not succeeded.
func (r Report) Failed() (failed int) {
	for _, step := range r.Checks {
		if step.Result != check.OK {
			failed++
		}
	}
	return failed
}

// Network reaches APIs inside and outside the cluster.
type Network interface {
	// Client reaches every API, and ClientOf those inside the cluster only through the pod.
	Client() *http.Client
	ClientOf(pod string) *http.Client
	// Pods returns the ready pods behind a URL, none if it leads out of the cluster.
	Pods(ctx context.Context, address string) ([]string, error)
}

// Check is a check that another package makes.
type Check struct {
	Name string
	Run  func(ctx context.Context) (text string, err error)
}

// UndecidedError says why a check has neither passed nor failed.
type UndecidedError struct{ Err error }

// Error says why.
func (e UndecidedError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e UndecidedError) Unwrap() error { return e.Err }

// Plan says what is tested.
type Plan struct {
	Target inventory.Ref
	// URL is that of the Identity API, including its version.
	URL string
	// Administrator is whose token the checks use.
	Administrator Login
	// Credential is the application credential of a ControlPlane, nil if there is none to test.
	Credential *Login
	// Types are those of the services that the catalog has to have.
	Types []string
	// Interfaces are those whose endpoints are tested. Without any, all are.
	Interfaces []string
	// Project is the name of the project that is created and deleted.
	Project string
	// More are checks that run at the end, if all others have passed.
	More    []Check
	Network Network
	// Show is called after each check.
	Show  func(Step)
	Clock func() time.Time
}

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

func (r *run) logIn(ctx context.Context, login Login) (token, string, error) {
	found, err := r.newToken(ctx, login, nil)
	answer, answered := answerOf(err)
	switch {
	case err == nil:
		return found, fmt.Sprintf("%s in project %s", found.user.Name, found.project), nil
	case answered && answer.ResponseHeader.Get(receiptHeader) != "":
		return found, "", fmt.Errorf("the password in Secret %s is right, but %s also needs another factor, which this command has not",
			login.Secret, login.Account.Username)
	case answered && (answer.Actual == http.StatusUnauthorized || answer.Actual == http.StatusNotFound):
		return found, "", fmt.Errorf("%w; it refuses what Secret %s holds: see \"kubectl forge status %s -n %s\"",
			err, login.Secret, r.Target.Arg(), r.Target.Namespace)
	}
	return found, "", err
}

func (r *run) logInWithCredential(ctx context.Context) (string, error) {
	if r.Credential.hasPassword() {
		return "", fmt.Errorf("secret %s still holds the administrator's password: see \"kubectl forge status %s -n %s\"",
			r.Credential.Secret, r.Target.Arg(), r.Target.Namespace)
	}
	_, text, err := r.logIn(ctx, *r.Credential)
	return text, err
}

// validate asks each pod of Keystone about the token, or Keystone if it is not reached through its pods.
func (r *run) validate(ctx context.Context, token token) (string, error) {
	pods, err := r.Network.Pods(ctx, r.URL)
	if err != nil {
		return "", err
	}
	until := "valid until " + token.expires.UTC().Format(time.RFC3339)
	if len(pods) > 1 {
		until += fmt.Sprintf(", for each of %d pods", len(pods))
	}
	for _, pod := range pods {
		if err := tokens.Get(ctx, r.identity(r.Network.ClientOf(pod), token.id), token.id).Err; err != nil {
			return "", fmt.Errorf("pod %s: %w", pod, explained(err, token.id))
		}
	}
	if len(pods) == 0 {
		return until, explained(tokens.Get(ctx, r.identity(r.Network.Client(), token.id), token.id).Err, token.id)
	}
	return until, nil
}

// catalog returns the endpoints to test.
func (r *run) catalog(ctx context.Context, token token) ([]endpoint, string, error) {
	page, err := catalog.List(r.identity(r.Network.Client(), token.id)).AllPages(ctx)
	if err != nil {
		return nil, "", explained(err, token.id)
	}
	entries, err := catalog.ExtractServiceCatalog(page)
	if err != nil {
		return nil, "", notKeystone(err)
	}
	var types []string
	var all, chosen []endpoint
	for _, entry := range entries {
		for _, found := range entry.Endpoints {
			all = append(all, endpoint{found, entry.Type})
			types = append(types, entry.Type)
			if len(r.Interfaces) == 0 || slices.Contains(r.Interfaces, found.Interface) {
				chosen = append(chosen, endpoint{found, entry.Type})
			}
		}
	}
	slices.Sort(types)
	text := fmt.Sprintf("%d endpoints of %s", len(all), strings.Join(slices.Compact(types), ", "))
	if len(chosen) < len(all) {
		text += fmt.Sprintf(", %d of them with interface %s", len(chosen), strings.Join(r.Interfaces, " or "))
	}
	for _, wanted := range r.Types {
		if !slices.Contains(types, wanted) {
			return chosen, "", fmt.Errorf("there is no endpoint of type %s, only %s", wanted, text)
		}
	}
	if len(chosen) == 0 {
		return nil, "", fmt.Errorf("there is none to test: %s", text)
	}
	return chosen, text, nil
}
