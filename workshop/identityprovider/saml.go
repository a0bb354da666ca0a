package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/xml"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/crewjam/saml"
)

const (
	// certificateLifetime is how long a certificate in the metadata is valid. The provider has others after each start.
	certificateLifetime = 365 * 24 * time.Hour
	// fetchTimeout is how long a service provider has to answer with its metadata.
	fetchTimeout = 10 * time.Second
	// maxMetadata is the most bytes of that.
	maxMetadata = 1 << 20
)

// foreignKey returns the key of forged assertions.
var foreignKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, keyBits) })

// addSAML adds the endpoints of the realm as a SAML 2.0 identity provider. It signs its assertions, and encrypts them
// for service providers whose metadata has a key for that. What comes from /saml/forged is like what comes from
// /saml/sso, but signed with a key that the metadata does not have.
func (r *realm) addSAML(mux *http.ServeMux) error {
	foreign, err := foreignKey()
	if err != nil {
		return err
	}
	genuine, err := r.identityProvider(r.key)
	if err != nil {
		return err
	}
	forger, err := r.identityProvider(foreign)
	if err != nil {
		return err
	}
	mux.HandleFunc("GET /saml/metadata", genuine.ServeMetadata)
	for path, provider := range map[string]*saml.IdentityProvider{"/saml/sso": genuine, "/saml/forged": forger} {
		mux.HandleFunc("GET "+path, provider.ServeSSO)
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, req *http.Request) { answerForm(provider, w, req) })
	}
	return nil
}

// answerForm handles the form, whose address has the request of the service provider as its query. The library takes a
// POST for a request in the body.
func answerForm(provider *saml.IdentityProvider, w http.ResponseWriter, req *http.Request) {
	if err := req.ParseForm(); err != nil {
		http.Error(w, "The form cannot be read.", http.StatusBadRequest)
		return
	}
	asked := req.Clone(req.Context())
	asked.Method = http.MethodGet
	provider.ServeSSO(w, asked)
}

// identityProvider returns the provider that signs with the key.
func (r *realm) identityProvider(key *rsa.PrivateKey) (*saml.IdentityProvider, error) {
	certificate, err := certificateOf(key, r.now())
	if err != nil {
		return nil, err
	}
	metadata, err := url.Parse(r.issuer + "/saml/metadata")
	if err != nil {
		return nil, err
	}
	return &saml.IdentityProvider{
		Key: key, Certificate: certificate, MetadataURL: *metadata, SSOURL: *metadata.JoinPath("../sso"),
		WantAuthnRequestsSigned: true, ServiceProviderProvider: r, SessionProvider: r,
		OnError: func(w http.ResponseWriter, _ *http.Request, status int, err error) {
			http.Error(w, err.Error(), status)
		},
	}, nil
}

func certificateOf(key *rsa.PrivateKey, now time.Time) (*x509.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "identityprovider"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLifetime),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// GetServiceProvider returns the metadata of a service provider of the realm, whose entity ID is the URL of that. The
// error is [os.ErrNotExist] for another one.
func (r *realm) GetServiceProvider(req *http.Request, id string) (*saml.EntityDescriptor, error) {
	if !slices.Contains(r.ServiceProviders, id) {
		return nil, os.ErrNotExist
	}
	wanted, err := http.NewRequestWithContext(req.Context(), http.MethodGet, id, nil)
	if err != nil {
		return nil, err
	}
	got, err := (&http.Client{Timeout: fetchTimeout}).Do(wanted)
	if err != nil {
		return nil, err
	}
	defer got.Body.Close()
	if got.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", id, got.Status)
	}
	text, err := io.ReadAll(io.LimitReader(got.Body, maxMetadata))
	if err != nil {
		return nil, err
	}
	found := &saml.EntityDescriptor{}
	if err := xml.Unmarshal(text, found); err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	return found, nil
}

// GetSession returns the login of the user whose name and password are in the form. Otherwise it shows the form and
// returns nil. Nobody stays logged in.
func (r *realm) GetSession(w http.ResponseWriter, req *http.Request, asked *saml.IdpAuthnRequest) *saml.Session {
	name, given := req.PostForm.Get("username"), req.PostForm.Get("password")
	found := r.Users[name]
	if !r.knows(found.account, given) {
		status := http.StatusOK
		if req.PostForm != nil {
			status = http.StatusUnauthorized
		}
		show(w, status, asked.ServiceProviderMetadata.EntityID, req.PostForm != nil)
		return nil
	}
	now := r.now()
	return &saml.Session{
		ID: rand.Text(), Index: rand.Text(), NameID: name, CreateTime: now, ExpireTime: now.Add(tokenLifetime),
		UserName: name, UserEmail: found.Email, Groups: found.Groups,
	}
}
