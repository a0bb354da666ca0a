package server

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/c5c3/forge/workshop/secretstore/internal/auth"
)

// maxBody is the largest request that OpenBao accepts by default, in bytes.
const maxBody = 32 << 20

// request is a request while it is being processed.
type request struct {
	*http.Request
	// path is the part after /v1/.
	path string
	// method is LIST for both ways of requesting a list.
	method string
	token  string
	holder auth.Token
	body   []byte
}

// writes reports whether the request creates or changes something.
func (r *request) writes() bool { return r.method == http.MethodPost || r.method == http.MethodPut }

// decode parses the body. An empty one leaves v as it is.
func (r *request) decode(v any) error {
	if len(r.body) == 0 {
		return nil
	}
	if err := json.Unmarshal(r.body, v); err != nil {
		// The parser's message could quote a secret.
		return fail(http.StatusBadRequest, "failed to parse JSON input")
	}
	return nil
}

// newRequest parses the path, the method and the headers of an HTTP request.
func newRequest(w http.ResponseWriter, r *http.Request) (*request, error) {
	path, ok := strings.CutPrefix(r.URL.Path, "/v1/")
	if !ok {
		return nil, fail(http.StatusNotFound, "")
	}
	method := r.Method
	if method == http.MethodGet && r.URL.Query().Get("list") == "true" {
		method = "LIST"
	}
	token := r.Header.Get("X-Vault-Token")
	if token == "" {
		token = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	var body json.RawMessage
	if r.ContentLength != 0 {
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&body)
		if err != nil {
			return nil, fail(http.StatusBadRequest, "failed to parse JSON input")
		}
	}
	return &request{Request: r, path: path, method: method, token: token, body: body}, nil
}

// chosenStatus returns the status that the client has chosen, otherwise the default.
func (r *request) chosenStatus(parameter string, usual int) int {
	if chosen, err := strconv.Atoi(r.URL.Query().Get(parameter)); err == nil && chosen >= 200 && chosen < 600 {
		return chosen
	}
	return usual
}
