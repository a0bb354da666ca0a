package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/c5c3/forge/workshop/secretstore/internal/auth"
	"github.com/c5c3/forge/workshop/secretstore/internal/policy"
)

// lists are settings that may be written as comma-separated names, and
// that are read as lists.
var lists = []string{
	"bound_service_account_names", "bound_service_account_namespaces", "token_policies", "allowed_roles",
	"creation_statements", "revocation_statements",
}

// hidden are settings that cannot be read.
var hidden = []string{"password", "token_reviewer_jwt"}

// issuing names what an engine would issue from its settings, which the stand-in
// does not do.
var issuing = []string{"/creds/", "/issue/", "/sign/", "/secret-id"}

// handleEntry stores settings of engines and logins. Only the Kubernetes login
// uses them.
func (s *Server) handleEntry(q *request) (reply, error) {
	for _, part := range issuing {
		if strings.Contains(q.path, part) {
			return reply{}, fail(http.StatusBadRequest, "the stand-in keeps settings and issues nothing: "+q.path)
		}
	}
	wanted := map[string]policy.Capability{
		http.MethodGet: policy.Read, "LIST": policy.List, http.MethodDelete: policy.Delete,
		http.MethodPut: policy.Update, http.MethodPost: policy.Update,
	}[q.method]
	if err := s.permit(q, wanted); err != nil {
		return reply{}, err
	}
	switch {
	case q.method == http.MethodGet:
		return s.readEntry(q.path)
	case q.method == "LIST":
		return s.listEntries(strings.Trim(q.path, "/") + "/")
	case q.method == http.MethodDelete:
		return noContent(), s.settings.change(func(c *setup) error { delete(c.Entries, q.path); return nil })
	case q.writes():
		return noContent(), s.writeEntry(q)
	}
	return reply{}, fail(http.StatusMethodNotAllowed, "unsupported operation")
}

// readEntry returns an entry without its hidden values.
func (s *Server) readEntry(path string) (reply, error) {
	entry, ok := s.settings.get().Entries[path]
	if !ok {
		return reply{}, fail(http.StatusNotFound)
	}
	shown := maps.Clone(entry)
	for _, name := range hidden {
		delete(shown, name)
	}
	return withData(shown), nil
}

// listEntries returns the names of the entries below a folder.
func (s *Server) listEntries(folder string) (reply, error) {
	var names []string
	for path := range s.settings.get().Entries {
		if name, ok := strings.CutPrefix(path, folder); ok {
			names = append(names, name)
		}
	}
	if names == nil {
		return reply{}, fail(http.StatusNotFound)
	}
	slices.Sort(names)
	return withData(map[string]any{"keys": names}), nil
}

// writeEntry stores an entry. Comma-separated texts become lists, and a role of the
// Kubernetes login has to be valid.
func (s *Server) writeEntry(q *request) error {
	entry := map[string]any{}
	if err := q.decode(&entry); err != nil {
		return err
	}
	for _, name := range lists {
		if text, ok := entry[name].(string); ok {
			entry[name] = strings.Split(text, ",")
		}
	}
	if strings.Contains(q.path, "/role/") && strings.HasPrefix(q.path, "auth/kubernetes/") {
		if _, err := parseRole(entry); err != nil {
			return fail(http.StatusBadRequest, err.Error())
		}
	}
	return s.settings.change(func(c *setup) error { c.Entries[q.path] = entry; return nil })
}

// parseRole parses a role of the Kubernetes login from its settings.
func parseRole(entry map[string]any) (auth.Role, error) {
	var role auth.Role
	content, err := json.Marshal(entry)
	if err == nil {
		err = json.Unmarshal(content, &role)
	}
	if err != nil {
		return role, fmt.Errorf("not a role: %w", err)
	}
	if len(role.Names) == 0 || len(role.Namespaces) == 0 {
		return role, fmt.Errorf("%q and %q can not be empty", "bound_service_account_names", "bound_service_account_namespaces")
	}
	return role, nil
}
