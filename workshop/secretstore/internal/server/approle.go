package server

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/c5c3/forge/workshop/secretstore/internal/policy"
)

// appRoles is where the roles of the login AppRole are.
const appRoles = "auth/approle/role/"

// appRole is a role of the login AppRole: a program that knows its identifier and a secret one
// logs in with its policies. It is kept as an entry, with what an administrator set.
type appRole struct {
	Policies names    `json:"token_policies"`
	TTL      duration `json:"token_ttl"`
	// ID is generated with the role, and SecretIDs are the secret identifiers that are valid.
	ID        string   `json:"role_id"`
	SecretIDs []string `json:"stand_in_secret_ids"`
}

// parseAppRole parses a role from its settings.
func parseAppRole(entry map[string]any) (appRole, error) {
	var r appRole
	content, err := json.Marshal(entry)
	if err == nil {
		err = json.Unmarshal(content, &r)
	}
	if err != nil {
		return r, fmt.Errorf("not a role: %w", err)
	}
	return r, nil
}

// writeAppRole creates a role, or changes its settings. Its identifiers stay.
func (s *Server) writeAppRole(q *request) (any, error) {
	if err := s.permit(q, q.path, policy.Update); err != nil {
		return nil, err
	}
	entry := map[string]any{}
	if err := q.decode(&entry); err != nil {
		return nil, err
	}
	return nil, s.changeAppRole(q, true, func(kept map[string]any) error {
		maps.Copy(kept, entry)
		_, err := parseAppRole(kept)
		if err != nil {
			return fail(http.StatusBadRequest, err.Error())
		}
		return nil
	})
}

// readRoleID returns the identifier of a role.
func (s *Server) readRoleID(q *request) (any, error) {
	if err := s.permit(q, q.path, policy.Read); err != nil {
		return nil, err
	}
	entry := s.state().Entries[appRoles+q.PathValue("name")]
	if entry == nil {
		return nil, fail(http.StatusNotFound)
	}
	return withData(object{"role_id": entry["role_id"]}), nil
}

// issueSecretID adds a secret identifier to a role.
func (s *Server) issueSecretID(q *request) (any, error) {
	if err := s.permit(q, q.path, policy.Update); err != nil {
		return nil, err
	}
	issued := rand.Text()
	err := s.changeSecretIDs(q, func(valid []string) []string { return append(valid, issued) })
	return withData(object{"secret_id": issued, "secret_id_ttl": 0}), err
}

// destroySecretID takes a secret identifier from a role. The tokens that it has got stay valid.
func (s *Server) destroySecretID(q *request) (any, error) {
	if err := s.permit(q, q.path, policy.Update); err != nil {
		return nil, err
	}
	var body struct {
		SecretID string `json:"secret_id"`
	}
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	return nil, s.changeSecretIDs(q, func(valid []string) []string {
		return slices.DeleteFunc(valid, func(id string) bool { return id == body.SecretID })
	})
}

func (s *Server) changeSecretIDs(q *request, do func([]string) []string) error {
	return s.changeAppRole(q, false, func(kept map[string]any) error {
		role, err := parseAppRole(kept)
		kept["stand_in_secret_ids"] = do(role.SecretIDs)
		return err
	})
}

// changeAppRole changes the role that the request names, which is created only if a new one is allowed.
func (s *Server) changeAppRole(q *request, create bool, do func(map[string]any) error) error {
	path := appRoles + q.PathValue("name")
	return s.kept.change(func(c *state) error {
		switch {
		case c.Logins["approle/"].Type == "":
			return fail(http.StatusNotFound, fmt.Sprintf("no handler for route %q", q.path))
		case c.Entries[path] == nil && !create:
			return fail(http.StatusNotFound, fmt.Sprintf("role %q does not exist", q.PathValue("name")))
		case c.Entries[path] == nil:
			c.Entries[path] = map[string]any{"role_id": rand.Text()}
		}
		return do(c.Entries[path])
	})
}

// loginAppRole issues a token to whoever knows both identifiers of a role.
func (s *Server) loginAppRole(q *request) (any, error) {
	var body struct {
		RoleID   string `json:"role_id"`
		SecretID string `json:"secret_id"`
	}
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	if body.RoleID == "" {
		return nil, fail(http.StatusBadRequest, "missing role_id")
	}
	for path, entry := range s.state().Entries {
		name, ok := strings.CutPrefix(path, appRoles)
		if !ok || entry["role_id"] != body.RoleID {
			continue
		}
		role, err := parseAppRole(entry)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(role.SecretIDs, body.SecretID) {
			break
		}
		return s.issue(q, token{
			DisplayName: "approle", Policies: role.Policies, Metadata: map[string]string{"role_name": name},
			login: s.state().Logins["approle/"].Accessor,
		}, time.Duration(role.TTL)), nil
	}
	return nil, fail(http.StatusBadRequest, "invalid role or secret ID")
}

// issue issues a token, for an hour unless another time is set.
func (s *Server) issue(q *request, holder token, ttl time.Duration) any {
	ttl = cmp.Or(ttl, time.Hour)
	holder.expires = time.Now().Add(ttl)
	q.holder = holder
	text := "s." + rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[text] = holder
	return object{"auth": object{
		"client_token": text, "policies": holder.Policies, "token_policies": holder.Policies, "metadata": holder.Metadata,
		"lease_duration": int(ttl.Seconds()), "renewable": false, "token_type": "service",
	}}
}
