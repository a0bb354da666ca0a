package server

import (
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// engineTypes and loginTypes are the types that a path can be enabled with.
var (
	engineTypes = []string{"kv", "pki", "database"}
	loginTypes  = []string{"kubernetes", "approle"}
)

// mounts is one of the two lists of enabled engines and logins.
type mounts struct {
	// path is the path of the list in the API.
	path  string
	types []string
	list  func(*setup) map[string]mount
}

var (
	engines = mounts{"sys/mounts", engineTypes, func(s *setup) map[string]mount { return s.Engines }}
	logins  = mounts{"sys/auth", loginTypes, func(s *setup) map[string]mount { return s.Logins }}
)

// handleMounts lists, enables, tunes and disables engines or logins.
func (s *Server) handleMounts(q *request, m mounts) (reply, error) {
	path := strings.Trim(strings.TrimPrefix(q.path, m.path), "/")
	current := s.settings.get()
	switch tuned, tuning := strings.CutSuffix(path, "/tune"); {
	case path == "" && q.method == http.MethodGet:
		return withData(m.list(&current)), nil
	case tuning && q.writes():
		return noContent(), s.tune(q, m, tuned+"/")
	case path != "" && q.writes():
		return noContent(), s.enable(q, m, path+"/")
	case path != "" && q.method == http.MethodDelete:
		return noContent(), s.settings.change(func(c *setup) error { delete(m.list(c), path+"/"); return nil })
	}
	return reply{}, fail(http.StatusMethodNotAllowed, "unsupported operation")
}

// enable mounts an engine or a login.
func (s *Server) enable(q *request, m mounts, path string) error {
	var body mount
	if err := q.decode(&body); err != nil {
		return err
	}
	switch {
	case !slices.Contains(m.types, body.Type):
		return fail(http.StatusBadRequest, fmt.Sprintf("the stand-in has no %q, but %s", body.Type, strings.Join(m.types, ", ")))
	case body.Type == "kv" && fmt.Sprint(body.Options["version"]) != "2":
		return fail(http.StatusBadRequest, "the stand-in has version 2 of the key/value engine only")
	}
	body.Accessor = strings.ReplaceAll("auth_"+body.Type+"_", "/", "") + strings.ToLower(rand.Text()[:8])
	return s.settings.change(func(c *setup) error {
		list := m.list(c)
		if err := free(list, path, body.Type); err != nil {
			return err
		}
		list[path] = body
		return nil
	})
}

// free returns an error if nothing of the type can be mounted at the path.
func free(list map[string]mount, path, kind string) error {
	for present, other := range list {
		if strings.HasPrefix(present, path) || strings.HasPrefix(path, present) {
			return fail(http.StatusBadRequest, fmt.Sprintf("path is already in use at %s", present))
		}
		if kind == "kv" && other.Type == "kv" {
			return fail(http.StatusBadRequest, "the stand-in has one key/value engine, which is at "+present)
		}
	}
	return nil
}

// tune changes the settings of a mount.
func (s *Server) tune(q *request, m mounts, path string) error {
	body := map[string]any{}
	if err := q.decode(&body); err != nil {
		return err
	}
	return s.settings.change(func(c *setup) error {
		tuned, ok := m.list(c)[path]
		if !ok {
			return fail(http.StatusBadRequest, "no mount at "+path)
		}
		tuned.Config = body
		m.list(c)[path] = tuned
		return nil
	})
}

const policiesPath = "sys/policies/acl"

func policyNames(texts map[string]string) []string {
	names := slices.AppendSeq([]string{"default", "root"}, maps.Keys(texts))
	slices.Sort(names)
	return names
}

// handlePolicies lists, reads, writes and deletes policies.
func (s *Server) handlePolicies(q *request) (reply, error) {
	name := strings.Trim(strings.TrimPrefix(q.path, policiesPath), "/")
	texts := s.settings.get().Policies
	switch {
	case name == "" && (q.method == "LIST" || q.method == http.MethodGet):
		return withData(map[string]any{"keys": policyNames(texts)}), nil
	case name == "":
	case q.method == http.MethodGet:
		text, ok := texts[name]
		if !ok {
			return reply{}, fail(http.StatusNotFound)
		}
		return withData(map[string]any{"name": name, "policy": text}), nil
	case q.writes():
		return noContent(), s.writePolicy(q, name)
	case q.method == http.MethodDelete:
		return noContent(), s.settings.change(func(c *setup) error { delete(c.Policies, name); return nil })
	}
	return reply{}, fail(http.StatusMethodNotAllowed, "unsupported operation")
}

// writePolicy stores a policy after parsing it.
func (s *Server) writePolicy(q *request, name string) error {
	var body struct {
		Policy string `json:"policy"`
	}
	if err := q.decode(&body); err != nil {
		return err
	}
	if name == "root" || body.Policy == "" {
		return fail(http.StatusBadRequest, "cannot write this policy")
	}
	err := s.settings.change(func(c *setup) error { c.Policies[name] = body.Policy; return nil })
	if err != nil {
		return fail(http.StatusBadRequest, "failed to parse policy: "+err.Error())
	}
	return nil
}
