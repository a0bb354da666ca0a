// Package proof proves in the background that a Keystone gives out tokens, with
// the administrator's password and without ever locking the account.
package proof

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/redact"
)

// Account is who logs in where.
type Account struct {
	// URL is that of the identity API, with its version.
	URL string
	// User is the name of the user, Domain the id of the domain it is in.
	User, Domain string
	// Password is the user's; without one nothing is tried.
	Password redact.Bytes
}

// Verdict classifies what has become of a login.
type Verdict string

const (
	// Unasked means that this process has not tried yet.
	Unasked Verdict = ""
	// Pending means that the last login was one of another account.
	Pending Verdict = "Pending"
	// Accepted means that Keystone gave out a token.
	Accepted Verdict = "Accepted"
	// Uncached means that Keystone gave out a token without its cache, which does not answer.
	Uncached Verdict = "Uncached"
	// Refused means that Keystone did not take the password.
	Refused Verdict = "Refused"
	// DatabaseFailed means that Keystone could not use its database.
	DatabaseFailed Verdict = "DatabaseFailed"
	// CacheFailed means that Keystone could not use its cache.
	CacheFailed Verdict = "CacheFailed"
	// KeysFailed means that Keystone could not use its token keys.
	KeysFailed Verdict = "KeysFailed"
	// Erred means an error within Keystone that it does not explain.
	Erred Verdict = "Erred"
	// Odd means an answer that no Keystone gives to a login.
	Odd Verdict = "Odd"
	// TimedOut means no answer within [probe.Timeout].
	TimedOut = Verdict(probe.TimedOut)
	// Unresolved means that the host name has no address.
	Unresolved = Verdict(probe.Unresolved)
	// Unreachable means that no connection came about.
	Unreachable = Verdict(probe.Unreachable)
	// Broken means any other failure.
	Broken = Verdict(probe.Broken)
)

// Result is what the last login found. Message is stable: the same finding
// always reads the same. It never holds a password or a token.
type Result struct {
	Verdict Verdict
	Message string
}

const (
	tokenHeader = "X-Subject-Token" //nolint:gosec // The name of a header, not a token.
	// receiptHeader is in Keystone's 401 to a right password of a user who has to
	// show more than that
	// (https://docs.openstack.org/keystone/latest/admin/auth-receipts.html).
	receiptHeader = "Openstack-Auth-Receipt"
	// partHeader is in the answers that forge_errors.py gives in Keystone's place, and
	// in those that Keystone gives without its cache.
	partHeader = "X-Forge-Failed-Part"
)

var failedParts = map[string]Verdict{"database": DatabaseFailed, "cache": CacheFailed, "keys": KeysFailed}

func (a Account) tokens() string { return a.URL + "/auth/tokens" }

// body asks for a token without a scope, which takes the database, the keys and
// the password, and nothing that a user may have taken from the administrator.
func (a Account) body() ([]byte, error) {
	type object = map[string]any
	return json.Marshal(object{"auth": object{
		"identity": object{"methods": []string{"password"}, "password": object{"user": object{
			"name": a.User, "domain": object{"id": a.Domain}, "password": string(a.Password),
		}}},
		"scope": "unscoped",
	}})
}

// hash identifies the account with its password, and what else is given.
func (a Account) hash(more ...string) string {
	sum := sha256.New()
	for _, part := range append([]string{a.URL, a.User, a.Domain, string(a.Password)}, more...) {
		_, _ = fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// logIn tries once. The token in the answer is not kept: nobody ever has it, and
// revoking it would be a write to Keystone's database, and empty what Keystone
// caches about revocations, each time.
func (a Account) logIn(ctx context.Context, client probe.Doer) Result {
	ctx, cancel := context.WithTimeout(ctx, probe.Timeout)
	defer cancel()
	body, err := a.body()
	if err != nil {
		return Result{Broken, "the login cannot be written as JSON"}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.tokens(), bytes.NewReader(body))
	if err != nil {
		return Result{Broken, fmt.Sprintf("the URL %q cannot be used", a.tokens())}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := client.Do(request)
	if err != nil {
		finding := probe.Classify(a.tokens(), err)
		return Result{Verdict(finding.Verdict), finding.Message}
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<16))
	return a.classify(response.StatusCode, response.Header)
}

// classify reads nothing but the status and the names of headers: an answer may
// quote what it was sent.
func (a Account) classify(status int, header http.Header) Result {
	answers := fmt.Sprintf("%s answers a login with HTTP status %d", a.tokens(), status)
	part, named := failedParts[strings.ToLower(header.Get(partHeader))]
	switch {
	case status == http.StatusCreated && header.Get(tokenHeader) != "" && part == CacheFailed:
		return Result{Uncached, a.tokens() + " gives out tokens without its cache"}
	case status == http.StatusCreated && header.Get(tokenHeader) != "":
		return Result{Accepted, a.tokens() + " gives out tokens"}
	case status == http.StatusCreated:
		return Result{Odd, answers + " and no token"}
	case status == http.StatusUnauthorized && header.Get(receiptHeader) != "":
		return Result{Accepted, a.tokens() + " accepts the password"}
	case status == http.StatusUnauthorized:
		return Result{Refused, answers}
	case status >= http.StatusInternalServerError && named:
		return Result{part, answers}
	case status >= http.StatusInternalServerError:
		return Result{Erred, answers}
	}
	return Result{Odd, answers}
}
