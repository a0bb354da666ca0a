package testutil

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"github.com/c5c3/forge/internal/common/testutil/running"
)

// Token is the token in the answer to each accepted login.
const Token = "gAAAAA-token-of-a-login"

// API simulates the Keystone API for the operator's health probes and logins. By default
// it answers 200 and accepts every password.
type API struct {
	*running.API

	mu      sync.Mutex
	answers LoginAnswer
	logins  []Login
}

// NewAPI returns a Keystone API whose health probes are answered by api.
func NewAPI(api *running.API) *API { return &API{API: api} }

// Login is a login attempt.
type Login struct{ User, Domain, Password string }

// LoginAnswer is how logins are answered.
type LoginAnswer struct {
	// Password is the only accepted password; "" accepts any.
	Password string
	// Code is the status of the answer to an accepted password; zero means 201.
	Code int
	// Header is added to the answer to an accepted password.
	Header http.Header
	// Err fails a login without an answer.
	Err error
}

// AnswerLogins sets the answer to subsequent logins.
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
