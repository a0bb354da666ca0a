package main

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const testPassword = `-a "password'`

// fakeKeystone answers like a Keystone with one user.
type fakeKeystone struct {
	*httptest.Server
	connections atomic.Int64
	requests    atomic.Int64

	mu        sync.Mutex
	issued    []string
	validated map[string]int
	// fresh counts the requests on new connections, kept are the addresses of the
	// connections that carried the others.
	fresh int64
	kept  map[string]bool
	// intercept may answer instead; it returns whether it did.
	intercept func(http.ResponseWriter, *http.Request) bool
}

func newFakeKeystone(t *testing.T, intercept func(http.ResponseWriter, *http.Request) bool) *fakeKeystone {
	t.Helper()
	f := &fakeKeystone{intercept: intercept, validated: map[string]int{}, kept: map[string]bool{}}
	f.Server = httptest.NewUnstartedServer(f)
	f.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			f.connections.Add(1)
		}
	}
	f.Start()
	t.Cleanup(f.Close)
	return f
}

func (f *fakeKeystone) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.requests.Add(1)
	f.note(r)
	if f.intercept != nil && f.intercept(w, r) {
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /v3":
		_, _ = w.Write([]byte(`{"version": {"id": "v3.14"}}`))
	case "POST /v3/auth/tokens":
		f.login(w, r)
	case "GET /v3/auth/tokens":
		f.validate(w, r.Header.Get("X-Subject-Token"))
	default:
		w.WriteHeader(http.StatusTeapot)
	}
}

func (f *fakeKeystone) note(r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Close {
		f.fresh++
		return
	}
	f.kept[r.RemoteAddr] = true
}

func (f *fakeKeystone) login(w http.ResponseWriter, r *http.Request) {
	var login struct {
		Auth struct {
			Identity struct {
				Password struct{ User struct{ Password string } }
			}
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&login); err != nil || login.Auth.Identity.Password.User.Password != testPassword {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	token := "token-" + time.Now().String()
	f.issued = append(f.issued, token)
	w.Header().Set("X-Subject-Token", token)
	w.WriteHeader(http.StatusCreated)
}

func (f *fakeKeystone) validate(w http.ResponseWriter, token string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.issued, token) {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	f.validated[token]++
	_, _ = w.Write([]byte(`{"token": {"user": {"name": "admin"}}}`))
}

// closeIdle ends the connections on which nothing is under way.
func (f *fakeKeystone) closeIdle() {
	f.Config.SetKeepAlivesEnabled(false)
	f.Config.SetKeepAlivesEnabled(true)
}

func (f *fakeKeystone) address() string {
	return f.Listener.Addr().String()
}

func (f *fakeKeystone) user(t *testing.T) *user {
	t.Helper()
	base, err := url.Parse(f.URL + "/v3")
	if err != nil {
		t.Fatal(err)
	}
	return &user{base: base, name: "admin", passwordFile: passwordFile(t, testPassword)}
}

func passwordFile(t *testing.T, password string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(path, []byte(password), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
