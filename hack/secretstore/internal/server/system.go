package server

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/c5c3/forge/hack/secretstore/internal/policy"
)

// handleOpen answers what has to work while the store is sealed. It returns
// false for every other request.
func (s *Server) handleOpen(q *request) (reply, bool, error) {
	writing := q.method == http.MethodPost || q.method == http.MethodPut
	switch {
	case q.path == "sys/health":
		return s.health(q), true, nil
	case q.path == "sys/seal-status":
		return reply{status: http.StatusOK, body: s.seal.status()}, true, nil
	case q.path == "sys/init" && q.method == http.MethodGet:
		return reply{status: http.StatusOK, body: map[string]bool{"initialized": true}}, true, nil
	case q.path == "sys/unseal" && writing:
		answer, err := s.unseal(q)
		return answer, true, err
	case q.path == "sys/seal" && writing:
		answer, err := s.administer(q, func() error { s.seal.lock(); return nil })
		return answer, true, err
	case strings.HasPrefix(q.path, "sys/stand-in/") && writing:
		answer, err := s.administer(q, func() error { return s.test(q) })
		return answer, true, err
	}
	return reply{}, false, nil
}

// health tells the state by the HTTP status, for load balancers. A client may
// choose which one means "sealed".
func (s *Server) health(q *request) reply {
	status := s.seal.status()
	code := http.StatusOK
	if status.Sealed {
		code = http.StatusServiceUnavailable
		if chosen, err := strconv.Atoi(q.URL.Query().Get("sealedcode")); err == nil && chosen >= 200 && chosen < 600 {
			code = chosen
		}
	}
	return reply{status: code, body: map[string]any{
		"initialized": true, "sealed": status.Sealed, "standby": false, "version": version,
		"cluster_name": "stand-in", "server_time_utc": s.now().Unix(),
	}}
}

func (s *Server) unseal(q *request) (reply, error) {
	var body struct {
		Key string `json:"key"`
	}
	if err := q.decode(&body); err != nil {
		return reply{}, err
	}
	if !s.seal.enter(body.Key) {
		return reply{}, fail(http.StatusBadRequest, "this is not one of the keys")
	}
	return reply{status: http.StatusOK, body: s.seal.status()}, nil
}

// administer does something that only the root token may do.
func (s *Server) administer(q *request, do func() error) (reply, error) {
	holder, valid := s.tokens.Lookup(q.token)
	q.holder = holder
	if !valid || !slices.Contains(holder.Policies, policy.Root) {
		return reply{}, fail(http.StatusForbidden, "permission denied")
	}
	return noContent(), do()
}

// test does what only tests ask for, and what no OpenBao offers.
func (s *Server) test(q *request) error {
	var body struct {
		Fault

		Prefix string `json:"prefix"`
	}
	if err := q.decode(&body); err != nil {
		return err
	}
	switch strings.TrimPrefix(q.path, "sys/stand-in/") {
	case "empty":
		return s.secrets.Empty(body.Prefix)
	case "fault":
		for _, kind := range []string{"data/", "metadata/"} {
			s.faults.set(s.config.Mount+"/"+kind+body.Prefix, body.Fault)
		}
		return nil
	}
	return fail(http.StatusNotFound)
}
