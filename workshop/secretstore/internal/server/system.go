package server

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/c5c3/forge/workshop/secretstore/internal/policy"
)

// handleOpen answers requests that have to work while the store is sealed. It returns
// false for every other request.
func (s *Server) handleOpen(q *request) (reply, bool, error) {
	writing := q.writes()
	switch {
	case q.path == "sys/health":
		return s.health(q), true, nil
	case q.path == "sys/seal-status":
		return reply{status: http.StatusOK, body: s.seal.status()}, true, nil
	case q.path == "sys/init" && q.method == http.MethodGet:
		return reply{status: http.StatusOK, body: map[string]bool{"initialized": s.seal.status().Initialized}}, true, nil
	case q.path == "sys/init" && writing:
		answer, err := s.initialise(q)
		return answer, true, err
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

// health reports the state in the HTTP status, for load balancers. A client may
// choose which one means "sealed" and which "not initialised".
func (s *Server) health(q *request) reply {
	status := s.seal.status()
	code := http.StatusOK
	switch {
	case !status.Initialized:
		code = q.chosenStatus("uninitcode", http.StatusNotImplemented)
	case status.Sealed:
		code = q.chosenStatus("sealedcode", http.StatusServiceUnavailable)
	}
	return reply{status: code, body: map[string]any{
		"initialized": status.Initialized, "sealed": status.Sealed, "standby": false, "version": version,
		"cluster_name": "stand-in", "server_time_utc": s.now().Unix(),
	}}
}

// initialise generates the keys of a store that has none. The store is sealed
// afterwards, as OpenBao is.
func (s *Server) initialise(q *request) (reply, error) {
	body := struct {
		Shares    int `json:"secret_shares"`
		Threshold int `json:"secret_threshold"`
	}{}
	if err := q.decode(&body); err != nil {
		return reply{}, err
	}
	if body.Shares < 1 || body.Threshold < 1 || body.Threshold > body.Shares {
		return reply{}, fail(http.StatusBadRequest, "secret_threshold must be between 1 and secret_shares")
	}
	keys := NewKeys(body.Shares, body.Threshold)
	err := s.seal.initialise(keys, func() error {
		content, err := json.Marshal(keys)
		if err != nil {
			return err
		}
		return replaceFile(filepath.Join(s.dir, keysName), content)
	})
	if err != nil {
		return reply{}, err
	}
	s.tokens.SetRoot(keys.RootToken)
	return reply{status: http.StatusOK, body: map[string]any{
		"keys": keys.KeysHex, "keys_base64": keys.UnsealKeys, "root_token": keys.RootToken,
	}}, nil
}

// unseal accepts one unseal key.
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

// administer handles requests that only the root token may send.
func (s *Server) administer(q *request, do func() error) (reply, error) {
	holder, valid := s.tokens.Lookup(q.token)
	q.holder = holder
	if !valid || !slices.Contains(holder.Policies, policy.Root) {
		return reply{}, fail(http.StatusForbidden, "permission denied")
	}
	return noContent(), do()
}

// test handles requests that only tests send, and that no OpenBao offers.
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
		for path, engine := range s.settings.get().Engines {
			for _, kind := range []string{"data/", "metadata/"} {
				if engine.Type == "kv" {
					s.faults.set(path+kind+body.Prefix, body.Fault)
				}
			}
		}
		return nil
	}
	return fail(http.StatusNotFound)
}
