// Package server implements the part of OpenBao's HTTP API that External Secrets
// and the bootstrap of a cluster use: one key/value engine of version 2,
// Kubernetes login, tokens, policies, and the seal. For other engines and logins it
// stores the settings and issues nothing.
package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/c5c3/forge/hack/secretstore/internal/auth"
	"github.com/c5c3/forge/hack/secretstore/internal/kv"
	"github.com/c5c3/forge/hack/secretstore/internal/policy"
)

// version is the version that the store reports, so that it is not mistaken for
// OpenBao.
const version = "0.0.0-stand-in"

// maxBody is the largest request that OpenBao accepts by default, in bytes.
const maxBody = 32 << 20

// Server answers requests. It is an http.Handler.
type Server struct {
	settings *settings
	dir      string
	secrets  *kv.Store
	seal     *seal
	tokens   *auth.Tokens
	reviewer auth.Reviewer
	faults   faults
	log      *slog.Logger
	now      func() time.Time
}

// Options are the options of a server.
type Options struct {
	// Dir holds the stored data; existing content is used again.
	Dir      string
	Reviewer auth.Reviewer
	// Log receives one line per request, without any value.
	Log *slog.Logger
}

// New returns a server, which is unsealed if it was initialised before.
func New(o Options) (*Server, error) {
	file := filepath.Join(o.Dir, "secrets.json")
	saved, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read the saved secrets: %w", err)
	}
	secrets, err := kv.New(saved, time.Now, func(content []byte) error { return replaceFile(file, content) })
	if err != nil {
		return nil, err
	}
	settings, err := readSettings(filepath.Join(o.Dir, "settings.json"))
	if err != nil {
		return nil, err
	}
	var keys Keys
	if _, err := os.Stat(filepath.Join(o.Dir, keysName)); err == nil {
		if keys, err = ReadKeys(o.Dir); err != nil {
			return nil, err
		}
	}
	return &Server{
		settings: settings,
		dir:      o.Dir,
		secrets:  secrets,
		seal:     &seal{keys: keys.UnsealKeys, threshold: keys.Threshold},
		tokens:   auth.NewTokens(keys.RootToken, time.Now),
		reviewer: o.Reviewer,
		faults:   faults{byPrefix: map[string]Fault{}},
		log:      o.Log,
		now:      time.Now,
	}, nil
}

// replaceFile replaces a file atomically: it has either the old or the new content.
func replaceFile(file string, content []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(file), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, writeErr := temporary.Write(content)
	if err := errors.Join(writeErr, temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), file)
}

// request is a request while it is being processed.
type request struct {
	*http.Request
	// path is the part after /v1/.
	path string
	// method is LIST for both ways of requesting a list.
	method string
	token  string
	holder auth.Token
	body   []byte
}

// writes reports whether the request creates or changes something.
func (r *request) writes() bool { return r.method == http.MethodPost || r.method == http.MethodPut }

// decode parses the body. An empty one leaves v as it is.
func (r *request) decode(v any) error {
	if len(r.body) == 0 {
		return nil
	}
	if err := json.Unmarshal(r.body, v); err != nil {
		// The parser's message could quote a secret.
		return fail(http.StatusBadRequest, "failed to parse JSON input")
	}
	return nil
}

// newRequest parses the path, the method and the headers of an HTTP request.
func newRequest(w http.ResponseWriter, r *http.Request) (*request, error) {
	path, ok := strings.CutPrefix(r.URL.Path, "/v1/")
	if !ok {
		return nil, fail(http.StatusNotFound, "")
	}
	method := r.Method
	if method == http.MethodGet && r.URL.Query().Get("list") == "true" {
		method = "LIST"
	}
	token := r.Header.Get("X-Vault-Token")
	if token == "" {
		token = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	var body json.RawMessage
	if r.ContentLength != 0 {
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&body)
		if err != nil {
			return nil, fail(http.StatusBadRequest, "failed to parse JSON input")
		}
	}
	return &request{Request: r, path: path, method: method, token: token, body: body}, nil
}

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

// permit fails unless the token's policies allow the request.
func (s *Server) permit(q *request, wanted policy.Capability) error {
	if s.settings.allows(q.holder.Policies, q.path, wanted) {
		return nil
	}
	return fail(http.StatusForbidden, "permission denied")
}
