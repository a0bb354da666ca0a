package server

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/c5c3/forge/workshop/secretstore/internal/policy"
)

// mounts is one of the two lists of enabled engines and logins.
type mounts struct {
	// types are those that a path can be enabled with.
	types []string
	in    func(*state) map[string]mount
}

var (
	engines = mounts{[]string{"kv", "pki", "database"}, func(s *state) map[string]mount { return s.Engines }}
	logins  = mounts{[]string{"kubernetes", "approle"}, func(s *state) map[string]mount { return s.Logins }}
)

func (s *Server) listMounts(m mounts) action {
	return func(*request) (any, error) { return withData(m.in(s.state())), nil }
}

// enable returns the action that mounts an engine or a login.
func (s *Server) enable(m mounts) action {
	return func(q *request) (any, error) {
		var body mount
		if err := q.decode(&body); err != nil {
			return nil, err
		}
		switch {
		case !slices.Contains(m.types, body.Type):
			return nil, fail(http.StatusBadRequest, fmt.Sprintf("the stand-in has no %q, but %s", body.Type, strings.Join(m.types, ", ")))
		case body.Type == "kv" && body.Options["version"] != "2":
			return nil, fail(http.StatusBadRequest, "the stand-in has version 2 of the key/value engine only")
		}
		body.Accessor = "auth_" + body.Type + "_" + strings.ToLower(rand.Text()[:8])
		path := strings.Trim(q.PathValue("path"), "/") + "/"
		return nil, s.kept.change(func(c *state) error {
			for present, other := range m.in(c) {
				if strings.HasPrefix(present, path) || strings.HasPrefix(path, present) {
					return fail(http.StatusBadRequest, "path is already in use at "+present)
				}
				if body.Type == "kv" && other.Type == "kv" {
					return fail(http.StatusBadRequest, "the stand-in has one key/value engine, which is at "+present)
				}
			}
			m.in(c)[path] = body
			return nil
		})
	}
}

func (s *Server) readPolicy(q *request) (any, error) {
	text, ok := s.state().Policies[q.PathValue("name")]
	if !ok {
		return nil, fail(http.StatusNotFound)
	}
	return withData(object{"name": q.PathValue("name"), "policy": text}), nil
}

func (s *Server) writePolicy(q *request) (any, error) {
	var body struct {
		Policy string `json:"policy"`
	}
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	if _, err := policy.Parse(body.Policy); err != nil {
		return nil, fail(http.StatusBadRequest, "failed to parse policy: "+err.Error())
	}
	return nil, s.kept.change(func(c *state) error { c.Policies[q.PathValue("name")] = body.Policy; return nil })
}

// permit fails unless the token's policies allow the request.
func (s *Server) permit(q *request, path, wanted string) error {
	if q.holder.root {
		return nil
	}
	var policies []policy.Policy
	for _, name := range q.holder.Policies {
		policies = append(policies, s.state().policies[name])
	}
	if !policy.Allows(policies, policy.Identity{Accessor: q.holder.login, Metadata: q.holder.Metadata}, path, wanted) {
		return fail(http.StatusForbidden, "permission denied")
	}
	return nil
}

// mounted answers a request to an engine or a login.
func (s *Server) mounted(q *request) (any, error) {
	if kind, path, ok := s.state().secretAt(q.path); ok {
		return s.secret(q, kind, path)
	}
	in, path := s.state().Engines, q.path
	if rest, ok := strings.CutPrefix(q.path, "auth/"); ok {
		in, path = s.state().Logins, rest
	}
	for mounted := range in {
		if strings.HasPrefix(path, mounted) {
			return nil, s.writeEntry(q)
		}
	}
	return nil, fail(http.StatusNotFound, fmt.Sprintf("no handler for route %q", q.path))
}

// issuing names what an engine would issue from its settings.
var issuing = []string{"/creds/", "/issue/", "/sign/"}

// writeEntry stores a setting of an engine or a login. Only the Kubernetes login uses them.
func (s *Server) writeEntry(q *request) error {
	if q.Method != http.MethodPut || slices.ContainsFunc(issuing, func(part string) bool { return strings.Contains(q.path, part) }) {
		return fail(http.StatusBadRequest, "the stand-in keeps settings and issues nothing: "+q.path)
	}
	if err := s.permit(q, q.path, policy.Update); err != nil {
		return err
	}
	entry := map[string]any{}
	if err := q.decode(&entry); err != nil {
		return err
	}
	if strings.HasPrefix(q.path, "auth/kubernetes/") && strings.Contains(q.path, "/role/") {
		if _, err := parseRole(entry); err != nil {
			return fail(http.StatusBadRequest, err.Error())
		}
	}
	return s.kept.change(func(c *state) error { c.Entries[q.path] = entry; return nil })
}
