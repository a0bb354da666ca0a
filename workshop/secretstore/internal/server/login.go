package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// token describes a token. Its text is not part of it.
type token struct {
	DisplayName string
	Policies    []string
	Metadata    map[string]string
	// login is the accessor of the login that issued the token.
	login string
	// root permits everything, forever.
	root    bool
	expires time.Time
}

// lookup returns the description of a token, and whether it is valid.
func (s *Server) lookup(text string) (token, bool) {
	if text != "" && text == s.state().Keys.RootToken {
		return token{DisplayName: "root", Policies: []string{"root"}, root: true}, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tokens[text]
	return t, time.Now().Before(t.expires)
}

// role binds service accounts to policies; "*" stands for all names.
type role struct {
	Names      names `json:"bound_service_account_names"`
	Namespaces names `json:"bound_service_account_namespaces"`
	Policies   names `json:"token_policies"`
	// Audience is what a service account token has to be meant for, "" for anything.
	Audience string   `json:"audience"`
	TTL      duration `json:"token_ttl"`
}

// names may be written as a list, or as one text with commas.
type names []string

// UnmarshalJSON parses both.
func (n *names) UnmarshalJSON(content []byte) error {
	var text string
	if json.Unmarshal(content, &text) != nil {
		return json.Unmarshal(content, (*[]string)(n))
	}
	*n = strings.Split(text, ",")
	return nil
}

// admit reports whether the name is among them.
func (n names) admit(name string) bool { return slices.Contains(n, name) || slices.Contains(n, "*") }

// parseRole parses a role of the Kubernetes login from its settings.
func parseRole(entry map[string]any) (role, error) {
	var r role
	content, err := json.Marshal(entry)
	if err == nil {
		err = json.Unmarshal(content, &r)
	}
	if err != nil {
		return r, fmt.Errorf("not a role: %w", err)
	}
	if len(r.Names) == 0 || len(r.Namespaces) == 0 {
		return r, errors.New("bound_service_account_names and bound_service_account_namespaces can not be empty")
	}
	return r, nil
}

// login implements the Kubernetes login: it verifies the service account token and issues
// a store token.
func (s *Server) login(q *request) (any, error) {
	var body struct {
		Role string `json:"role"`
		JWT  string `json:"jwt"`
	}
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	path, current := strings.TrimSuffix(q.path, "/login"), s.state()
	role, err := parseRole(current.Entries[path+"/role/"+body.Role])
	if err != nil {
		return nil, fail(http.StatusBadRequest, fmt.Sprintf("invalid role name %q", body.Role))
	}
	if current.Entries[path+"/config"] == nil {
		return nil, fail(http.StatusInternalServerError, "could not load backend configuration")
	}
	account, err := s.reviewer.Review(q.Context(), body.JWT, role.Audience)
	switch {
	case errors.Is(err, ErrNotAuthenticated):
		return nil, fail(http.StatusForbidden, "permission denied")
	case err != nil:
		return nil, err
	case !role.Names.admit(account.Name) || !role.Namespaces.admit(account.Namespace):
		return nil, fail(http.StatusForbidden, "service account name or namespace not authorized")
	}
	return s.issue(q, token{
		DisplayName: account.Namespace + "-" + account.Name,
		Policies:    role.Policies,
		Metadata: map[string]string{
			"role": body.Role, "service_account_name": account.Name,
			"service_account_namespace": account.Namespace, "service_account_uid": account.UID,
		},
		login: current.Logins[strings.TrimPrefix(path, "auth/")+"/"].Accessor,
	}, time.Duration(role.TTL)), nil
}

// describe describes the token of the request, which every token may ask for.
func (s *Server) describe(q *request) (any, error) {
	data := object{
		"id": q.token, "display_name": q.holder.DisplayName, "policies": q.holder.Policies, "meta": q.holder.Metadata,
		"type": "service", "renewable": false, "ttl": 0, "expire_time": nil,
	}
	if !q.holder.root {
		data["ttl"], data["expire_time"] = int(time.Until(q.holder.expires).Seconds()), q.holder.expires
	}
	return withData(data), nil
}

// revoke invalidates the token of the request.
func (s *Server) revoke(q *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tokens, q.token)
	return nil, nil
}
