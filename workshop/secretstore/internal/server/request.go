package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

const (
	// maxBody is the largest request that OpenBao accepts by default, in bytes.
	maxBody = 32 << 20
	list    = "LIST"
)

// request is a request while it is being processed.
type request struct {
	*http.Request

	// path is the part after /v1/.
	path   string
	token  string
	holder token
	body   io.Reader
}

// action answers a request with a body, or with nothing.
type action func(*request) (any, error)

func newRequest(w http.ResponseWriter, r *http.Request) *request {
	return &request{
		Request: r,
		path:    strings.TrimPrefix(r.URL.Path, "/v1/"),
		token:   cmp.Or(r.Header.Get("X-Vault-Token"), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")),
		body:    http.MaxBytesReader(w, r.Body, maxBody),
	}
}

// decode parses the body. An empty one leaves v as it is.
func (r *request) decode(v any) error {
	if err := json.NewDecoder(r.body).Decode(v); err != nil && !errors.Is(err, io.EOF) {
		// The parser's message could quote a secret.
		return fail(http.StatusBadRequest, "failed to parse JSON input")
	}
	return nil
}

// object is a part of a response.
type object map[string]any

// withData wraps the data of a response as OpenBao does.
func withData(data any) object {
	return object{
		"request_id": "", "lease_id": "", "renewable": false, "lease_duration": 0, "data": data, "wrap_info": nil, "warnings": nil, "auth": nil,
	}
}

// failure is an error with the status and the body of the response.
type failure struct {
	status int
	body   object
}

func fail(status int, messages ...string) error {
	return &failure{status: status, body: object{"errors": append([]string{}, messages...)}}
}

// Error implements error.
func (f *failure) Error() string { return http.StatusText(f.status) }

// answer writes the response and returns its status. Secrets must not be cached on the way.
func answer(w http.ResponseWriter, body any, err error) int {
	w.Header().Set("Cache-Control", "no-store")
	status := http.StatusOK
	if f, ok := errors.AsType[*failure](err); ok {
		status, body = f.status, f.body
	} else if err != nil {
		status, body = http.StatusInternalServerError, object{"errors": []string{err.Error()}}
	} else if body == nil {
		w.WriteHeader(http.StatusNoContent)
		return http.StatusNoContent
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// It is not an error of the store if the client has disconnected.
	_ = json.NewEncoder(w).Encode(body)
	return status
}
