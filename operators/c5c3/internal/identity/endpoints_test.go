package identity

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/c5c3/forge/internal/common/ask"
)

// catalogAPI simulates a Keystone with an administrator and endpoints.
type catalogAPI struct {
	url string
	// endpoints maps the endpoints to their regions; regions are the existing ones. odd are
	// those that are not public, enabled and at [urlOf] their id.
	endpoints map[string]string
	odd       map[string]inCatalog
	regions   map[string]bool
	// updates are how often an endpoint was changed, and staff whose logins count.
	updates int
	staff   staffAPI
	// disabled is true if the service is.
	disabled bool
	// status is the answer to logins with the application credential, zero for a token.
	status int
	// forbidden is a request that Keystone refuses, and refusal its answer then.
	forbidden string
	refusal   int
}

func newCatalogAPI(t *testing.T, endpoints map[string]string) *catalogAPI {
	t.Helper()
	api := &catalogAPI{
		endpoints: endpoints, odd: map[string]inCatalog{}, regions: map[string]bool{"RegionOne": true}, refusal: http.StatusForbidden,
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v3/auth/tokens", api.logIn)
	mux.HandleFunc("GET /v3/endpoints/{id}", api.guarded(func(w http.ResponseWriter, r *http.Request) {
		api.show(w, r.PathValue("id"))
	}))
	mux.HandleFunc("PATCH /v3/endpoints/{id}", api.guarded(api.update))
	mux.HandleFunc("GET /v3/endpoints", api.guarded(api.list))
	mux.HandleFunc("POST /v3/endpoints", api.guarded(api.create))
	mux.HandleFunc("DELETE /v3/endpoints/{id}", api.guarded(func(w http.ResponseWriter, r *http.Request) {
		delete(api.endpoints, r.PathValue("id"))
		w.WriteHeader(http.StatusNoContent)
	}))
	mux.HandleFunc("GET /v3/services", api.guarded(func(w http.ResponseWriter, r *http.Request) {
		found := ""
		if r.URL.Query().Get("type") == "identity" && r.URL.Query().Get("name") == "keystone" {
			found = `{"id":"the-service"}`
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"services":[%s],"links":{}}`, found)
	}))
	mux.HandleFunc("DELETE /v3/services/{id}", api.guarded(func(w http.ResponseWriter, _ *http.Request) {
		api.disabled = true
		w.WriteHeader(http.StatusNoContent)
	}))
	mux.HandleFunc("GET /v3/services/{id}", api.guarded(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"service":{"id":%q,"enabled":%t}}`, r.PathValue("id"), !api.disabled)
	}))
	mux.HandleFunc("PATCH /v3/services/{id}", api.guarded(func(w http.ResponseWriter, _ *http.Request) {
		api.disabled = false
		api.updates++
		_, _ = io.WriteString(w, `{"service":{}}`)
	}))
	mux.HandleFunc("POST /v3/regions", api.guarded(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Region struct{ ID string } }
		_ = json.NewDecoder(r.Body).Decode(&body)
		if api.regions[body.Region.ID] {
			w.WriteHeader(http.StatusConflict)
			return
		}
		api.regions[body.Region.ID] = true
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"region":{}}`)
	}))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	api.url = server.URL + "/v3"
	return api
}

func (api *catalogAPI) guarded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Auth-Token") != "the-admin" || r.Method+" "+r.URL.Path == api.forbidden {
			w.WriteHeader(api.refusal)
			return
		}
		next(w, r)
	}
}

// logIn answers to the application credential with a catalog.
func (api *catalogAPI) logIn(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if !strings.Contains(string(body), `"application_credential":{"id":"the-id","secret":"s3cret"}`) {
		r.Body = io.NopCloser(bytes.NewReader(body))
		api.staff.logIn(w, r)
		return
	}
	if api.status != 0 {
		w.WriteHeader(api.status)
		return
	}
	entries := []string{}
	for id, region := range api.endpoints {
		if found := api.endpoint(id); found.Enabled && !api.disabled {
			entries = append(entries, fmt.Sprintf(`{"id":%q,"interface":%q,"url":%q,"region_id":%q}`, id, found.Interface, found.URL, region))
		}
	}
	w.WriteHeader(http.StatusCreated)
	_, _ = fmt.Fprintf(w, `{"token":{"catalog":[{"type":"identity","endpoints":[%s]}]}}`, strings.Join(entries, ","))
}

// set is SetEndpoints with the application credential.
func (api *catalogAPI) set(t *testing.T, password, region string, ids ...string) (ask.Verdict, error) {
	t.Helper()
	return NewAdministrator(nil).SetEndpoints(
		t.Context(), api.url, Credential{ID: "the-id", Secret: "s3cret"}, password, region, public(ids...))
}

// urlOf is where an endpoint is wanted.
func urlOf(id string) string { return "http://" + id }

// public returns the endpoints as they are wanted.
func public(ids ...string) []Endpoint {
	var all []Endpoint
	for _, id := range ids {
		all = append(all, Endpoint{ID: id, ServiceID: "the-service", Interface: "public", URL: urlOf(id)})
	}
	return all
}

func (api *catalogAPI) endpoint(id string) inCatalog {
	if odd, found := api.odd[id]; found {
		return odd
	}
	return inCatalog{Interface: "public", URL: urlOf(id), Enabled: true}
}

func (api *catalogAPI) list(w http.ResponseWriter, r *http.Request) {
	var all []string
	query := r.URL.Query()
	for id, region := range api.endpoints {
		found := api.endpoint(id)
		matches := func(name, value string) bool { return !query.Has(name) || value == query.Get(name) }
		if matches("region_id", region) && matches("interface", found.Interface) {
			all = append(all, fmt.Sprintf(`{"id":%q,"interface":%q,"url":%q,"region_id":%q}`, id, found.Interface, found.URL, region))
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"endpoints":[%s],"links":{}}`, strings.Join(all, ","))
}

