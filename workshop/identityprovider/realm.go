package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// keyBits is the size of the keys that sign tokens and assertions.
const keyBits = 2048

// account is what clients and users have in common: Password names the file with it.
type account struct {
	Password string `json:"password"`
}

// client is a program that is registered with a realm. The tokens that it gets are for Audiences,
// or for itself without any. Browsers come back to one of Redirects.
type client struct {
	account
	Audiences []string `json:"audiences"`
	Redirects []string `json:"redirects"`
}

type user struct {
	account
	Email  string   `json:"email"`
	Groups []string `json:"groups"`
}

// realm is one issuer, or identity provider of SAML, with its clients and users by name.
type realm struct {
	// Introspection is offered to clients that would otherwise verify tokens themselves.
	Introspection bool              `json:"introspection"`
	Clients       map[string]client `json:"clients"`
	Users         map[string]user   `json:"users"`
	// ServiceProviders are those of SAML: entity IDs that are the URLs of their metadata.
	ServiceProviders []string `json:"serviceProviders"`

	issuer    string
	passwords string
	now       func() time.Time
	key       *rsa.PrivateKey
	keyID     string
	signer    jose.Signer
	endpoints *http.ServeMux

	mu    sync.Mutex
	codes map[string]login
}

// loadRealms reads the realms, and gives each a key.
func loadRealms(o options) (map[string]*realm, error) {
	text, err := os.ReadFile(o.realms)
	if err != nil {
		return nil, fmt.Errorf("-realms: %w", err)
	}
	realms := map[string]*realm{}
	if err := json.Unmarshal(text, &realms); err != nil {
		return nil, fmt.Errorf("%s: %w", o.realms, err)
	}
	for name, r := range realms {
		r.issuer, r.passwords, r.now, r.codes = strings.TrimSuffix(o.url, "/")+"/realms/"+name, o.passwords, time.Now, map[string]login{}
		if err := r.newKey(); err != nil {
			return nil, fmt.Errorf("the key of the realm %s: %w", name, err)
		}
		if r.endpoints, err = r.routes(); err != nil {
			return nil, fmt.Errorf("the realm %s: %w", name, err)
		}
	}
	return realms, nil
}

func (r *realm) newKey() (err error) {
	if r.key, err = rsa.GenerateKey(rand.Reader, keyBits); err != nil {
		return err
	}
	r.keyID = rand.Text()
	r.signer, err = jose.NewSigner(
		jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: r.key, KeyID: r.keyID}}, (&jose.SignerOptions{}).WithType("JWT"))
	return err
}

// knows reports whether the password is that of the account. An account without a file has none.
func (r *realm) knows(a account, given string) bool {
	if a.Password == "" {
		return false
	}
	password, err := os.ReadFile(filepath.Join(r.passwords, filepath.Base(a.Password)))
	return err == nil && len(password) > 0 && subtle.ConstantTimeCompare(password, []byte(given)) == 1
}

// routes returns the endpoints of the realm, below its path.
func (r *realm) routes() (*http.ServeMux, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", r.discovery)
	mux.HandleFunc("GET /keys", r.keys)
	mux.HandleFunc("GET /authorize", r.showForm)
	mux.HandleFunc("POST /authorize", r.logIn)
	mux.HandleFunc("POST /token", r.token)
	mux.HandleFunc("/userinfo", r.userinfo)
	if r.Introspection {
		mux.HandleFunc("POST /introspect", r.introspect)
	}
	return mux, r.addSAML(mux)
}

// discovery serves https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata.
func (r *realm) discovery(w http.ResponseWriter, _ *http.Request) {
	document := map[string]any{
		"issuer":                                r.issuer,
		"authorization_endpoint":                r.issuer + "/authorize",
		"token_endpoint":                        r.issuer + "/token",
		"userinfo_endpoint":                     r.issuer + "/userinfo",
		"jwks_uri":                              r.issuer + "/keys",
		"scopes_supported":                      []string{"openid", "profile", "email"},
		"response_types_supported":              []string{"code"},
		"grant_types_supported":                 []string{grantCode, grantPassword, grantClient},
		"subject_types_supported":               []string{"public"},
		"id_token_signing_alg_values_supported": []string{string(jose.RS256)},
		"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post"},
		"code_challenge_methods_supported":      []string{"S256"},
	}
	if r.Introspection {
		document["introspection_endpoint"] = r.issuer + "/introspect"
		document["introspection_endpoint_auth_methods_supported"] = []string{"client_secret_basic", "client_secret_post"}
	}
	answer(w, http.StatusOK, document)
}

func (r *realm) keys(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
		{Key: r.key.Public(), KeyID: r.keyID, Algorithm: string(jose.RS256), Use: "sig"},
	}})
}

func answer(w http.ResponseWriter, status int, content any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(content)
}

// refuse answers with an error of OAuth (https://www.rfc-editor.org/rfc/rfc6749#section-5.2).
func refuse(w http.ResponseWriter, status int, code string) {
	answer(w, status, map[string]string{"error": code})
}
