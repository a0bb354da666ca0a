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
)

// catalogAPI simulates a Keystone with an administrator and endpoints.
type catalogAPI struct {
	url string
	// endpoints maps the endpoints to their regions; regions are the existing ones.
	endpoints map[string]string
	regions   map[string]bool
	// updates are how often an endpoint was changed, and staff whose logins count.
	updates int
	staff   staffAPI
	// status is the answer to logins with the application credential, zero for a token.
	status int
	// forbidden is a request that Keystone refuses, and refusal its answer then.
	forbidden string
	refusal   int
}

func newCatalogAPI(t *testing.T, endpoints map[string]string) *catalogAPI {
	t.Helper()
	api := &catalogAPI{endpoints: endpoints, regions: map[string]bool{"RegionOne": true}, refusal: http.StatusForbidden}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v3/auth/tokens", api.logIn)
	mux.HandleFunc("GET /v3/endpoints/{id}", api.guarded(func(w http.ResponseWriter, r *http.Request) {
		api.show(w, r.PathValue("id"))
	}))
	mux.HandleFunc("PATCH /v3/endpoints/{id}", api.guarded(api.update))
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
		entries = append(entries, fmt.Sprintf(`{"id":%q,"interface":"public","region":%[2]q,"region_id":%[2]q}`, id, region))
	}
	w.WriteHeader(http.StatusCreated)
	_, _ = fmt.Fprintf(w, `{"token":{"catalog":[{"type":"identity","endpoints":[%s]}]}}`, strings.Join(entries, ","))
}

// set is SetRegion with the application credential.
func (api *catalogAPI) set(t *testing.T, password, region string, ids ...string) (Verdict, error) {
	t.Helper()
	return NewAdministrator(nil).SetRegion(t.Context(), api.url, Credential{ID: "the-id", Secret: "s3cret"}, password, region, ids)
}

// update answers as Keystone does, which creates no region for an endpoint.
func (api *catalogAPI) update(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	region := strings.TrimSuffix(strings.TrimPrefix(string(text), `{"endpoint":{"region_id":"`), `"}}`)
	if !api.regions[region] {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	api.updates++
	api.endpoints[r.PathValue("id")] = region
	api.show(w, r.PathValue("id"))
}

func (api *catalogAPI) show(w http.ResponseWriter, id string) {
	region, found := api.endpoints[id]
	switch {
	case !found:
		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprintf(w, `{"error":{"code":404,"message":"Could not find endpoint: %s.","title":"Not Found"}}`, id)
	case region == "":
		_, _ = io.WriteString(w, `{"endpoint":{"region":null,"region_id":null}}`)
	default:
		_, _ = fmt.Fprintf(w, `{"endpoint":{"region":%[1]q,"region_id":%[1]q}}`, region)
	}
}

func TestEndpointsThatAreNotInTheRegionArePutIntoIt(t *testing.T) {
	api := newCatalogAPI(t, map[string]string{"one": "", "two": "RegionOne", "three": "RegionTwo"})
	verdict, err := api.set(t, "adm1n", "RegionOne", "one", "two", "three")
	want := map[string]string{"one": "RegionOne", "two": "RegionOne", "three": "RegionOne"}
	if verdict != Accepted || err != nil || !maps.Equal(api.endpoints, want) || api.updates != 2 {
		t.Errorf("got %v and %v after %d updates: %v", verdict, err, api.updates, api.endpoints)
	}
}

func TestARegionThatKeystoneDoesNotHaveIsCreated(t *testing.T) {
	api := newCatalogAPI(t, map[string]string{"one": "", "two": ""})
	verdict, err := api.set(t, "adm1n", "EU-West", "one", "two")
	want := map[string]string{"one": "EU-West", "two": "EU-West"}
	if verdict != Accepted || err != nil || !maps.Equal(api.endpoints, want) || !api.regions["EU-West"] {
		t.Errorf("got %v and %v: %v", verdict, err, api.endpoints)
	}
}

func TestWhatKeystoneRefusesAboutARegionIsNamed(t *testing.T) {
	for _, row := range []struct{ endpoint, forbidden, says string }{
		{"gone", "", "reading the endpoint gone: it answered with status 404"},
		{"one", "PATCH /v3/endpoints/one", "setting the region of the endpoint one: it answered with status 403"},
		{"one", "POST /v3/regions", "creating the region EU-West: it answered with status 403"},
	} {
		api := newCatalogAPI(t, map[string]string{"one": ""})
		api.forbidden = row.forbidden
		verdict, err := api.set(t, "adm1n", "EU-West", row.endpoint)
		if verdict != Rejected || err == nil || err.Error() != row.says {
			t.Errorf("got %v and %v, want %s", verdict, err, row.says)
		}
	}
}

func TestWithoutALoginNothingIsKnownAboutRegions(t *testing.T) {
	api := newCatalogAPI(t, map[string]string{"one": ""})
	verdict, err := api.set(t, "wr0ng", "RegionOne", "one")
	if verdict != Unproven || !errors.Is(err, ErrPassword) || strings.Contains(err.Error(), "wr0ng") || api.updates > 0 {
		t.Errorf("got %v and %v", verdict, err)
	}
}

func TestEndpointsThatAreInTheRegionAreSeenWithoutTheAdministratorsPassword(t *testing.T) {
	api := newCatalogAPI(t, map[string]string{"one": "RegionOne", "two": "RegionOne", "somebody's": "RegionTwo"})
	if verdict, err := api.set(t, "wr0ng", "RegionOne", "one", "two"); verdict != Accepted || err != nil || api.staff.admins > 0 {
		t.Errorf("got %v and %v after %d logins of the administrator", verdict, err, api.staff.admins)
	}
}

func TestTheAdministratorLooksWhereTheCredentialCannot(t *testing.T) {
	for name, look := range map[string]Credential{"none": {}, "refused": {ID: "the-id", Secret: "s3cret"}} {
		api := newCatalogAPI(t, map[string]string{"one": "RegionOne", "two": ""})
		api.status = http.StatusUnauthorized
		verdict, err := NewAdministrator(nil).SetRegion(t.Context(), api.url, look, "adm1n", "RegionOne", []string{"one", "two"})
		if verdict != Accepted || err != nil || api.updates != 1 {
			t.Errorf("%s: got %v and %v after %d updates", name, verdict, err, api.updates)
		}
	}
}

func TestAKeystoneThatCannotAnswerTheCredentialIsNotSentThePassword(t *testing.T) {
	api := newCatalogAPI(t, map[string]string{"one": ""})
	api.status = http.StatusServiceUnavailable
	if verdict, err := api.set(t, "adm1n", "RegionOne", "one"); verdict != Unproven || err == nil || api.staff.admins > 0 {
		t.Errorf("got %v and %v after %d logins of the administrator", verdict, err, api.staff.admins)
	}
}

func TestOnlyARefusalOfTheRequestItselfIsOne(t *testing.T) {
	for status, want := range map[int]Verdict{
		http.StatusBadRequest: Rejected, http.StatusForbidden: Rejected, http.StatusConflict: Rejected,
		http.StatusUnauthorized: Unproven, http.StatusNotFound: Unproven, http.StatusRequestTimeout: Unproven,
		http.StatusTooManyRequests: Unproven, http.StatusServiceUnavailable: Unproven,
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
