package running

import (
	"io"
	"net/http"
	"strings"
	"sync"
)

// API simulates the API of a service for the operator's health probes. By default it
// answers 200.
type API struct {
	mu    sync.Mutex
	code  int
	err   error
	held  chan struct{}
	asked []string
}

// Answer sets the status code of subsequent answers.
func (a *API) Answer(code int) { a.set(code, nil) }

// Fail makes subsequent requests fail without an answer.
func (a *API) Fail(err error) { a.set(0, err) }

func (a *API) set(code int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.code, a.err = code, err
}

// Hold blocks subsequent requests until the returned function is called, however long
// that takes: the timeout of a probe does not end the wait.
func (a *API) Hold() (release func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	held := make(chan struct{})
	a.held = held
	return sync.OnceFunc(func() { close(held) })
}

// Held blocks while requests are held.
func (a *API) Held() {
	a.mu.Lock()
	held := a.held
	a.mu.Unlock()
	if held != nil {
		<-held
	}
}

// Asked returns the URLs of all probes so far.
func (a *API) Asked() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.asked...)
}

// Do answers a probe.
func (a *API) Do(req *http.Request) (*http.Response, error) {
	a.Held()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, req.URL.String())
	if a.err != nil {
		return nil, a.err
	}
	code := a.code
	if code == 0 {
		code = http.StatusOK
	}
	return Answer(req, code, http.Header{}), nil
}

// Answer returns an answer of an API to the request.
func Answer(req *http.Request, code int, header http.Header) *http.Response {
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Request: req,
		Header: header, Body: io.NopCloser(strings.NewReader("{}")),
	}
}
