package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	callback = "https://keystone.example.com/redirect?kept=1"
	verifier = "a-verifier-of-a-client"
	// secret has characters that a header with an encoded password changes.
	secret = `client+$ecret %2B"`
)

const realmsJSON = `{
  "staff": {
    "introspection": true,
    "clients": {
      "keystone": {"password": "client", "redirects": ["` + callback + `"]},
      "openstack": {"password": "client", "audiences": ["keystone"]}
    },
    "users": {"ann": {"password": "user", "email": "ann@example.org", "groups": ["cloud", "staff"]}, "nobody": {}}
  },
  "partners": {"clients": {"keystone": {"password": "client"}}, "users": {"bob": {"password": "user"}}}
}`

// fixture is a provider with two realms.
type fixture struct {
	*testing.T
	server *httptest.Server
	realms map[string]*realm
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	folder := t.TempDir()
	for name, content := range map[string]string{"realms.json": realmsJSON, "client": secret, "user": "user password"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mux := http.NewServeMux()
	f := &fixture{T: t, server: httptest.NewTLSServer(mux)}
	t.Cleanup(f.server.Close)
	f.server.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	realms, err := loadRealms(options{url: f.server.URL, realms: filepath.Join(folder, "realms.json"), passwords: folder})
	if err != nil {
		t.Fatal(err)
	}
	f.realms = realms
	mux.Handle("/", handler(realms))
	return f
}

// reply is the answer to a request.
type reply struct {
	StatusCode int
	Status     string
	// Location is where it sends a browser, nil for nowhere.
	Location *url.URL
	// Page is what it shows, "" for JSON.
	Page string
}

// send sends a request to a path, and returns the answer with its JSON, if it has any.
func (f *fixture) send(path string, fields url.Values, header ...string) (reply, map[string]any) {
	f.Helper()
	method, body := http.MethodGet, io.Reader(nil)
	if fields != nil {
		method, body = http.MethodPost, strings.NewReader(fields.Encode())
	}
	req, err := http.NewRequestWithContext(f.Context(), method, f.server.URL+path, body)
	if err != nil {
		f.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if len(header) == 1 {
		req.Header.Set("Authorization", "Bearer "+header[0])
	} else if len(header) == 2 {
		req.SetBasicAuth(header[0], header[1])
	}
	got, err := f.server.Client().Do(req)
	if err != nil {
		f.Fatal(err)
	}
	defer got.Body.Close()
	content, page := map[string]any{}, []byte(nil)
	if strings.HasPrefix(got.Header.Get("Content-Type"), "application/json") {
		if err := json.NewDecoder(got.Body).Decode(&content); err != nil {
			f.Fatal(err)
		}
	} else if page, err = io.ReadAll(got.Body); err != nil {
		f.Fatal(err)
	}
	to, _ := got.Location()
	return reply{got.StatusCode, got.Status, to, string(page)}, content
}

// wanted is the query with which Keystone's proxy sends a browser to the provider.
func wanted() url.Values {
	return url.Values{
		"response_type": {"code"}, "client_id": {"keystone"}, "redirect_uri": {callback}, "scope": {"openid email"},
		"state": {"the state"}, "nonce": {"the nonce"}, "code_challenge": {challengeOf(verifier)}, "code_challenge_method": {"S256"},
	}
}

// code logs a user in with a browser.
func (f *fixture) code() string {
	f.Helper()
	path := "/realms/staff/authorize?" + wanted().Encode()
	if got, _ := f.send(path, nil); got.StatusCode != http.StatusOK {
		f.Fatalf("the form: %s", got.Status)
	}
	got, _ := f.send(path, url.Values{"username": {"ann"}, "password": {"user password"}})
	if got.Location == nil || got.StatusCode != http.StatusSeeOther {
		f.Fatalf("%s, to %v", got.Status, got.Location)
	}
	query := got.Location.Query()
	if query.Get("state") != "the state" || query.Get("kept") != "1" {
		f.Errorf("the browser is sent to %s", got.Location)
	}
	return query.Get("code")
}

func exchange(code string) url.Values {
	return url.Values{"grant_type": {grantCode}, "code": {code}, "redirect_uri": {callback}, "code_verifier": {verifier}}
}

// access gets an access token of a user with the password.
func (f *fixture) access(realm, client, user string) string {
	f.Helper()
	_, content := f.send("/realms/"+realm+"/token", url.Values{
		"grant_type": {grantPassword}, "username": {user}, "password": {"user password"},
	}, client, secret)
	token, _ := content["access_token"].(string)
	if token == "" {
		f.Fatalf("no token: %v", content)
	}
	return token
}

func TestABrowserLogsInWithACode(t *testing.T) {
	f := newFixture(t)
	got, content := f.send("/realms/staff/token", exchange(f.code()), "keystone", url.QueryEscape(secret))
	if got.StatusCode != http.StatusOK || content["id_token"] == nil {
		t.Fatalf("%s: %v", got.Status, content)
	}
	_, info := f.send("/realms/staff/userinfo", nil, content["access_token"].(string))
	if info["sub"] != "ann" || info["email"] != "ann@example.org" {
		t.Errorf("about the user: %v", info)
	}
	// The token about the user opens nothing.
	if got, _ := f.send("/realms/staff/userinfo", nil, content["id_token"].(string)); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("the other token: %s", got.Status)
	}
}

func TestACodeCountsOnceForItsClient(t *testing.T) {
	f := newFixture(t)
	for name, change := range map[string]func(fields url.Values){
		"used before":      func(fields url.Values) { f.send("/realms/staff/token", fields, "keystone", secret) },
		"another verifier": func(fields url.Values) { fields.Set("code_verifier", "another") },
		"another address":  func(fields url.Values) { fields.Set("redirect_uri", "https://elsewhere.example.com") },
		"too late":         func(url.Values) { f.realms["staff"].now = func() time.Time { return time.Now().Add(codeLifetime) } },
	} {
		f.realms["staff"].now = time.Now
		fields := exchange(f.code())
		change(fields)
		if got, content := f.send("/realms/staff/token", fields, "keystone", secret); content["error"] != "invalid_grant" {
			t.Errorf("%s: %s, %v", name, got.Status, content)
		}
	}
	f.realms["staff"].now = time.Now
	if _, content := f.send("/realms/staff/token", exchange(f.code()), "openstack", secret); content["error"] != "invalid_grant" {
		t.Errorf("another client: %v", content)
	}
}

func TestABrowserIsSentToTheAddressOfAClientOnly(t *testing.T) {
	f := newFixture(t)
	for name, change := range map[string]func(url.Values){
		"another address": func(query url.Values) { query.Set("redirect_uri", "https://elsewhere.example.com") },
		"another client":  func(query url.Values) { query.Set("client_id", "openstack") },
	} {
		query := wanted()
		change(query)
		if got, _ := f.send("/realms/staff/authorize?"+query.Encode(), nil); got.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s", name, got.Status)
		}
	}
	query := wanted()
	query.Del("code_challenge")
	got, _ := f.send("/realms/staff/authorize?"+query.Encode(), nil)
	if got.Location == nil || got.Location.Query().Get("error") != "invalid_request" {
		t.Errorf("without PKCE: %s, %v", got.Status, got.Location)
	}
}

