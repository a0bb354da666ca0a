// Package server implements the part of OpenBao's HTTP API that External Secrets,
// Barbican and the bootstrap of a cluster use: one key/value engine of version 2, the logins
// Kubernetes and AppRole, tokens, policies, and the seal. For other engines it stores the
// settings and issues nothing.
package server

import (
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Server answers requests. It is an http.Handler.
type Server struct {
	kept     *kept
	reviewer Reviewer
	log      *slog.Logger
	mux      *http.ServeMux

	// mu guards what is lost with a restart, which clients have to expect of any token.
	mu      sync.Mutex
	tokens  map[string]token
	faults  map[string]Fault
	sealed  bool
	entered map[string]bool
}

// Options are the options of a server.
type Options struct {
	// Dir holds the stored data; existing content is used again.
	Dir      string
	Reviewer Reviewer
	// Log receives one line per request, without any value.
	Log *slog.Logger
}

// New returns a server, which is unsealed if it was initialised before.
func New(o Options) (*Server, error) {
	kept, err := open(o.Dir)
	if err != nil {
		return nil, err
	}
	s := &Server{
		kept: kept, reviewer: o.Reviewer, log: o.Log, mux: http.NewServeMux(),
		tokens: map[string]token{}, faults: map[string]Fault{}, entered: map[string]bool{},
	}
	s.sealed = s.state().Keys.Shares == 0
	for pattern, do := range map[string]action{
		"GET /v1/sys/seal-status":             s.sealStatus,
		"PUT /v1/sys/init":                    s.initialise,
		"PUT /v1/sys/unseal":                  s.unseal,
		"PUT /v1/sys/seal":                    s.root(s.lock),
		"PUT /v1/sys/stand-in/empty":          s.root(s.empty),
		"PUT /v1/sys/stand-in/fault":          s.root(s.fault),
		"GET /v1/sys/mounts":                  s.unsealed(s.root(s.listMounts(engines))),
		"PUT /v1/sys/mounts/{path...}":        s.unsealed(s.root(s.enable(engines))),
		"GET /v1/sys/auth":                    s.unsealed(s.root(s.listMounts(logins))),
		"PUT /v1/sys/auth/{path...}":          s.unsealed(s.root(s.enable(logins))),
		"GET /v1/sys/policies/acl/{name}":     s.unsealed(s.root(s.readPolicy)),
		"PUT /v1/sys/policies/acl/{name}":     s.unsealed(s.root(s.writePolicy)),
		"GET /v1/auth/token/lookup-self":      s.unsealed(s.authenticated(s.describe)),
		"PUT /v1/auth/token/revoke-self":      s.unsealed(s.authenticated(s.revoke)),
		"PUT /v1/auth/kubernetes/{for}/login": s.unsealed(s.login),
		"PUT /v1/auth/approle/login":          s.unsealed(s.loginAppRole),

		"PUT /v1/auth/approle/role/{name}":                   s.unsealed(s.authenticated(s.writeAppRole)),
		"GET /v1/auth/approle/role/{name}/role-id":           s.unsealed(s.authenticated(s.readRoleID)),
		"PUT /v1/auth/approle/role/{name}/secret-id":         s.unsealed(s.authenticated(s.issueSecretID)),
		"PUT /v1/auth/approle/role/{name}/secret-id/destroy": s.unsealed(s.authenticated(s.destroySecretID)),

		"/v1/": s.unsealed(s.authenticated(s.mounted)),
	} {
		s.mux.Handle(pattern, s.handler(do))
	}
	return s, nil
}

// state returns the current state, which must not be modified.
func (s *Server) state() *state { return s.kept.current.Load() }

// ServeHTTP implements http.Handler. POST and PUT mean the same to OpenBao, and there are
// two ways to request a list.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost:
		r.Method = http.MethodPut
	case r.Method == http.MethodGet && r.URL.Query().Get("list") == "true":
		r.Method = list
	}
	s.mux.ServeHTTP(w, r)
}

// unsealed answers a request only while the store is not sealed, unless a test has injected
// a fault.
func (s *Server) unsealed(do action) action {
	return func(q *request) (any, error) {
		s.mu.Lock()
		sealed := s.sealed
		s.mu.Unlock()
		if sealed {
			return nil, fail(http.StatusServiceUnavailable, "OpenBao is sealed")
		}
		if status := s.inject(q.Context(), q.path); status != 0 {
			return nil, fail(status, "a fault that a test asked for")
		}
		return do(q)
	}
}

// authenticated answers a request only if its token is valid.
func (s *Server) authenticated(do action) action {
	return func(q *request) (any, error) {
		holder, valid := s.lookup(q.token)
		if !valid {
			return nil, fail(http.StatusForbidden, "permission denied", "invalid token")
		}
		q.holder = holder
		return do(q)
	}
}

// root answers a request only if it has the root token.
func (s *Server) root(do action) action {
	return s.authenticated(func(q *request) (any, error) {
		if !q.holder.root {
			return nil, fail(http.StatusForbidden, "permission denied")
		}
		return do(q)
	})
}

// handler lets an action answer a request, and logs it.
func (s *Server) handler(do action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		q := newRequest(w, r)
		body, err := do(q)
		status := answer(w, body, err)
		s.log.Info("request",
			"method", r.Method, "path", r.URL.Path, "status", status, "took", time.Since(start).String(), "as", q.holder.DisplayName)
	}
}
