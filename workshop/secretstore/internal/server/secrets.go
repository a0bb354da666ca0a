package server

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/c5c3/forge/workshop/secretstore/internal/policy"
)

// secretAt splits the path of a request to the key/value engine into the kind of the request,
// "data" or "metadata", and the path of the secret.
func (s *state) secretAt(path string) (kind, secret string, ok bool) {
	for mounted, engine := range s.Engines {
		if rest, below := strings.CutPrefix(path, mounted); below && engine.Type == "kv" {
			kind, secret, _ = strings.Cut(rest, "/")
			return kind, secret, true
		}
	}
	return "", "", false
}

// secret answers a request to the key/value engine.
func (s *Server) secret(q *request, kind, path string) (any, error) {
	_, exists := s.state().Secrets[path]
	action, found := map[string]struct {
		wanted string
		do     func(*request, string) (any, error)
	}{
		"GET data":        {policy.Read, s.readData},
		"PUT data":        {writing[exists], s.writeData},
		"DELETE data":     {policy.Delete, s.deleteData},
		"LIST metadata":   {policy.List, s.list},
		"GET metadata":    {policy.Read, s.readMetadata},
		"PUT metadata":    {writing[exists], s.writeMetadata},
		"DELETE metadata": {policy.Delete, s.deleteMetadata},
	}[q.Method+" "+kind]
	if !found || path == "" && q.Method != list {
		return nil, fail(http.StatusMethodNotAllowed, "unsupported operation")
	}
	named := q.path
	if q.Method == list {
		// Policies name the folders that may be listed with a trailing slash.
		named = strings.TrimSuffix(named, "/") + "/"
	}
	if err := s.permit(q, named, action.wanted); err != nil {
		return nil, err
	}
	return action.do(q, path)
}

// writing is the capability that a write needs, by whether the secret exists.
var writing = map[bool]string{false: policy.Create, true: policy.Update}

// readData returns a version of a secret, the current one unless the request names another. Of a deleted one External
// Secrets expects the metadata, with status 404.
func (s *Server) readData(q *request, path string) (any, error) {
	secret := s.state().Secrets[path]
	if secret == nil {
		return nil, fail(http.StatusNotFound)
	}
	number := secret.Version
	if named := q.URL.Query().Get("version"); named != "" && named != "0" {
		var err error
		if number, err = strconv.Atoi(named); err != nil {
			return nil, fail(http.StatusBadRequest, "version is no number")
		}
	}
	found := secret.Versions[number]
	if found == nil {
		return nil, fail(http.StatusNotFound)
	}
	body := withData(object{"data": found.Data, "metadata": secret.describe(number)})
	if found.Data == nil {
		return nil, &failure{http.StatusNotFound, body}
	}
	return body, nil
}

// writeData writes a new version of a secret, subject to check-and-set.
func (s *Server) writeData(q *request, path string) (any, error) {
	var body struct {
		Data    map[string]any `json:"data"`
		Options struct {
			CAS *int `json:"cas"`
		} `json:"options"`
	}
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	if body.Data == nil {
		return nil, fail(http.StatusBadRequest, "no data provided")
	}
	var written object
	err := s.changeSecret(path, func(secret *secret) error {
		if cas := body.Options.CAS; cas != nil && *cas != secret.Version {
			// The first half is OpenBao's text, which clients compare.
			return fail(http.StatusBadRequest, fmt.Sprintf(
				"check-and-set parameter did not match the current version: the current version is %d", secret.Version))
		}
		secret.Version++
		secret.Versions[secret.Version] = &version{Data: body.Data, Created: secret.Updated}
		delete(secret.Versions, secret.Version-maxVersions)
		written = secret.describe(secret.Version)
		return nil
	})
	return withData(written), err
}

// deleteData deletes the current version of a secret, if there is one.
func (s *Server) deleteData(_ *request, path string) (any, error) {
	if secret := s.state().Secrets[path]; secret == nil || secret.Version == 0 || secret.Versions[secret.Version].Data == nil {
		return nil, nil
	}
	return nil, s.changeSecret(path, func(secret *secret) error {
		current := secret.Versions[secret.Version]
		current.Data, current.Deleted = nil, secret.Updated
		return nil
	})
}

// list returns the names directly below a path, in order. Names of folders end with a slash.
func (s *Server) list(_ *request, path string) (any, error) {
	if path != "" {
		path = strings.TrimSuffix(path, "/") + "/"
	}
	names := map[string]bool{}
	for full := range s.state().Secrets {
		if below, ok := strings.CutPrefix(full, path); ok {
			name, _, deeper := strings.Cut(below, "/")
			if deeper {
				name += "/"
			}
			names[name] = true
		}
	}
	if len(names) == 0 {
		return nil, fail(http.StatusNotFound)
	}
	return withData(object{"keys": slices.Sorted(maps.Keys(names))}), nil
}

// readMetadata returns the metadata of a secret and of its versions.
func (s *Server) readMetadata(_ *request, path string) (any, error) {
	secret := s.state().Secrets[path]
	if secret == nil {
		return nil, fail(http.StatusNotFound)
	}
	versions := object{}
	for number := range secret.Versions {
		versions[strconv.Itoa(number)] = secret.describe(number)
	}
	return withData(object{
		"created_time": secret.Created, "updated_time": secret.Updated, "current_version": secret.Version,
		"custom_metadata": secret.Metadata, "versions": versions,
	}), nil
}

// writeMetadata replaces the metadata of a secret, which is created without a version if needed.
func (s *Server) writeMetadata(q *request, path string) (any, error) {
	var body struct {
		Custom map[string]string `json:"custom_metadata"`
	}
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	return nil, s.changeSecret(path, func(secret *secret) error { secret.Metadata = body.Custom; return nil })
}

// deleteMetadata deletes a secret with its metadata.
func (s *Server) deleteMetadata(_ *request, path string) (any, error) {
	return nil, s.kept.change(func(c *state) error { delete(c.Secrets, path); return nil })
}

// changeSecret changes a secret, which is created if needed.
func (s *Server) changeSecret(path string, do func(*secret) error) error {
	return s.kept.change(func(c *state) error {
		now := time.Now().UTC()
		if c.Secrets[path] == nil {
			c.Secrets[path] = &secret{Created: now, Versions: map[int]*version{}}
		}
		c.Secrets[path].Updated = now
		return do(c.Secrets[path])
	})
}

// describe returns the metadata of a version in the format of the API.
func (s *secret) describe(number int) object {
	described, deleted := s.Versions[number], ""
	if !described.Deleted.IsZero() {
		deleted = described.Deleted.Format(time.RFC3339Nano)
	}
	return object{
		"created_time": described.Created, "custom_metadata": s.Metadata, "deletion_time": deleted, "destroyed": false, "version": number,
	}
}
