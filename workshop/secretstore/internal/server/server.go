// Package server implements the part of OpenBao's HTTP API that External Secrets
// and the bootstrap of a cluster use: one key/value engine of version 2,
// Kubernetes login, tokens, policies, and the seal. For other engines and logins it
// stores the settings and issues nothing.
package server

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/c5c3/forge/workshop/secretstore/internal/auth"
	"github.com/c5c3/forge/workshop/secretstore/internal/kv"
	"github.com/c5c3/forge/workshop/secretstore/internal/policy"
)

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

// permit fails unless the token's policies allow the request.
func (s *Server) permit(q *request, wanted policy.Capability) error {
	if s.settings.allows(q.holder, q.path, wanted) {
		return nil
	}
	return fail(http.StatusForbidden, "permission denied")
}
