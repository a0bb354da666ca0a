package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/operators/keystone/internal/oidc"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/saml"
)

// keyPair holds the certificate by which SAML providers know Keystone, in PEM form, "" without such a provider.
var keyPair = reconcile.NewSlot[string]("ServiceProviderKeyPair")

// keyPairName is the Secret with the key and the certificate of Keystone.
func keyPairName(s *pass.Scope) string { return s.Named("service-provider") }

func isSAML(a acceptedIdentity) bool { return a.Resource.Spec.SAML != nil }

// ensureKeyPair makes the key pair once: providers know Keystone by it. It stays when the last of them goes, since they
// may come back.
func ensureKeyPair(ctx context.Context, s *pass.Scope) error {
	if !slices.ContainsFunc(providers(s), isSAML) {
		keyPair.Put(s.Slots, "")
		return nil
	}
	desired := &corev1.Secret{ObjectMeta: s.Meta(keyPairName(s)), Type: corev1.SecretTypeTLS}
	found, err := s.Owned.Find(ctx, s.Key(desired.Name))
	if err != nil {
		return fmt.Errorf("the key pair of the service provider: %w", err)
	}
	if found == nil {
		// A pass has no time for a key that is not needed.
		if desired.Data, err = saml.NewKeyPair(s.Resource.Name, time.Now()); err != nil {
			return err
		}
	}
	secret, _, err := s.Owned.EnsureOnce(ctx, s.Resource, desired)
	if err != nil {
		return fmt.Errorf("the key pair of the service provider: %w", err)
	}
	keyPair.Put(s.Slots, string(secret.Data[corev1.TLSCertKey]))
	return nil
}

// addServiceProvider adds the file that describes Keystone to the provider of the backend. Another certificate in it
// replaces the pods.
func addServiceProvider(s *pass.Scope, b *identityBackend, endpoint string, files map[string]string) (err error) {
	if b.Spec.SAML == nil {
		return nil
	}
	described := saml.ServiceProvider{URL: oidc.MellonURL(endpoint, b), Certificate: keyPair.Value(s.Slots)}
	described.EntityID = cmp.Or(b.Spec.SAML.ServiceProviderID, metadataURL(endpoint, b))
	files[oidc.ServiceProviderFile(b)], err = described.Document()
	return err
}

// metadataURL is where the proxy has that file for everybody.
func metadataURL(endpoint string, b *identityBackend) string {
	return oidc.MellonURL(endpoint, b) + "/metadata"
}

// serviceProviderFiles are those files in the configuration.
func serviceProviderFiles(s *pass.Scope) (files []corev1.KeyToPath) {
	for _, a := range providers(s) {
		if name := oidc.ServiceProviderFile(a.Resource); isSAML(a) {
			files = append(files, corev1.KeyToPath{Key: name, Path: name})
		}
	}
	return files
}

// keyPairMounts returns the mount of the key pair, none without a SAML provider.
func keyPairMounts(s *pass.Scope) []deployment.Mount {
	if !slices.ContainsFunc(providers(s), isSAML) {
		return nil
	}
	return []deployment.Mount{deployment.SecretMount("service-provider", keyPairName(s), oidc.KeyPair)}
}

// reportIdentity records in the status what the administrator of a SAML provider needs, and returns when what the
// backend needs ends.
func reportIdentity(resource service.Resource, a acceptedIdentity, now time.Time) (says string, expires time.Time) {
	if a.Resource.Spec.SAML == nil {
		return reportAuthorities(a)
	}
	endpoint := resource.ServiceStatus().Endpoint
	if endpoint == "" {
		return "", expires
	}
	a.Resource.Status.MetadataURL = metadataURL(endpoint, a.Resource)
	metadata, err := saml.Parse([]byte(a.Files[saml.MetadataFile]), a.Resource.Spec.SAML.EntityID, now)
	if err != nil {
		return "", expires
	}
	says = metadata.Ends(now)
	if !strings.HasPrefix(endpoint, "https://") {
		says += "; no browser can log in, since " + endpoint + " does not begin with https"
	}
	// Metadata that is renewed all the time is valid for days only.
	return says, metadata.CertificateEnd
}