func (api *catalogAPI) create(w http.ResponseWriter, r *http.Request) {
	var body struct{ Endpoint inCatalog }
	_ = json.NewDecoder(r.Body).Decode(&body)
	if !api.regions[body.Endpoint.RegionID] {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	api.endpoints["made"], api.odd["made"] = body.Endpoint.RegionID, body.Endpoint
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, `{"endpoint":{"id":"made"}}`)
}

// update answers as Keystone does, which creates no region for an endpoint.
func (api *catalogAPI) update(w http.ResponseWriter, r *http.Request) {
	var body struct{ Endpoint map[string]any }
	_ = json.NewDecoder(r.Body).Decode(&body)
	id := r.PathValue("id")
	found := api.endpoint(id)
	for name, value := range body.Endpoint {
		switch name {
		case "region_id":
			if !api.regions[value.(string)] {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			api.endpoints[id] = value.(string)
		case "url":
			found.URL = value.(string)
		case "interface":
			found.Interface = value.(string)
		case "enabled":
			found.Enabled = value.(bool)
		}
	}
	api.odd[id] = found
	api.updates++
	api.show(w, r.PathValue("id"))
}

func (api *catalogAPI) show(w http.ResponseWriter, id string) {
	region, found := api.endpoints[id]
	switch {
	case !found:
		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprintf(w, `{"error":{"code":404,"message":"Could not find endpoint: %s.","title":"Not Found"}}`, id)
	default:
		api.odd[id] = api.endpoint(id)
		shown := map[string]any{"id": id, "url": api.odd[id].URL, "interface": api.odd[id].Interface, "enabled": api.odd[id].Enabled}
		if region != "" {
			shown["region_id"] = region
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"endpoint": shown})
	}
}

func TestAnEndpointOfAnotherRegionIsNotMoved(t *testing.T) {
	api := newCatalogAPI(t, map[string]string{"one": "RegionTwo"})
	verdict, err := api.set(t, "adm1n", "RegionOne", "one")
	var elsewhere *ElsewhereError
	if verdict != ask.Rejected || !errors.As(err, &elsewhere) || elsewhere.Region != "RegionTwo" || api.updates > 0 {
		t.Errorf("got %v and %v after %d updates: %v", verdict, err, api.updates, api.endpoints)
	}
}

