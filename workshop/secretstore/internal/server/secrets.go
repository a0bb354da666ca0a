package server

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/c5c3/forge/workshop/secretstore/internal/kv"
	"github.com/c5c3/forge/workshop/secretstore/internal/policy"
)

// handleSecrets answers requests to the key/value engine. rest is the path below
// the mount: the kind of request and the path of the secret.
func (s *Server) handleSecrets(q *request, rest string) (reply, error) {
	kind, path, _ := strings.Cut(rest, "/")
	method := q.method
	if method == http.MethodPut {
		method = http.MethodPost
	}
	if path == "" && method != "LIST" {
		return reply{}, fail(http.StatusNotFound)
	}
	handle := map[string]func(*request, string) (reply, error){
		"GET data":        s.readData,
		"POST data":       s.writeData,
		"DELETE data":     s.deleteData,
		"POST delete":     s.changeVersions(s.secrets.Delete),
		"POST undelete":   s.changeVersions(s.secrets.Undelete),
		"POST destroy":    s.changeVersions(s.secrets.Destroy),
		"LIST metadata":   s.list,
		"GET metadata":    s.readMetadata,
		"POST metadata":   s.writeMetadata,
		"DELETE metadata": s.deleteMetadata,
	}[method+" "+kind]
	if handle == nil {
		return reply{}, fail(http.StatusMethodNotAllowed, "unsupported operation")
	}
	return handle(q, path)
}

// changeVersions returns the handler for requests that change named versions.
func (s *Server) changeVersions(change func(string, []int) error) func(*request, string) (reply, error) {
	return func(q *request, path string) (reply, error) {
		if err := s.permit(q, policy.Update); err != nil {
			return reply{}, err
		}
		var body struct {
			Versions []int `json:"versions"`
		}
		if err := q.decode(&body); err != nil {
			return reply{}, err
		}
		if len(body.Versions) == 0 {
			return reply{}, fail(http.StatusBadRequest, "No version number provided")
		}
		return noContent(), change(path, body.Versions)
	}
}

// deleteData deletes the current version of a secret.
func (s *Server) deleteData(q *request, path string) (reply, error) {
	if err := s.permit(q, policy.Delete); err != nil {
		return reply{}, err
	}
	return noContent(), s.secrets.Delete(path, nil)
}

// deleteMetadata deletes a secret with all its versions.
func (s *Server) deleteMetadata(q *request, path string) (reply, error) {
	if err := s.permit(q, policy.Delete); err != nil {
		return reply{}, err
	}
	return noContent(), s.secrets.DeleteAll(path)
}

// permitWrite requires the capability for a write, which depends on whether
// the secret exists.
func (s *Server) permitWrite(q *request, path string) error {
	if _, err := s.secrets.Get(path); err != nil {
		return s.permit(q, policy.Create)
	}
	return s.permit(q, policy.Update)
}

// readData returns a version of a secret, by default the current one.
func (s *Server) readData(q *request, path string) (reply, error) {
	if err := s.permit(q, policy.Read); err != nil {
		return reply{}, err
	}
	wanted := 0
	if text := q.URL.Query().Get("version"); text != "" {
		number, err := strconv.Atoi(text)
		if err != nil {
			return reply{}, fail(http.StatusBadRequest, "the version is not a number")
		}
		wanted = number
	}
	secret, err := s.secrets.Get(path)
	if err != nil {
		return reply{}, err
	}
	version, number := secret.Version(wanted)
	if version == nil {
		return reply{}, kv.ErrNotFound
	}
	answer := map[string]any{"data": version.Data, "metadata": versionMetadata(secret, version, number)}
	if !version.Readable() {
		answer["data"] = nil
		return reply{}, &failure{status: http.StatusNotFound, data: answer}
	}
	return withData(answer), nil
}

// writeData writes a new version of a secret, subject to check-and-set.
func (s *Server) writeData(q *request, path string) (reply, error) {
	if err := s.permitWrite(q, path); err != nil {
		return reply{}, err
	}
	var body struct {
		Data    map[string]any `json:"data"`
		Options struct {
			CAS *int `json:"cas"`
		} `json:"options"`
	}
	if err := q.decode(&body); err != nil {
		return reply{}, err
	}
	if body.Data == nil {
		return reply{}, fail(http.StatusBadRequest, "no data provided")
	}
	secret, err := s.secrets.Write(path, body.Data, body.Options.CAS)
	if err != nil {
		return reply{}, err
	}
	version, number := secret.Version(0)
	return withData(versionMetadata(secret, version, number)), nil
}

// list returns the names below a path.
func (s *Server) list(q *request, path string) (reply, error) {
	// Policies name the folders that may be listed with a trailing slash.
	if path != "" && !strings.HasSuffix(q.path, "/") {
		q.path += "/"
	}
	if err := s.permit(q, policy.List); err != nil {
		return reply{}, err
	}
	names := s.secrets.List(path)
	if len(names) == 0 {
		return reply{}, kv.ErrNotFound
	}
	return withData(map[string]any{"keys": names}), nil
}

func versionsOf(secret *kv.Secret) map[string]any {
	versions := map[string]any{}
	for number, version := range secret.Versions {
		versions[number] = map[string]any{
			"created_time": timeText(version.CreatedTime), "deletion_time": timeText(version.DeletionTime),
			"destroyed": version.Destroyed,
		}
	}
	return versions
}

// readMetadata returns the metadata of a secret and of its versions.
func (s *Server) readMetadata(q *request, path string) (reply, error) {
	if err := s.permit(q, policy.Read); err != nil {
		return reply{}, err
	}
	secret, err := s.secrets.Get(path)
	if err != nil {
		return reply{}, err
	}
	return withData(map[string]any{
		"cas_required": secret.CASRequired, "created_time": timeText(secret.CreatedTime),
		"current_version": secret.CurrentVersion, "custom_metadata": customMetadata(secret),
		"delete_version_after": "0s", "max_versions": secret.MaxVersions, "oldest_version": secret.OldestVersion,
		"updated_time": timeText(secret.UpdatedTime), "versions": versionsOf(secret),
	}), nil
}

// writeMetadata replaces the metadata of a secret.
func (s *Server) writeMetadata(q *request, path string) (reply, error) {
	if err := s.permitWrite(q, path); err != nil {
		return reply{}, err
	}
	var body kv.Metadata
	if err := q.decode(&body); err != nil {
		return reply{}, err
	}
	return noContent(), s.secrets.WriteMetadata(path, body)
}

// versionMetadata returns the metadata of a version in the format of the API.
func versionMetadata(secret *kv.Secret, version *kv.Version, number int) map[string]any {
	return map[string]any{
		"created_time": timeText(version.CreatedTime), "custom_metadata": customMetadata(secret),
		"deletion_time": timeText(version.DeletionTime), "destroyed": version.Destroyed, "version": number,
	}
}

// customMetadata is null if there is none, not an empty object.
func customMetadata(secret *kv.Secret) any {
	if len(secret.CustomMetadata) == 0 {
		return nil
	}
	return secret.CustomMetadata
}
