package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/c5c3/forge/workshop/secretstore/internal/policy"
)

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := s.now()
	answer := reply{status: http.StatusOK}
	q, err := newRequest(w, r)
	if err == nil {
		answer, err = s.handle(q)
	}
	if err != nil {
		answer = errorReply(err)
	}
	answer.write(w)
	if r.URL.Path != "/v1/sys/health" && r.URL.Path != "/v1/sys/seal-status" {
		attributes := []any{"method", r.Method, "path", r.URL.Path, "status", answer.status, "took", s.now().Sub(start).String()}
		if q != nil {
			attributes = append(attributes, "as", q.holder.DisplayName)
		}
		s.log.Info("request", attributes...)
	}
}

// handle routes a request: first those that are open to everyone, then, unless the store
// is sealed or a test has injected a fault, the login and the requests with a token.
func (s *Server) handle(q *request) (reply, error) {
	if answer, done, err := s.handleOpen(q); done {
		return answer, err
	}
	if s.seal.status().Sealed {
		return reply{}, fail(http.StatusServiceUnavailable, "OpenBao is sealed")
	}
	if status := s.faults.inject(q.Context(), q.path); status != 0 {
		return reply{}, fail(status, "a fault that a test asked for")
	}
	if s.isLogin(q) {
		return s.login(q)
	}
	holder, valid := s.tokens.Lookup(q.token)
	if !valid {
		return reply{}, fail(http.StatusForbidden, "permission denied", "invalid token")
	}
	q.holder = holder
	return s.handleAuthenticated(q)
}

// handleAuthenticated routes a request whose token is valid.
func (s *Server) handleAuthenticated(q *request) (reply, error) {
	if strings.HasPrefix(q.path, "sys/") {
		return s.handleSystem(q)
	}
	if rest, ok := strings.CutPrefix(q.path, "auth/token/"); ok {
		return s.handleToken(q, rest)
	}
	setup := s.settings.get()
	if rest, ok := strings.CutPrefix(q.path, "auth/"); ok {
		if path, _ := setup.login(rest); path != "" {
			return s.handleEntry(q)
		}
	}
	switch path, engine := setup.engine(q.path); {
	case engine.Type == "kv":
		return s.handleSecrets(q, strings.TrimPrefix(q.path, path))
	case path != "":
		return s.handleEntry(q)
	}
	return reply{}, fail(http.StatusNotFound, fmt.Sprintf("no handler for route %q", q.path))
}

// handleSystem answers requests that only the root token may send.
func (s *Server) handleSystem(q *request) (reply, error) {
	if !slices.Contains(q.holder.Policies, policy.Root) {
		return reply{}, fail(http.StatusForbidden, "permission denied")
	}
	for _, m := range []mounts{engines, logins} {
		if q.path == m.path || strings.HasPrefix(q.path, m.path+"/") {
			return s.handleMounts(q, m)
		}
	}
	if q.path == policiesPath || strings.HasPrefix(q.path, policiesPath+"/") {
		return s.handlePolicies(q)
	}
	return reply{}, fail(http.StatusNotFound, fmt.Sprintf("no handler for route %q", q.path))
}
