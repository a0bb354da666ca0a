package server

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/c5c3/forge/workshop/secretstore/internal/auth"
)

// defaultTTL is the lifetime of a token if its role does not set one.
const defaultTTL = time.Hour

// isLogin reports whether a request is a login with a service account.
func (s *Server) isLogin(q *request) bool {
	path, ok := strings.CutPrefix(q.path, "auth/")
	if !ok || !q.writes() {
		return false
	}
	mounted, login := s.settings.get().login(path)
	return login.Type == "kubernetes" && path == mounted+"login"
}

// login implements the Kubernetes login: it verifies the service account token and issues
// a store token.
func (s *Server) login(q *request) (reply, error) {
	var body struct {
		Role string `json:"role"`
		JWT  string `json:"jwt"`
	}
	if err := q.decode(&body); err != nil {
		return reply{}, err
	}
	mount := strings.TrimSuffix(q.path, "/login")
	role, err := s.role(mount, body.Role)
	if err != nil {
		return reply{}, err
	}
	account, err := s.reviewer.Review(q.Context(), body.JWT, role.Audience)
	if errors.Is(err, auth.ErrNotAuthenticated) {
		return reply{}, fail(http.StatusForbidden, "permission denied")
	} else if err != nil {
		return reply{}, err
	}
	if !role.Admits(account) {
		return reply{}, fail(http.StatusForbidden, "service account name or namespace not authorized")
	}
	_, mounted := s.settings.get().login(strings.TrimPrefix(q.path, "auth/"))
	ttl := cmp.Or(role.TTL.Duration, defaultTTL)
	text, token := s.tokens.Issue(auth.Token{
		DisplayName: strings.TrimPrefix(mount, "auth/") + "-" + account.Namespace + "-" + account.Name,
		Path:        q.path,
		Policies:    append([]string{"default"}, role.Policies...),
		Login:       mounted.Accessor,
		Metadata: map[string]string{
			"role": body.Role, "service_account_name": account.Name,
			"service_account_namespace": account.Namespace, "service_account_uid": account.UID,
		},
	}, ttl)
	q.holder = token
	return issued(text, token, ttl), nil
}

// role returns a role of a login that is configured.
func (s *Server) role(mount, name string) (auth.Role, error) {
	entries := s.settings.get().Entries
	role, err := parseRole(entries[mount+"/role/"+name])
	if err != nil {
		return auth.Role{}, fail(http.StatusBadRequest, fmt.Sprintf("invalid role name %q", name))
	}
	if entries[mount+"/config"] == nil {
		return auth.Role{}, fail(http.StatusInternalServerError, "could not load backend configuration")
	}
	return role, nil
}

// issued answers a login with the token.
func issued(text string, token auth.Token, ttl time.Duration) reply {
	return reply{status: http.StatusOK, body: envelope{Auth: map[string]any{
		"client_token": text, "accessor": token.Accessor, "policies": token.Policies, "token_policies": token.Policies,
		"metadata": token.Metadata, "lease_duration": int(ttl.Seconds()), "renewable": false, "token_type": "service",
		"entity_id": "", "orphan": true, "num_uses": 0,
	}}}
}

// handleToken answers requests about the token that they carry, which OpenBao's
// policy "default" permits for every token.
func (s *Server) handleToken(q *request, rest string) (reply, error) {
	switch rest {
	case "lookup-self":
		return withData(s.describe(q)), nil
	case "revoke-self":
		s.tokens.Revoke(q.token)
		return noContent(), nil
	}
	return reply{}, fail(http.StatusNotFound, fmt.Sprintf("no handler for route %q", q.path))
}

// describe describes the token of the request.
func (s *Server) describe(q *request) map[string]any {
	t := q.holder
	var expires any
	if !t.ExpireTime.IsZero() {
		expires = timeText(t.ExpireTime)
	}
	return map[string]any{
		"id": q.token, "accessor": t.Accessor, "display_name": t.DisplayName, "path": t.Path, "policies": t.Policies,
		"meta": t.Metadata, "type": "service", "ttl": int(t.TTL(s.now()).Seconds()), "expire_time": expires,
		"creation_time": t.CreatedTime.Unix(), "creation_ttl": int(t.CreationTTL.Seconds()), "renewable": false,
		"num_uses": 0, "orphan": true, "entity_id": "",
	}
}
