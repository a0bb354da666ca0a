package testutil

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// The tokens of a [KeystoneAPI].
const (
	ProjectToken = "gAAAAA-for-a-project"
	SystemToken  = "gAAAAA-for-the-system"
)

// KeystoneAPI is a server with the part of the Identity API that a verification uses. Its fields are
// set before the first request.
type KeystoneAPI struct {
	// Password is the administrator's, and CredentialSecret that of the application credential "an-id".
	Password, CredentialSecret string
	// Catalog holds the URLs by type and interface, such as "identity public".
	Catalog map[string]string
	// SystemOnly are the requests, such as "POST /v3/projects", that only the administrator of the
	// system may make.
	SystemOnly []string
	// Before answers a request instead of the API if it returns true.
	Before func(w http.ResponseWriter, r *http.Request) bool
	// URL is where the API is.
	URL string

	mu       sync.Mutex
	projects map[string]string
	requests []string
}

// Serve starts the server, which ends with the test.
func (k *KeystoneAPI) Serve(t *testing.T) *KeystoneAPI {
	t.Helper()
	server := httptest.NewServer(k)
	t.Cleanup(server.Close)
	k.URL, k.projects = server.URL+"/v3", map[string]string{}
	return k
}

// Projects returns the names of the projects that exist.
func (k *KeystoneAPI) Projects() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Sorted(maps.Values(k.projects))
}

// Requests returns the methods and paths of all requests.
func (k *KeystoneAPI) Requests() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.requests)
}

// ServeHTTP answers a request.
func (k *KeystoneAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	k.requests = append(k.requests, r.Method+" "+r.URL.Path)
	k.mu.Unlock()
	if k.Before != nil && k.Before(w, r) {
		return
	}
	k.Answer(w, r)
}

// Answer answers a request as Keystone does.
func (k *KeystoneAPI) Answer(w http.ResponseWriter, r *http.Request) {
	known := func(token string) bool { return token == ProjectToken || token == SystemToken }
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v3", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, object{"version": object{"id": "v3.14", "status": "stable"}})
	})
	mux.HandleFunc("POST /v3/auth/tokens", k.logIn)
	mux.HandleFunc("GET /v3/auth/tokens", func(w http.ResponseWriter, r *http.Request) {
		if !known(r.Header.Get("X-Subject-Token")) {
			Refuse(w, http.StatusNotFound, "Could not find token: "+r.Header.Get("X-Subject-Token"))
			return
		}
		reply(w, http.StatusOK, object{"token": tokenOf("admin")})
	})
	mux.HandleFunc("GET /v3/auth/catalog", k.catalog)
	mux.HandleFunc("/v3/projects", k.serveProjects)
	mux.HandleFunc("/v3/projects/{id}", k.project)
	if r.Method+r.URL.Path != "POST/v3/auth/tokens" && r.URL.Path != "/v3" && !known(r.Header.Get("X-Auth-Token")) {
		Refuse(w, http.StatusUnauthorized, "The request you have made requires authentication.")
		return
	}
	if slices.Contains(k.SystemOnly, r.Method+" "+r.URL.Path) && r.Header.Get("X-Auth-Token") != SystemToken {
		Refuse(w, http.StatusForbidden, "You are not authorized to perform the requested action.")
		return
	}
	mux.ServeHTTP(w, r)
}

type object = map[string]any

func reply(w http.ResponseWriter, code int, document any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(document)
}

// Refuse answers a request with one of Keystone's errors.
func Refuse(w http.ResponseWriter, code int, message string) {
	reply(w, code, object{"error": object{"code": code, "message": message, "title": http.StatusText(code)}})
}

func tokenOf(user string) object {
	return object{
		"expires_at": "2026-11-23T13:00:00.000000Z",
		"user":       object{"name": user, "domain": object{"id": "default", "name": "Default"}},
		"project":    object{"name": "admin"},
	}
}

func (k *KeystoneAPI) logIn(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Auth struct {
			Identity struct {
				Password *struct {
					User struct{ Name, Password string }
				}
				ApplicationCredential *struct{ ID, Secret string } `json:"application_credential"`
			}
			Scope struct{ System *struct{ All bool } }
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	password, credential := body.Auth.Identity.Password, body.Auth.Identity.ApplicationCredential
	accepted := password != nil && password.User.Password == k.Password ||
		credential != nil && credential.ID == "an-id" && credential.Secret == k.CredentialSecret
	if !accepted {
		Refuse(w, http.StatusUnauthorized, "The request you have made requires authentication.")
		return
	}
	token := ProjectToken
	if body.Auth.Scope.System != nil {
		token = SystemToken
	}
	w.Header().Set("X-Subject-Token", token)
	reply(w, http.StatusCreated, object{"token": tokenOf("admin")})
}

func (k *KeystoneAPI) catalog(w http.ResponseWriter, _ *http.Request) {
	services := map[string][]object{}
	for _, name := range slices.Sorted(maps.Keys(k.Catalog)) {
		var service, side string
		_, _ = fmt.Sscan(name, &service, &side)
		services[service] = append(services[service], object{"interface": side, "region_id": "RegionOne", "url": k.Catalog[name]})
	}
	var all []object
	for _, service := range slices.Sorted(maps.Keys(services)) {
		all = append(all, object{"type": service, "endpoints": services[service]})
	}
	reply(w, http.StatusOK, object{"catalog": all})
}

func (k *KeystoneAPI) serveProjects(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.Method == http.MethodGet {
		var found []object
		for id, name := range k.projects {
			if name == r.URL.Query().Get("name") {
				found = append(found, object{"id": id, "name": name})
			}
		}
		reply(w, http.StatusOK, object{"projects": found})
		return
	}
	var body struct{ Project struct{ Name string } }
	_ = json.NewDecoder(r.Body).Decode(&body)
	id := fmt.Sprintf("id-%d", len(k.projects)+1)
	k.projects[id] = body.Project.Name
	reply(w, http.StatusCreated, object{"project": object{"id": id, "name": body.Project.Name}})
}

func (k *KeystoneAPI) project(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	id := r.PathValue("id")
	name, exists := k.projects[id]
	switch {
	case !exists:
		Refuse(w, http.StatusNotFound, "Could not find project: "+id+".")
	case r.Method == http.MethodDelete:
		delete(k.projects, id)
		w.WriteHeader(http.StatusNoContent)
	default:
		reply(w, http.StatusOK, object{"project": object{"id": id, "name": name}})
	}
}
