package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
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

// endpoint is where an API is, according to the catalog.
type endpoint struct {
	tokens.Endpoint

	// service is the type of the service, such as identity.
	service string
}

func (e endpoint) String() string {
	return strings.TrimSpace(strings.Join([]string{checkEndpoint, e.service, e.Interface, e.RegionID}, " "))
}

// reach requests the versions of the API at the endpoint, as clients do first, without a token.
func (r *run) reach(ctx context.Context, e endpoint, token string) (string, error) {
	code, location, document, err := r.get(ctx, e.URL, "")
	if err != nil {
		return "", err
	}
	version := versionOf(document)
	text, err := judged(e, code, location, version)
	if err != nil {
		return "", err
	}
	if version != "" {
		text += ", " + version
	}
	path, known := lists[e.service]
	if !known {
		return text, nil
	}
	address := strings.TrimRight(e.URL, "/") + path
	code, _, _, err = r.get(ctx, address, token)
	if err == nil && code != http.StatusOK {
		err = fmt.Errorf("%s answers a request of the administrator with HTTP status %d: see the log of its pods", address, code)
	}
	return text, err
}

// judged returns what an answer says about the endpoint. The services of a ControlPlane have to show
// their versions; others may need a token for that, or redirect to them.
func judged(e endpoint, code int, location, version string) (string, error) {
	text := fmt.Sprintf("%s answers with HTTP status %d", e.URL, code)
	own := e.service == TypeIdentity || e.service == TypePlacement
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

// get sends a request, with a token if there is one.
func (r *run) get(ctx context.Context, address, token string) (code int, location string, document []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil || request.URL.Host == "" {
		return 0, "", nil, fmt.Errorf("the catalog has %q, which is no URL of an API", address)
	}
	request.Header.Set("Accept", "application/json")
	if token != "" {
		request.Header.Set("X-Auth-Token", token)
	}
	response, err := r.Network.Client().Do(request)
	if failed, is := errors.AsType[*url.Error](err); is {
		return 0, "", nil, fmt.Errorf("%s cannot be reached: %w", address, failed.Err)
	}
	if err != nil {
		return 0, "", nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if document, err = io.ReadAll(io.LimitReader(response.Body, maxDocument)); err != nil {
		return 0, "", nil, fmt.Errorf("the answer of %s breaks off: %w", address, err)
	}
	return response.StatusCode, response.Header.Get("Location"), document, nil
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
	var one struct{ Version version }
	var list struct{ Versions []version }
	var wrapped struct {
		Versions struct{ Values []version }
	}
	all := []version{}
	switch {
	case json.Unmarshal(document, &one) == nil && one.Version.ID != "":
		all = []version{one.Version}
	case json.Unmarshal(document, &list) == nil:
		all = list.Versions
	case json.Unmarshal(document, &wrapped) == nil:
		all = wrapped.Versions.Values
	}
	if len(all) == 0 {
		return ""
	}
	current := all[max(0, slices.IndexFunc(all, func(v version) bool { return v.Status == "CURRENT" || v.Status == "stable" }))]
	if current.MaxVersion != "" {
		return current.ID + " up to " + current.MaxVersion
	}
	return current.ID
}
