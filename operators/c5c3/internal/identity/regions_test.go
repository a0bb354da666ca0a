package identity

import (
	"encoding/json"
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
	// updates counts changes of endpoints.
	updates int
	// forbidden is a request that Keystone rejects.
	forbidden string
}

func newCatalogAPI(t *testing.T, endpoints map[string]string) *catalogAPI {
	t.Helper()
	api := &catalogAPI{endpoints: endpoints, regions: map[string]bool{"RegionOne": true}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v3/auth/tokens", (&staffAPI{}).logIn)
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
			w.WriteHeader(http.StatusForbidden)
			return
		}
		next(w, r)
	}
}

// update behaves like Keystone, which does not create a missing region for an endpoint.
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
	case region == "":
		_, _ = io.WriteString(w, `{"endpoint":{"region":null,"region_id":null}}`)
	default:
		_, _ = fmt.Fprintf(w, `{"endpoint":{"region":%[1]q,"region_id":%[1]q}}`, region)
	}
}

func TestEndpointsThatAreNotInTheRegionArePutIntoIt(t *testing.T) {
	api := newCatalogAPI(t, map[string]string{"one": "", "two": "RegionOne", "three": "RegionTwo"})
	verdict, err := SetRegionOverHTTP(t.Context(), api.url, "adm1n", "RegionOne", []string{"one", "two", "three"})
	want := map[string]string{"one": "RegionOne", "two": "RegionOne", "three": "RegionOne"}
	if verdict != Accepted || err != nil || !maps.Equal(api.endpoints, want) || api.updates != 2 {
		t.Errorf("got %v and %v after %d updates: %v", verdict, err, api.updates, api.endpoints)
	}
}

func TestARegionThatKeystoneDoesNotHaveIsCreated(t *testing.T) {
	api := newCatalogAPI(t, map[string]string{"one": "", "two": ""})
	verdict, err := SetRegionOverHTTP(t.Context(), api.url, "adm1n", "EU-West", []string{"one", "two"})
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
		verdict, err := SetRegionOverHTTP(t.Context(), api.url, "adm1n", "EU-West", []string{row.endpoint})
		if verdict != Rejected || err == nil || err.Error() != row.says {
			t.Errorf("got %v and %v, want %s", verdict, err, row.says)
		}
	}
}

func TestWithoutALoginNothingIsKnownAboutRegions(t *testing.T) {
	api := newCatalogAPI(t, map[string]string{"one": ""})
	verdict, err := SetRegionOverHTTP(t.Context(), api.url, "wr0ng", "RegionOne", []string{"one"})
	if verdict != Unproven || err == nil || strings.Contains(err.Error(), "wr0ng") || api.updates > 0 {
		t.Errorf("got %v and %v", verdict, err)
	}
}
