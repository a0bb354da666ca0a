package testutil

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Token is what the API answers each accepted login with.
const Token = "gAAAAA-token-of-a-login"

// API plays the Keystone API for the operator's health probe and its logins. It
// answers 200, and accepts every password, unless told otherwise.
type API struct {
	mu      sync.Mutex
	code    int
	err     error
	held    chan struct{}
	asked   []string
	answers LoginAnswer
	logins  []Login
}

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

// Answer sets the status code of the following answers.
func (a *API) Answer(code int) { a.set(code, nil) }

// Fail lets the following requests end without an answer.
func (a *API) Fail(err error) { a.set(0, err) }

func (a *API) set(code int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.code, a.err = code, err
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

// Hold lets the following requests wait until the returned function is called,
// however long that takes: the time limit of a probe does not end the wait.
func (a *API) Hold() (release func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	held := make(chan struct{})
	a.held = held
	return sync.OnceFunc(func() { close(held) })
}

// Asked returns the URLs of all requests so far.
func (a *API) Asked() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.asked...)
}

// Do answers a request.
func (a *API) Do(req *http.Request) (*http.Response, error) {
	a.mu.Lock()
	held := a.held
	a.mu.Unlock()
	if held != nil {
		<-held
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if req.Method == http.MethodPost {
		return a.logIn(req)
	}
	a.asked = append(a.asked, req.URL.String())
	if a.err != nil {
		return nil, a.err
	}
	code := a.code
	if code == 0 {
		code = http.StatusOK
	}
	return answerTo(req, code, http.Header{}), nil
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
		return answerTo(req, http.StatusNotFound, http.Header{}), nil
	case a.answers.Password != "" && a.answers.Password != user.Password:
		return answerTo(req, http.StatusUnauthorized, http.Header{}), nil
	case a.answers.Code != 0:
		return answerTo(req, a.answers.Code, a.answers.Header), nil
	}
	return answerTo(req, http.StatusCreated, http.Header{"X-Subject-Token": {Token}}), nil
}

func answerTo(req *http.Request, code int, header http.Header) *http.Response {
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Request: req,
		Header: header, Body: io.NopCloser(strings.NewReader("{}")),
	}
}
