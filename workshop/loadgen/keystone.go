package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
)

// The kinds of requests.
const (
	kindVersion  = "version"
	kindIssue    = "issue"
	kindValidate = "validate"
	kindService  = "service"
)

// kinds is the mix, in the order in which a worker sends it. Issuing a token
// costs a hundred times as much as the others, because Keystone's password hash
// is deliberately slow.
var kinds = []string{
	kindIssue, kindVersion, kindValidate, kindVersion, kindValidate, kindVersion, kindValidate, kindVersion, kindValidate, kindVersion,
	kindValidate, kindVersion, kindValidate, kindVersion, kindValidate, kindVersion, kindValidate, kindVersion, kindValidate, kindVersion,
}

// user logs in and validates its tokens.
type user struct {
	base *url.URL
	// service is the service that accepts the token, nil for Keystone itself.
	service *url.URL
	name    string
	// passwordFile is read for each login, so that a changed password is used.
	passwordFile string

	mu sync.Mutex
	// first is the oldest token, latest the newest.
	first, latest string
}

// send sends one request and returns an error if its result is not the expected one.
func (u *user) send(ctx context.Context, c *client, kind string, turn int) error {
	switch kind {
	case kindIssue:
		return u.issue(ctx, c)
	case kindValidate:
		return u.validate(ctx, c, turn)
	case kindService:
		return u.ask(ctx, c)
	}
	return u.version(ctx, c)
}

func (u *user) version(ctx context.Context, c *client) error {
	request, err := u.request(ctx, http.MethodGet, "", nil)
	if err != nil {
		return err
	}
	result, err := c.expect(ctx, request, http.StatusOK)
	if err != nil {
		return err
	}
	var found struct {
		Version struct{ ID string }
	}
	if err := json.Unmarshal(result.body, &found); err != nil || !strings.HasPrefix(found.Version.ID, "v3.") {
		return fmt.Errorf("%w: no description of version 3", errWrongAnswer)
	}
	return nil
}

func (u *user) issue(ctx context.Context, c *client) error {
	body, err := u.credentials()
	if err != nil {
		return err
	}
	request, err := u.request(ctx, http.MethodPost, "/auth/tokens", body)
	if err != nil {
		return err
	}
	result, err := c.expect(ctx, request, http.StatusCreated)
	if err != nil {
		return err
	}
	token := result.header.Get("X-Subject-Token")
	if token == "" {
		return fmt.Errorf("%w: a login without a token", errWrongAnswer)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.latest = token
	if u.first == "" {
		u.first = token
	}
	return nil
}

// validate validates the oldest and the newest token in turn: tokens issued
// before a change have to stay valid after it. This tests
// Keystone's keys only if its token cache is off: otherwise it answers
// from its cache for ten minutes.
func (u *user) validate(ctx context.Context, c *client, turn int) error {
	request, err := u.request(ctx, http.MethodGet, "/auth/tokens", nil)
	if err != nil {
		return err
	}
	u.mu.Lock()
	request.Header.Set("X-Auth-Token", u.latest)
	request.Header.Set("X-Subject-Token", u.latest)
	// Every second turn is one to validate.
	if turn/2%2 == 0 {
		request.Header.Set("X-Subject-Token", u.first)
	}
	u.mu.Unlock()
	result, err := c.expect(ctx, request, http.StatusOK)
	if err != nil {
		return err
	}
	var found struct {
		Token struct{ User struct{ Name string } }
	}
	if err := json.Unmarshal(result.body, &found); err != nil || found.Token.User.Name != u.name {
		return fmt.Errorf("%w: not the description of the user's token", errWrongAnswer)
	}
	return nil
}

// ask opens the service with the newest token, which it has to validate: it remembers
// older ones.
func (u *user) ask(ctx context.Context, c *client) error {
	request, err := newRequest(ctx, http.MethodGet, u.service, nil)
	if err != nil {
		return err
	}
	u.mu.Lock()
	request.Header.Set("X-Auth-Token", u.latest)
	u.mu.Unlock()
	_, err = c.expect(ctx, request, http.StatusOK)
	return err
}

func (u *user) request(ctx context.Context, method, path string, body []byte) (*http.Request, error) {
	return newRequest(ctx, method, u.base.JoinPath(path), body)
}

func newRequest(ctx context.Context, method string, to *url.URL, body []byte) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "loadgen")
	request.Header.Set("Accept", "application/json")
	if len(body) > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	return request, nil
}

// credentials is the body of a password login, scoped to the project admin.
func (u *user) credentials() ([]byte, error) {
	password, err := os.ReadFile(u.passwordFile)
	if err != nil {
		return nil, err
	}
	domain := map[string]string{"id": "default"}
	return json.Marshal(map[string]any{"auth": map[string]any{
		"identity": map[string]any{
			"methods":  []string{"password"},
			"password": map[string]any{"user": map[string]any{"name": u.name, "domain": domain, "password": string(password)}},
		},
		"scope": map[string]any{"project": map[string]any{"name": "admin", "domain": domain}},
	}})
}

// expect sends a request, and returns an error unless it is answered with the status.
func (c *client) expect(ctx context.Context, request *http.Request, status int) (answer, error) {
	result, err := c.do(ctx, request)
	if err == nil && result.status != status {
		err = &statusError{status: result.status}
	}
	return result, err
}
