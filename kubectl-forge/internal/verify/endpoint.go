package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/c5c3/forge/kubectl-forge/internal/identity"
)

// maxDocument is the number of bytes that are read of an answer.
const maxDocument = 1 << 20

// Types of services in the catalog
// (https://service-types.openstack.org/service-types.json).
const (
	TypeIdentity  = "identity"
	TypePlacement = "placement"
)

// lists are requests that need a token and the database, by the type of the service. The versions
// of an API are shown without either.
var lists = map[string]string{TypePlacement: "/resource_classes"}

func endpointName(e identity.Endpoint) string {
	return strings.Join(strings.Fields(strings.Join([]string{checkEndpoint, e.Type, e.Interface, e.Region}, " ")), " ")
}

// reach requests the versions of the API at the endpoint, as clients do first, without a token.
func (r *run) reach(ctx context.Context, endpoint identity.Endpoint, token identity.Token) (string, error) {
	code, header, document, err := r.get(ctx, endpoint.URL, identity.Token{})
	if err != nil {
		return "", err
	}
	version := versionOf(document)
	text, err := judged(endpoint, code, header.Get("Location"), version)
	if err != nil {
		return "", err
	}
	if version != "" {
		text += ", " + version
	}
	return text, r.list(ctx, endpoint, token)
}

// judged returns what an answer says about the endpoint. The services of a ControlPlane have to show
// their versions; others may need a token for that, or redirect to them.
func judged(endpoint identity.Endpoint, code int, location, version string) (string, error) {
	text := fmt.Sprintf("%s answers with HTTP status %d", endpoint.URL, code)
	own := endpoint.Type == TypeIdentity || endpoint.Type == TypePlacement
	switch {
	case code == http.StatusOK || code == http.StatusMultipleChoices:
		if version == "" && own {
			return "", fmt.Errorf("%s, but not with the versions of an API: something else is at that URL", text)
		}
		return text, nil
	case code < http.StatusMultipleChoices, code == http.StatusUnauthorized, code == http.StatusForbidden:
		return text, nil
	case code >= http.StatusBadRequest:
		return "", fmt.Errorf("%s: correct the endpoint, or repair what is there", text)
	case own:
		return "", fmt.Errorf("%s and redirects to %s: correct the endpoint", text, location)
	}
	return text + " and redirects to " + location, nil
}

// list makes a request with the token, if there is one for the type of the service.
func (r *run) list(ctx context.Context, endpoint identity.Endpoint, token identity.Token) error {
	path, known := lists[endpoint.Type]
	if !known {
		return nil
	}
	address := strings.TrimRight(endpoint.URL, "/") + path
	code, _, _, err := r.get(ctx, address, token)
	if err == nil && code != http.StatusOK {
		err = fmt.Errorf("%s answers a request of the administrator with HTTP status %d: see the log of its pods", address, code)
	}
	return err
}

// get sends a request, with a token if there is one.
func (r *run) get(ctx context.Context, address string, token identity.Token) (int, http.Header, []byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, identity.Timeout, fmt.Errorf("no answer within %s", identity.Timeout))
	defer cancel()
	if parsed, err := url.Parse(address); err != nil || parsed.Host == "" {
		return 0, nil, nil, fmt.Errorf("the catalog has %q, which is no URL of an API", address)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, nil, nil, fmt.Errorf("the catalog has %q, which is no URL of an API", address)
	}
	request.Header.Set("Accept", "application/json")
	if len(token.Value) > 0 {
		request.Header.Set("X-Auth-Token", string(token.Value))
	}
	response, err := r.Network.Client().Do(request)
	if err != nil {
		return 0, nil, nil, fmt.Errorf("%s cannot be reached: %w", address, identity.Plain(ctx, err))
	}
	defer func() { _ = response.Body.Close() }()
	document, err := io.ReadAll(io.LimitReader(response.Body, maxDocument))
	if err != nil {
		return 0, nil, nil, fmt.Errorf("the answer of %s breaks off: %w", address, identity.Plain(ctx, err))
	}
	return response.StatusCode, response.Header, document, nil
}

// version is a version of an API, as its versions document describes it
// (https://specs.openstack.org/openstack/api-sig/guidelines/consuming-catalog/version-discovery.html).
type version struct {
	ID         string `json:"id"`
	Status     string `json:"status"`
	MaxVersion string `json:"max_version"`
}

// versionOf returns the current version in a versions document, "" if it is none. Keystone wraps the
// list at its root in an object.
func versionOf(document []byte) string {
	var parsed struct {
		Version  version         `json:"version"`
		Versions json.RawMessage `json:"versions"`
	}
	if json.Unmarshal(document, &parsed) != nil {
		return ""
	}
	var all []version
	var wrapped struct {
		Values []version `json:"values"`
	}
	switch {
	case parsed.Version.ID != "":
		all = []version{parsed.Version}
	case json.Unmarshal(parsed.Versions, &all) == nil:
	case json.Unmarshal(parsed.Versions, &wrapped) == nil:
		all = wrapped.Values
	}
	if len(all) == 0 {
		return ""
	}
	current := all[0]
	if n := slices.IndexFunc(all, func(v version) bool { return v.Status == "CURRENT" || v.Status == "stable" }); n >= 0 {
		current = all[n]
	}
	if current.MaxVersion != "" {
		return current.ID + " up to " + current.MaxVersion
	}
	return current.ID
}
