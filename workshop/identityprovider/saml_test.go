package main

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/xml"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crewjam/saml"
	dsig "github.com/russellhaering/goxmldsig"
)

// serviceProvider returns one that the realm "staff" knows, and that knows the metadata of the realm.
func (f *fixture) serviceProvider() *saml.ServiceProvider {
	f.Helper()
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		f.Fatal(err)
	}
	certificate, err := certificateOf(key, time.Now())
	if err != nil {
		f.Fatal(err)
	}
	sp := &saml.ServiceProvider{
		Key: key, Certificate: certificate, SignatureMethod: dsig.RSASHA256SignatureMethod, IDPMetadata: &saml.EntityDescriptor{},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = xml.NewEncoder(w).Encode(sp.Metadata())
	}))
	f.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		f.Fatal(err)
	}
	sp.EntityID, sp.MetadataURL, sp.AcsURL = server.URL, *at, *at.JoinPath("acs")
	f.realms["staff"].ServiceProviders = []string{server.URL}
	got, _ := f.send("/realms/staff/saml/metadata", nil)
	if err := xml.Unmarshal([]byte(got.Page), sp.IDPMetadata); err != nil {
		f.Fatal(err)
	}
	return sp
}

// ask returns the path with a request of the service provider, and its ID.
func (f *fixture) ask(sp *saml.ServiceProvider) (path, id string) {
	f.Helper()
	at := sp.GetSSOBindingLocation(saml.HTTPRedirectBinding)
	asked, err := sp.MakeAuthenticationRequest(at, saml.HTTPRedirectBinding, saml.HTTPPostBinding)
	if err != nil {
		f.Fatal(err)
	}
	to, err := asked.Redirect("the state", sp)
	if err != nil {
		f.Fatal(err)
	}
	return to.RequestURI(), asked.ID
}

var responseField = regexp.MustCompile(`name="SAMLResponse" value="([^"]*)"`)

// respond returns the response with which the page sends a browser to the service provider.
func (f *fixture) respond(path string) []byte {
	f.Helper()
	got, _ := f.send(path, url.Values{"username": {"ann"}, "password": {"user password"}})
	field := responseField.FindStringSubmatch(got.Page)
	if field == nil || !strings.Contains(got.Page, `name="RelayState" value="the state"`) {
		f.Fatalf("%s: %s", got.Status, got.Page)
	}
	response, err := base64.StdEncoding.DecodeString(html.UnescapeString(field[1]))
	if err != nil {
		f.Fatal(err)
	}
	return response
}

func TestASAMLLoginEndsWithASignedAndEncryptedAssertion(t *testing.T) {
	f := newFixture(t)
	sp := f.serviceProvider()
	path, id := f.ask(sp)
	if got, _ := f.send(path, nil); got.StatusCode != http.StatusOK || !strings.Contains(got.Page, `name="password"`) {
		t.Fatalf("the form: %s", got.Status)
	}
	response := f.respond(path)
	if !strings.Contains(string(response), "EncryptedAssertion") {
		t.Errorf("the assertion is not encrypted")
	}
	assertion, err := sp.ParseXMLResponse(response, []string{id}, sp.AcsURL)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string][]string{}
	for _, attribute := range assertion.AttributeStatements[0].Attributes {
		for _, value := range attribute.Values {
			said[attribute.FriendlyName] = append(said[attribute.FriendlyName], value.Value)
		}
	}
	if !slices.Equal(said["uid"], []string{"ann"}) || !slices.Equal(said["eduPersonAffiliation"], []string{"cloud", "staff"}) {
		t.Errorf("about the user: %v", said)
	}
}

func TestAForgedAssertionHasAnotherKeyThanTheMetadata(t *testing.T) {
	f := newFixture(t)
	sp := f.serviceProvider()
	path, id := f.ask(sp)
	_, err := sp.ParseXMLResponse(f.respond(strings.Replace(path, "/sso", "/forged", 1)), []string{id}, sp.AcsURL)
	if err == nil {
		t.Error("it is accepted")
	}
}

func TestOnlySignedRequestsOfServiceProvidersOfTheRealmAreAnswered(t *testing.T) {
	f := newFixture(t)
	sp := f.serviceProvider()
	path, _ := f.ask(sp)
	if got, _ := f.send(path, url.Values{"username": {"ann"}, "password": {"wrong"}}); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("a wrong password: %s", got.Status)
	}
	for name, other := range map[string]string{
		"another realm": strings.Replace(path, "staff", "partners", 1), "no signature": path[:strings.Index(path, "&SigAlg")],
		"another state": strings.Replace(path, "RelayState=the", "RelayState=another", 1),
	} {
		if got, _ := f.send(other, nil); got.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s", name, got.Status)
		}
	}
}