func TestAWrongPasswordGetsNothing(t *testing.T) {
	f := newFixture(t)
	path := "/realms/staff/authorize?" + wanted().Encode()
	for _, fields := range []url.Values{
		{"username": {"ann"}, "password": {"wrong"}},
		{"username": {"nobody"}, "password": {""}},
		{"username": {"bob"}, "password": {"user password"}},
	} {
		if got, _ := f.send(path, fields); got.StatusCode != http.StatusUnauthorized {
			t.Errorf("%v: the form answers %s", fields, got.Status)
		}
		fields.Set("grant_type", grantPassword)
		if _, content := f.send("/realms/staff/token", fields, "openstack", secret); content["error"] != "invalid_grant" {
			t.Errorf("%v: %v", fields, content)
		}
	}
	_, content := f.send("/realms/staff/token", url.Values{"grant_type": {grantClient}}, "keystone", "wrong")
	if content["error"] != "invalid_client" {
		t.Errorf("a wrong password of the client: %v", content)
	}
}

func TestATokenIsForTheAudiencesOfItsClientAndOfOneRealm(t *testing.T) {
	f := newFixture(t)
	token := f.access("staff", "openstack", "ann")
	_, said := f.send("/realms/staff/introspect", url.Values{"token": {token}}, "keystone", secret)
	groups, _ := said["groups"].([]any)
	if said["active"] != true || !slices.Equal(groups, []any{"cloud", "staff"}) || said["aud"] != "keystone" {
		t.Errorf("about the token: %v", said)
	}
	other := f.access("partners", "keystone", "bob")
	if _, said := f.send("/realms/staff/introspect", url.Values{"token": {other}}, "keystone", secret); said["active"] != false {
		t.Errorf("about a token of another realm: %v", said)
	}
	if got, _ := f.send("/realms/partners/introspect", url.Values{}, "keystone", secret); got.StatusCode != http.StatusNotFound {
		t.Errorf("a realm without introspection: %s", got.Status)
	}
	f.realms["staff"].now = func() time.Time { return time.Now().Add(tokenLifetime + time.Second) }
	if _, said := f.send("/realms/staff/introspect", url.Values{"token": {token}}, "keystone", secret); said["active"] != false {
		t.Errorf("about an expired token: %v", said)
	}
}

func TestADiscoveryDocumentHasTheIssuerWithItsPath(t *testing.T) {
	f := newFixture(t)
	for name, introspection := range map[string]bool{"staff": true, "partners": false} {
		_, document := f.send("/realms/"+name+"/.well-known/openid-configuration", nil)
		if document["issuer"] != f.server.URL+"/realms/"+name || (document["introspection_endpoint"] != nil) != introspection {
			t.Errorf("%s: %v", name, document)
		}
		if _, keys := f.send("/realms/"+name+"/keys", nil); len(keys["keys"].([]any)) != 1 {
			t.Errorf("%s: %v", name, keys)
		}
	}
}
