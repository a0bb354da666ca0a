// Package proof verifies in the background that a Keystone issues tokens for the
// administrator's password, without ever locking the account.
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

// Account is the user who logs in, and the API to log in to.
type Account struct {
	// URL is the URL of the identity API, including its version.
	URL string
	// User is the name of the user, Domain the ID of the user's domain.
	User, Domain string
	// Password is the user's password; without one no login is attempted.
	Password redact.Bytes
}

// Verdict classifies the result of a login.
type Verdict string

const (
	// Unasked means that this process has not logged in yet.
	Unasked Verdict = ""
	// Pending means that the last login used another account.
	Pending Verdict = "Pending"
	// Accepted means that Keystone issued a token.
	Accepted Verdict = "Accepted"
	// Uncached means that Keystone issued a token although its cache does not answer.
	Uncached Verdict = "Uncached"
	// Refused means that Keystone rejected the password.
	Refused Verdict = "Refused"
	// DatabaseFailed means that Keystone could not use its database.
	DatabaseFailed Verdict = "DatabaseFailed"
	// CacheFailed means that Keystone could not use its cache.
	CacheFailed Verdict = "CacheFailed"
	// KeysFailed means that Keystone could not use its token keys.
	KeysFailed Verdict = "KeysFailed"
	// Erred means an error within Keystone that it does not explain.
	Erred Verdict = "Erred"
	// Odd means an answer that Keystone never gives to a login.
	Odd Verdict = "Odd"
	// TimedOut means no answer within [probe.Timeout].
	TimedOut = Verdict(probe.TimedOut)
	// Unresolved means that the host name has no address.
	Unresolved = Verdict(probe.Unresolved)
	// Unreachable means that no connection could be established.
	Unreachable = Verdict(probe.Unreachable)
	// Broken means any other failure.
	Broken = Verdict(probe.Broken)
)

// Result is the result of the last login. Message is stable: the same finding always has
// the same text. It never contains a password or a token.
type Result struct {
	Verdict Verdict
	Message string
}

const (
	tokenHeader = "X-Subject-Token" //nolint:gosec // The name of a header, not a token.
	// receiptHeader is in Keystone's 401 response to a correct password of a user who has
	// to provide another factor
	// (https://docs.openstack.org/keystone/latest/admin/auth-receipts.html).
	receiptHeader = "Openstack-Auth-Receipt"
	// partHeader is in the responses of forge_errors.py on behalf of Keystone, and in
	// those that Keystone gives without its cache.
	partHeader = "X-Forge-Failed-Part"
)

var failedParts = map[string]Verdict{"database": DatabaseFailed, "cache": CacheFailed, "keys": KeysFailed}

func (a Account) tokens() string { return a.URL + "/auth/tokens" }

// body requests an unscoped token. That exercises the database, the keys and the
// password, but no role that a user may have removed from the administrator.
func (a Account) body() ([]byte, error) {
	type object = map[string]any
	return json.Marshal(object{"auth": object{
		"identity": object{"methods": []string{"password"}, "password": object{"user": object{
			"name": a.User, "domain": object{"id": a.Domain}, "password": string(a.Password),
		}}},
		"scope": "unscoped",
	}})
}

// hash identifies the account with its password and additional parts.
func (a Account) hash(more ...string) string {
	sum := sha256.New()
	for _, part := range append([]string{a.URL, a.User, a.Domain, string(a.Password)}, more...) {
		_, _ = fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// logIn makes one attempt. The token in the response is discarded: nobody ever has it.
// Revoking it would each time write to Keystone's database and invalidate Keystone's
// cache of revocations.
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

// classify only uses the status and the names of headers: a response may quote the
// request.
func (a Account) classify(status int, header http.Header) Result {
	answers := fmt.Sprintf("%s answers a login with HTTP status %d", a.tokens(), status)
	part, named := failedParts[strings.ToLower(header.Get(partHeader))]
	switch {
	case status == http.StatusCreated && header.Get(tokenHeader) != "" && part == CacheFailed:
		return Result{Uncached, a.tokens() + " issues tokens without its cache"}
	case status == http.StatusCreated && header.Get(tokenHeader) != "":
		return Result{Accepted, a.tokens() + " issues tokens"}
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