func TestCatalogDriftIsRepaired(t *testing.T) {
	for name, odd := range map[string]inCatalog{
		"another URL":       {Interface: "public", URL: "http://elsewhere", Enabled: true},
		"another interface": {Interface: "admin", URL: urlOf("one"), Enabled: true},
		"disabled":          {Interface: "public", URL: urlOf("one")},
	} {
		api := newCatalogAPI(t, map[string]string{"one": "RegionOne", "two": "RegionOne"})
		api.odd["one"] = odd
		verdict, err := api.set(t, "adm1n", "RegionOne", "one", "two")
		want := inCatalog{Interface: "public", URL: urlOf("one"), Enabled: true}
		if verdict != ask.Accepted || err != nil || api.updates != 1 || api.endpoint("one") != want {
			t.Errorf("%s: got %v and %v after %d updates: %+v", name, verdict, err, api.updates, api.endpoint("one"))
		}
	}
	api := newCatalogAPI(t, map[string]string{"one": "RegionOne"})
	api.disabled = true
	if verdict, err := api.set(t, "adm1n", "RegionOne", "one"); verdict != ask.Accepted || err != nil || api.disabled || api.updates != 1 {
		t.Errorf("a service that is disabled: got %v and %v", verdict, err)
	}
}

func TestAnEndpointIsFoundByItsRegionAndCreatedIfThereIsNone(t *testing.T) {
	for name, c := range map[string]struct {
		endpoints map[string]string
		id        string
		verdict   ask.Verdict
	}{
		"in the region":       {map[string]string{"one": "RegionTwo", "two": "RegionOne"}, "two", ask.Accepted},
		"in another one":      {map[string]string{"one": "RegionTwo"}, "made", ask.Accepted},
		"two in the region":   {map[string]string{"one": "RegionOne", "two": "RegionOne"}, "", ask.Rejected},
		"in a region to make": {map[string]string{}, "made", ask.Accepted},
	} {
		api := newCatalogAPI(t, c.endpoints)
		if len(c.endpoints) == 0 {
			api.regions = map[string]bool{}
		}
		id, verdict, err := NewAdministrator(nil).FindEndpoint(t.Context(), api.url, "adm1n", "RegionOne", public("one")[0])
		if id != c.id || verdict != c.verdict || (err == nil) != (verdict == ask.Accepted) {
			t.Errorf("%s: got %q, %v and %v", name, id, verdict, err)
		}
		if c.id == "made" && (api.endpoints["made"] != "RegionOne" || api.odd["made"].URL != urlOf("one")) {
			t.Errorf("%s: it is in region %s: %+v", name, api.endpoints["made"], api.odd["made"])
		}
	}
}

func TestEndpointsWithoutARegionAreMovedIntoIt(t *testing.T) {
	api := newCatalogAPI(t, map[string]string{"one": "", "two": "RegionOne", "three": ""})
	verdict, err := api.set(t, "adm1n", "RegionOne", "one", "two", "three")
	want := map[string]string{"one": "RegionOne", "two": "RegionOne", "three": "RegionOne"}
	if verdict != ask.Accepted || err != nil || !maps.Equal(api.endpoints, want) || api.updates != 2 {
		t.Errorf("got %v and %v after %d updates: %v", verdict, err, api.updates, api.endpoints)
	}
}

func TestARegionThatKeystoneDoesNotHaveIsCreated(t *testing.T) {
	api := newCatalogAPI(t, map[string]string{"one": "", "two": ""})
	verdict, err := api.set(t, "adm1n", "EU-West", "one", "two")
	want := map[string]string{"one": "EU-West", "two": "EU-West"}
	if verdict != ask.Accepted || err != nil || !maps.Equal(api.endpoints, want) || !api.regions["EU-West"] {
		t.Errorf("got %v and %v: %v", verdict, err, api.endpoints)
	}
}

