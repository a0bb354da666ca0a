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

	"github.com/c5c3/forge/internal/common/ask"
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

// The verdicts on a login in addition to those on an endpoint. Keystone [ask.Rejected] a
// password, or [ask.Accepted] it and issued a token.
const (
	// Uncached means that Keystone issued a token although its cache does not answer.
	Uncached = ask.Impaired
	// DatabaseFailed means that Keystone could not use its database.
	DatabaseFailed ask.Verdict = "DatabaseFailed"
	// CacheFailed means that Keystone could not use its cache.
	CacheFailed ask.Verdict = "CacheFailed"
	// KeysFailed means that Keystone could not use its token keys.
	KeysFailed ask.Verdict = "KeysFailed"
	// Erred means an error within Keystone that it does not explain.
	Erred ask.Verdict = "Erred"
	// Odd means an answer that Keystone never gives to a login.
	Odd ask.Verdict = "Odd"
)

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

var failedParts = map[string]ask.Verdict{"database": DatabaseFailed, "cache": CacheFailed, "keys": KeysFailed}

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

// logIn makes one attempt. The answer has no password and no token. The token in the response is discarded: nobody ever has it.
// Revoking it would each time write to Keystone's database and invalidate Keystone's
// cache of revocations.
func (a Account) logIn(ctx context.Context, client probe.Doer) ask.Answer {
	ctx, cancel := context.WithTimeout(ctx, probe.Timeout)
	defer cancel()
	body, err := a.body()
	if err != nil {
		return ask.Answer{Verdict: probe.Broken, Message: "the login cannot be written as JSON"}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.tokens(), bytes.NewReader(body))
	if err != nil {
		return ask.Answer{Verdict: probe.Broken, Message: fmt.Sprintf("the URL %q cannot be used", a.tokens())}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return probe.Classify(a.tokens(), err)
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<16))
	return a.classify(response.StatusCode, response.Header)
}

// classify only uses the status and the names of headers: a response may quote the
// request.
func (a Account) classify(status int, header http.Header) ask.Answer {
	answers := fmt.Sprintf("%s answers a login with HTTP status %d", a.tokens(), status)
	part, named := failedParts[strings.ToLower(header.Get(partHeader))]
	switch {
	case status == http.StatusCreated && header.Get(tokenHeader) != "" && part == CacheFailed:
		return ask.Answer{Verdict: Uncached, Message: a.tokens() + " issues tokens without its cache"}
	case status == http.StatusCreated && header.Get(tokenHeader) != "":
		return ask.Answer{Verdict: ask.Accepted, Message: a.tokens() + " issues tokens"}
	case status == http.StatusCreated:
		return ask.Answer{Verdict: Odd, Message: answers + " and no token"}
	case status == http.StatusUnauthorized && header.Get(receiptHeader) != "":
		return ask.Answer{Verdict: ask.Accepted, Message: a.tokens() + " accepts the password"}
	case status == http.StatusUnauthorized:
		return ask.Answer{Verdict: ask.Rejected, Message: answers}
	case status >= http.StatusInternalServerError && named:
		return ask.Answer{Verdict: part, Message: answers}
	case status >= http.StatusInternalServerError:
		return ask.Answer{Verdict: Erred, Message: answers}
	}
	return ask.Answer{Verdict: Odd, Message: answers}
}
