package oidc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/testutil/golden"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

const issuer = "https://login.example.com/realms/company/"

// backend is one of the type OIDC with the name, changed by change.
func backend(name string, change func(*keystonev1alpha1.OIDCSpec)) *keystonev1alpha1.KeystoneIdentityBackend {
	b := &keystonev1alpha1.KeystoneIdentityBackend{}
	b.Name = name
	b.Spec.OIDC = &keystonev1alpha1.OIDCSpec{
		Issuer: issuer, ClientID: "keystone", ClientSecretRef: commonv1.SecretRefSpec{Name: "client"},
	}
	b.Spec.Mappings = []keystonev1alpha1.MappingRule{
		{
			Local: []keystonev1alpha1.LocalMapping{{User: &keystonev1alpha1.MappedUser{Name: "{0}", Email: "{1}"}}, {Groups: "{2}"}},
			Remote: []keystonev1alpha1.RemoteMapping{
				{Claim: "preferred_username"}, {Claim: "email"}, {Claim: "groups", Whitelist: []string{"^cloud-"}, Regex: true},
			},
		},
		{
			Local:  []keystonev1alpha1.LocalMapping{{Group: "admins"}},
			Remote: []keystonev1alpha1.RemoteMapping{{Claim: "groups", AnyOneOf: []string{"cloud-admins"}}, {Claim: "sub", NotAnyOf: []string{"x"}}},
		},
	}
	change(b.Spec.OIDC)
	return b
}

// samlBackend is one of the type SAML with the name.
func samlBackend(name string) *keystonev1alpha1.KeystoneIdentityBackend {
	b := backend(name, unchanged)
	b.Spec.OIDC, b.Spec.SAML = nil, &keystonev1alpha1.SAMLSpec{EntityID: "https://login.example.com/saml"}
	return b
}

func unchanged(*keystonev1alpha1.OIDCSpec) {}

func client(password string) *corev1.Secret {
	secret := &corev1.Secret{Data: map[string][]byte{"client-secret": []byte(password)}}
	secret.Name = "client"
	return secret
}

func proxy(endpoint string, backends ...*keystonev1alpha1.KeystoneIdentityBackend) Proxy {
	return Proxy{
		Port: 5000, UWSGI: 5001, Endpoint: endpoint, Cache: []string{"cache-0:11211", "cache-1:11211"}, DrainMarker: "/dev/shm/draining",
		KeepAlive: true, KeepAliveTimeout: 60, Backends: backends,
	}
}

func TestTheConfigurationOfTheProxy(t *testing.T) {
	for name, p := range map[string]Proxy{
		"one-provider.conf": proxy("https://keystone.example.com/v3", backend("company", unchanged)),
		"two-providers-below-a-path.conf": proxy("https://api.example.com:8443/identity/v3",
			backend("company", unchanged), backend("partner", func(o *keystonev1alpha1.OIDCSpec) {
				o.IdentityProvider, o.Protocol = "partners", keystonev1alpha1.OIDCProtocolMapped
			})),
		"saml-beside-oidc.conf": proxy("https://api.example.com:8443/identity/v3", backend("company", unchanged), samlBackend("partner")),
		"saml-without-tls.conf": proxy("http://keystone.openstack.svc:5000/v3", samlBackend("partner")),
	} {
		got, err := p.Config()
		if err != nil {
			t.Fatal(err)
		}
		golden.Compare(t, name, got)
	}
}

func TestTheSettingsOfAProvider(t *testing.T) {
	for name, change := range map[string]func(*keystonev1alpha1.OIDCSpec){
		"discovered.conf": unchanged,
		"endpoints.conf": func(o *keystonev1alpha1.OIDCSpec) {
			const url = "https://login.example.com/"
			o.Endpoints = &keystonev1alpha1.OIDCEndpoints{
				Authorization: url + "auth?a=b", Token: url + "token", JWKS: url + "jwks", Userinfo: url + "me",
			}
			o.Scopes = []string{"openid", "groups"}
			o.BearerTokens = &keystonev1alpha1.OIDCBearerTokens{Audiences: []string{"keystone", "https://kubernetes.default.svc"}}
		},
	} {
		files, err := Files(backend("company", change), client(`pass"wo\rd`), nil)
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, file := range []string{ProviderFile, TokensFile} {
			all.WriteString("# " + file + "\n" + files[file] + "\n")
		}
		golden.Compare(t, name, all.String())
	}
}

func TestAPasswordThatApacheWouldChangeIsRefusedWithoutItsValue(t *testing.T) {
	for value, says := range map[string]string{
		"exec:/bin/hidden": "begin with", "hidden${HOME}": "${", "hidden\nLoadModule": "line break", strings.Repeat("hidden", 171): "1024",
	} {
		_, err := Files(backend("company", unchanged), client(value), nil)
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "Secret client of spec.oidc.clientSecretRef") {
			t.Errorf("%.20q: got %v", value, err)
		}
		if err != nil && strings.Contains(err.Error(), "hidden") {
			t.Errorf("the value is in %v", err)
		}
	}
}

func TestTheCAOfAProviderCountsForThatAlone(t *testing.T) {
	b := backend("company", func(o *keystonev1alpha1.OIDCSpec) { o.CABundleSecretRef = &commonv1.SecretRefSpec{Name: "ca"} })
	_, err := Files(b, client("a"), &corev1.Secret{})
	if err == nil || !strings.Contains(err.Error(), "of spec.oidc.caBundleSecretRef has no certificate") {
		t.Errorf("got %v", err)
	}
}

func TestMappingsBecomeRulesOfKeystone(t *testing.T) {
	domain := map[string]any{"name": "Company"}
	want := []map[string]any{
		{
			"local": []map[string]any{{"user": map[string]any{"name": "{0}", "email": "{1}"}}, {"groups": "{2}", "domain": domain}},
			"remote": []map[string]any{
				{"type": "OIDC-preferred_username"},
				{"type": "OIDC-email"},
				{"type": "OIDC-groups", "whitelist": []string{"^cloud-"}, "regex": true},
			},
		},
		{
			"local": []map[string]any{{"group": map[string]any{"name": "admins", "domain": domain}}},
			"remote": []map[string]any{
				{"type": "OIDC-groups", "any_one_of": []string{"cloud-admins"}}, {"type": "OIDC-sub", "not_any_of": []string{"x"}},
			},
		},
	}
	if diff := cmp.Diff(want, Rules(backend("company", unchanged).Spec.Mappings, "Company")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOnlyClaimsThatAreUsedArePassedOn(t *testing.T) {
	want := []string{"iss", "sub", "aud", "exp", "email", "groups", "preferred_username"}
	if diff := cmp.Diff(want, Claims(backend("company", unchanged))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheDocumentOfAnIssuerIsBelowIt(t *testing.T) {
	for _, issuer := range []string{"https://a/b", "https://a/b/"} {
		if got := DiscoveryURL(issuer); got != "https://a/b/.well-known/openid-configuration" {
			t.Errorf("%s: got %s", issuer, got)
		}
	}
}
