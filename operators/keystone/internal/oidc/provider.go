package oidc

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/ini"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/ldap"
)

// Files of a backend. One of the type SAML has the first of them, too.
const (
	// ProviderFile has the settings of the virtual host, with the password of the client.
	ProviderFile = "provider.conf"
	// TokensFile says which tokens are accepted from clients.
	TokensFile = "tokens.conf"
	// CAFile has the certificates of the CAs of the provider.
	CAFile = "ca.pem"
)

// discovery is where the document of a provider is, below its issuer without a slash at the end
// (https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfigurationRequest).
const discovery = "/.well-known/openid-configuration"

// maxSecret is the length of a password with which the line stays within Apache's limit.
const maxSecret = 1024

// DiscoveryURL returns where the document of a provider is.
func DiscoveryURL(issuer string) string { return strings.TrimSuffix(issuer, "/") + discovery }

// Files returns the files of a backend by name. The Secret with certificates may be nil. The error names
// what of a Secret cannot be used, and no value.
func Files(b *keystonev1alpha1.KeystoneIdentityBackend, client, certificates *corev1.Secret) (map[string]string, error) {
	secret, err := password(b.Spec.OIDC, client)
	if err != nil {
		return nil, err
	}
	files := map[string]string{TokensFile: tokens(b.Spec.OIDC.BearerTokens)}
	settings := provider(b, secret)
	if ref := b.Spec.OIDC.CABundleSecretRef; ref != nil {
		const of = "spec.oidc.caBundleSecretRef"
		if files[CAFile], err = ldap.Certificates(certificates, ref.KeyOr(keystonev1alpha1.DefaultCABundleKey), of); err != nil {
			return nil, err
		}
		settings.Set("OIDCCABundlePath", Folder+"/"+b.Name+"/"+CAFile)
	}
	files[ProviderFile] = settings.String()
	return files, nil
}

// password returns the password of the client. Apache would run one that begins with "exec:", and
// replace "${NAME}" in one by a variable.
func password(o *keystonev1alpha1.OIDCSpec, client *corev1.Secret) (string, error) {
	key := o.ClientSecretRef.KeyOr(keystonev1alpha1.DefaultClientSecretKey)
	value := string(client.Data[key])
	err := ini.ValidateValue(value)
	switch {
	case err != nil:
	case strings.HasPrefix(value, "exec:"):
		err = fmt.Errorf("it must not begin with %q", "exec:")
	case strings.Contains(value, "${"):
		err = fmt.Errorf("it must not contain %q", "${")
	case len(value) > maxSecret:
		err = fmt.Errorf("it must not have more than %d characters", maxSecret)
	}
	if err != nil {
		return "", fmt.Errorf("%s of Secret %s of spec.oidc.clientSecretRef cannot be used: %w", key, client.Name, err)
	}
	return value, nil
}

// Directives are directives of Apache.
type Directives struct{ strings.Builder }

// Set adds a directive. No argument can end it.
func (s *Directives) Set(directive string, arguments ...string) {
	s.WriteString(directive)
	for _, argument := range arguments {
		s.WriteString(` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(argument) + `"`)
	}
	s.WriteString("\n")
}

func provider(b *keystonev1alpha1.KeystoneIdentityBackend, secret string) *Directives {
	o, s := b.Spec.OIDC, &Directives{}
	if endpoints := o.Endpoints; endpoints != nil {
		s.Set("OIDCProviderIssuer", o.Issuer)
		s.Set("OIDCProviderAuthorizationEndpoint", endpoints.Authorization)
		s.Set("OIDCProviderTokenEndpoint", endpoints.Token)
		s.Set("OIDCProviderJwksUri", endpoints.JWKS)
		if endpoints.Userinfo != "" {
			s.Set("OIDCProviderUserInfoEndpoint", endpoints.Userinfo)
		}
	} else {
		s.Set("OIDCProviderMetadataURL", DiscoveryURL(o.Issuer))
	}
	s.Set("OIDCClientID", o.ClientID)
	s.Set("OIDCClientSecret", secret)
	s.Set("OIDCScope", strings.Join(o.RequestedScopes(), " "))
	s.Set("OIDCWhiteListedClaims", Claims(b)...)
	if o.Endpoints != nil {
		s.Set("OIDCOAuthVerifyJwksUri", o.Endpoints.JWKS)
		return s
	}
	// A provider with introspection gets the tokens of clients to look at. Keys suffice for others.
	s.Set("OIDCOAuthServerMetadataURL", DiscoveryURL(o.Issuer))
	s.Set("OIDCOAuthClientID", o.ClientID)
	s.Set("OIDCOAuthClientSecret", secret)
	return s
}

// tokens returns what the tokens of clients must have. One of several is enough.
func tokens(accepted *keystonev1alpha1.OIDCBearerTokens) string {
	if accepted == nil {
		return "Require all denied\n"
	}
	s := &Directives{}
	for _, audience := range accepted.Audiences {
		s.Set("Require claim", "aud:"+audience)
	}
	return s.String()
}

// Claims returns the claims that logins need and mappings use, in order.
func Claims(b *keystonev1alpha1.KeystoneIdentityBackend) []string {
	needed := []string{keystonev1alpha1.RemoteIDClaim, "sub", "aud", "exp"}
	return slices.Concat(needed, slices.DeleteFunc(b.Spec.Claims(), func(claim string) bool { return slices.Contains(needed, claim) }))
}
