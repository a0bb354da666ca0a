package operators

import (
	"encoding/json"
	"net/http"
	"strings"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// login is a request for a token with an application credential.
// See https://docs.openstack.org/api-ref/identity/v3/.
type login struct {
	Auth struct {
		Identity struct {
			Credential struct{ ID, Secret string } `json:"application_credential"`
		}
	}
}

// token is the part of a token that shows the catalog.
type token struct {
	Catalog []catalogEntry `json:"catalog"`
}

type catalogEntry struct {
	Endpoints []endpoint `json:"endpoints"`
}

type endpoint struct {
	ID        string `json:"id"`
	Interface string `json:"interface"`
	RegionID  string `json:"region_id"`
	URL       string `json:"url"`
}

// answerLogin is the API of the Keystones of all control planes. It knows the application
// credentials and the endpoints that the stand-in of K-ORC has made in the namespace, all
// in the region, as after a bootstrap. There is nothing else that the operator asks for.
func (s *Standins) answerLogin(rw http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/v3/auth/tokens" {
		http.NotFound(rw, r)
		return
	}
	var asked login
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	_, rest, _ := strings.Cut(r.Host, ".")
	namespace, _, _ := strings.Cut(rest, ".")
	if credential := asked.Auth.Identity.Credential; !s.KORC.Accepts(namespace, credential.ID, credential.Secret) {
		http.Error(rw, "the application credential is unknown", http.StatusUnauthorized)
		return
	}
	rw.Header().Set("X-Subject-Token", "token-of-the-bench")
	rw.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(rw).Encode(map[string]token{"token": {Catalog: s.catalog(namespace)}})
}

func (s *Standins) catalog(namespace string) []catalogEntry {
	var endpoints []endpoint
	for name, id := range s.KORC.Names(namespace, "Endpoint") {
		// K-ORC finds an endpoint by these two.
		offered, url, _ := strings.Cut(name, " ")
		endpoints = append(endpoints, endpoint{ID: id, Interface: offered, RegionID: c5c3v1alpha1.DefaultRegion, URL: url})
	}
	return []catalogEntry{{Endpoints: endpoints}}
}