func TestARefusedRegionRequestIsReported(t *testing.T) {
	for _, row := range []struct{ endpoint, forbidden, says string }{
		{"gone", "", "reading the endpoint gone: it answered with status 404"},
		{"one", "PATCH /v3/endpoints/one", "correcting the endpoint one: it answered with status 403"},
		{"one", "POST /v3/regions", "creating the region EU-West: it answered with status 403"},
	} {
		api := newCatalogAPI(t, map[string]string{"one": ""})
		api.forbidden = row.forbidden
		verdict, err := api.set(t, "adm1n", "EU-West", row.endpoint)
		if verdict != ask.Rejected || err == nil || err.Error() != row.says {
			t.Errorf("got %v and %v, want %s", verdict, err, row.says)
		}
	}
}

func TestARefusedPasswordLeavesTheRegionUnproven(t *testing.T) {
	api := newCatalogAPI(t, map[string]string{"one": ""})
	verdict, err := api.set(t, "wr0ng", "RegionOne", "one")
	if verdict != ask.Unproven || !errors.Is(err, ErrPassword) || strings.Contains(err.Error(), "wr0ng") || api.updates > 0 {
		t.Errorf("got %v and %v", verdict, err)
	}
}

func TestRegionsAreCheckedWithTheApplicationCredentialFirst(t *testing.T) {
	api := newCatalogAPI(t, map[string]string{"one": "RegionOne", "two": "RegionOne", "somebody's": "RegionTwo"})
	if verdict, err := api.set(t, "wr0ng", "RegionOne", "one", "two"); verdict != ask.Accepted || err != nil || api.staff.admins > 0 {
		t.Errorf("got %v and %v after %d logins of the administrator", verdict, err, api.staff.admins)
	}
}

func TestRegionsAreCheckedAsAdministratorIfTheCredentialIsRefused(t *testing.T) {
	for name, look := range map[string]Credential{"none": {}, "refused": {ID: "the-id", Secret: "s3cret"}} {
		api := newCatalogAPI(t, map[string]string{"one": "RegionOne", "two": ""})
		api.status = http.StatusUnauthorized
		verdict, err := NewAdministrator(nil).SetEndpoints(t.Context(), api.url, look, "adm1n", "RegionOne", public("one", "two"))
		if verdict != ask.Accepted || err != nil || api.updates != 1 {
			t.Errorf("%s: got %v and %v after %d updates", name, verdict, err, api.updates)
		}
	}
}

func TestAnUnavailableKeystoneIsNotSentThePassword(t *testing.T) {
	api := newCatalogAPI(t, map[string]string{"one": ""})
	api.status = http.StatusServiceUnavailable
	if verdict, err := api.set(t, "adm1n", "RegionOne", "one"); verdict != ask.Unproven || err == nil || api.staff.admins > 0 {
		t.Errorf("got %v and %v after %d logins of the administrator", verdict, err, api.staff.admins)
	}
}

func TestOnlyPermanentClientErrorsAreRejections(t *testing.T) {
	for status, want := range map[int]ask.Verdict{
		http.StatusBadRequest: ask.Rejected, http.StatusForbidden: ask.Rejected, http.StatusConflict: ask.Rejected,
		http.StatusUnauthorized: ask.Unproven, http.StatusNotFound: ask.Unproven, http.StatusRequestTimeout: ask.Unproven,
		http.StatusTooManyRequests: ask.Unproven, http.StatusServiceUnavailable: ask.Unproven,
	} {
		api := newCatalogAPI(t, map[string]string{"one": ""})
		api.forbidden, api.refusal = "GET /v3/endpoints/one", status
		verdict, err := api.set(t, "adm1n", "RegionOne", "one")
		says := fmt.Sprintf("reading the endpoint one: it answered with status %d", status)
		if verdict != want || err == nil || err.Error() != says {
			t.Errorf("status %d: got %v and %v", status, verdict, err)
		}
	}
}
