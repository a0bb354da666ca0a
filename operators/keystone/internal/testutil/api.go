package testutil

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"github.com/c5c3/forge/internal/common/testutil/running"
)

// Token is what the API answers each accepted login with.
const Token = "gAAAAA-token-of-a-login"

// API plays the Keystone API for the operator's health probe and its logins. It
// answers 200, and accepts every password, unless told otherwise.
type API struct {
	*running.API

	mu      sync.Mutex
	answers LoginAnswer
	logins  []Login
}

// NewAPI returns the Keystone API whose health probes are answered by the given one.
func NewAPI(api *running.API) *API { return &API{API: api} }

// Login is what was tried.
type Login struct{ User, Domain, Password string }

// LoginAnswer is what becomes of logins.
type LoginAnswer struct {
	// Password is the only one that is accepted; "" for any.
	Password string
	// Code is the status of the answer to an accepted password; zero means 201.
	Code int
	// Header is part of the answer to an accepted password.
	Header http.Header
	// Err ends a login without an answer.
	Err error
}

// AnswerLogins decides what becomes of the following logins.
func (a *API) AnswerLogins(answer LoginAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers = answer
}

// Logins returns all logins so far.
func (a *API) Logins() []Login {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]Login(nil), a.logins...)
}

// Do answers a request.
func (a *API) Do(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodPost {
		return a.API.Do(req)
	}
	a.Held()
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.logIn(req)
}

func (a *API) logIn(req *http.Request) (*http.Response, error) {
	var body struct {
		Auth struct {
			Identity struct {
				Password struct {
					User struct {
						Name, Password string
						Domain         struct{ ID string }
					}
				}
			}
		}
	}
	if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
		return nil, err
	}
	user := body.Auth.Identity.Password.User
	a.logins = append(a.logins, Login{User: user.Name, Domain: user.Domain.ID, Password: user.Password})
	switch {
	case a.answers.Err != nil:
		return nil, a.answers.Err
	case !strings.HasSuffix(req.URL.Path, "/v3/auth/tokens"):
		return running.Answer(req, http.StatusNotFound, http.Header{}), nil
	case a.answers.Password != "" && a.answers.Password != user.Password:
		return running.Answer(req, http.StatusUnauthorized, http.Header{}), nil
	case a.answers.Code != 0:
		return running.Answer(req, a.answers.Code, a.answers.Header), nil
	}
	return running.Answer(req, http.StatusCreated, http.Header{"X-Subject-Token": {Token}}), nil
}
