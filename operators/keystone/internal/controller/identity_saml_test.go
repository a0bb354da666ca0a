package controller

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/testutil/certificate"
	"github.com/c5c3/forge/internal/common/testutil/golden"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/oidc"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/saml"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

// university is a backend of the type SAML.
func university(t *testing.T) *identityBackend {
	t.Helper()
	b := company()
	b.Name, b.Spec.Type, b.Spec.OIDC = "university", keystonev1alpha1.IdentityBackendSAML, nil
	b.Spec.SAML = &keystonev1alpha1.SAMLSpec{
		EntityID: "https://login.example.com/saml",
		Metadata: keystonev1alpha1.SAMLMetadata{Inline: fixture.ProviderMetadata(t, "https://login.example.com/saml")},
	}
	return b
}

// withSAML is a pass whose pods get the university beside the providers.
func withSAML(t *testing.T, others ...acceptedIdentity) *pass.Scope {
	t.Helper()
	a := acceptedIdentity{Resource: university(t), Configuration: "0123456789"}
	files, err := domainFiles(a)
	if err != nil {
		t.Fatal(err)
	}
	a.Files = files
	s := fixture.Scope(fixture.Minimal())
	identityBackends.Accepted.Put(s.Slots, append(others, a))
	proxyPassphrase.Put(s.Slots, "passphrase-hash")
	pair, _ := certificate.SelfSigned(t)
	keyPair.Put(s.Slots, string(pair))
	return s
}

func TestPodsWithASAMLProviderHaveTheKeyPair(t *testing.T) {
	pod := api.Deployment(withSAML(t)).Spec.Template.Spec
	golden.CompareYAML(t, "identity-backend/saml-proxy.yaml", map[string]any{
		"mounts": pod.Containers[1].VolumeMounts, "volumes": pod.Volumes[len(pod.Volumes)-3:],
	})
	for _, mount := range pod.Containers[0].VolumeMounts {
		if strings.Contains(mount.Name, "provider") {
			t.Errorf("Keystone mounts %s", mount.Name)
		}
	}
}

func TestASAMLProviderBesideOneOfOpenIDConnectChangesNothingForThat(t *testing.T) {
	_, alone := rendered(t, withProvider(t), nil)
	options, both := rendered(t, withSAML(t, acceptedCompany(t)), nil)
	host := func(files map[string]string) string {
		_, found, _ := strings.Cut(files[proxyFile], "# The provider of company")
		found, _, _ = strings.Cut(found, "</VirtualHost>")
		return found
	}
	if diff := cmp.Diff(host(alone), host(both)); diff != "" || host(alone) == "" {
		t.Errorf("(-alone +both):\n%s", diff)
	}
	if methods := strings.Split(options["auth"]["methods"], ","); !cmp.Equal(methods[3:6], []string{"mapped", "openid", "saml2"}) {
		t.Errorf("the methods are %v", methods)
	}
	if _, there := alone["saml-university.xml"]; there || strings.Contains(alone[proxyFile], "Mellon") {
		t.Error("a proxy without a SAML provider knows of SAML")
	}
}

func TestKeystoneDescribesItselfToASAMLProvider(t *testing.T) {
	s := withSAML(t)
	const mellon = "/auth/OS-FEDERATION/identity_providers/university/protocols/saml2/websso/mellon"
	endpoint := pass.PublicEndpoint(s.Cluster, s.Resource)
	_, files := rendered(t, s, nil)
	for _, want := range []string{`entityID="` + endpoint + mellon + `/metadata"`, `Location="` + endpoint + mellon + `/postResponse"`} {
		if !strings.Contains(files["saml-university.xml"], want) {
			t.Errorf("%s is not in %s", want, files["saml-university.xml"])
		}
	}
	a := identityBackends.Accepted.Value(s.Slots)[0]
	a.Resource.Spec.SAML.ServiceProviderID = "https://keystone.example.com"
	if _, files := rendered(t, s, nil); !strings.Contains(files["saml-university.xml"], `entityID="https://keystone.example.com"`) {
		t.Errorf("got %s", files["saml-university.xml"])
	}
	s.Resource.Status.Endpoint = endpoint
	said, expires := reportIdentity(s.Resource, a, time.Now())
	if !strings.HasPrefix(said, "Its metadata has no end, and its certificate expires on 20") || expires.IsZero() {
		t.Errorf("the condition says %q; it expires at %s", said, expires)
	}
	if a.Resource.Status.MetadataURL != endpoint+mellon+"/metadata" {
		t.Errorf("the status has %s", a.Resource.Status.MetadataURL)
	}
	if said, _ := reportIdentity(s.Resource, acceptedCompany(t), time.Now()); said != "" {
		t.Errorf("the condition of another type says %q", said)
	}
}

func TestTheKeyPairOfTheServiceProviderIsMadeOnceAndReplacedWhenItIsDeleted(t *testing.T) {
	s := withSAML(t)
	c := fake.NewClientBuilder().WithScheme(Controller.Scheme()).Build()
	s.Owned = secrets.Owned{Client: c, APIReader: c, Scheme: Controller.Scheme()}
	ensure := func() string {
		if err := ensureKeyPair(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		return keyPair.Value(s.Slots)
	}
	first := ensure()
	secret := &corev1.Secret{}
	if err := c.Get(t.Context(), s.Key("keystone-service-provider"), secret); err != nil || string(secret.Data["tls.crt"]) != first {
		t.Fatalf("got %v", err)
	}
	isReplacedOnlyIfDeleted(t, c, secret, first, ensure)
	identityBackends.Accepted.Put(s.Slots, []acceptedIdentity{acceptedCompany(t)})
	if got := ensure(); got != "" || len(keyPairMounts(s)) > 0 {
		t.Errorf("without a SAML provider there is the key pair %q", got)
	}
}

func TestTheCommandSaysWhatSAMLProviderItIs(t *testing.T) {
	got := argumentsOf(t, verifyDomain(nil, university(t)), "identity_provider.py")
	for key, want := range map[string]string{
		"issuer": "https://login.example.com/saml", "document": "", "certificates": "", "identity_provider": "university",
		"protocol": "saml2", "block": "saml", "declared": "/etc/keystone/domains/declared.json",
	} {
		if got[key] != want {
			t.Errorf("%s is %v, want %s", key, got[key], want)
		}
	}
}

func TestASAMLProviderNeedsItsMetadata(t *testing.T) {
	b := university(t)
	if credentials(b) != nil || caBundle(b) != nil {
		t.Errorf("got %+v, %+v", credentials(b), caBundle(b))
	}
	b.Spec.SAML.Metadata.SecretRef = &commonv1.SecretRefSpec{Name: "login"}
	if got := credentials(b); got.Name != "login" || !cmp.Equal(got.Keys, []string{"metadata.xml"}) {
		t.Errorf("got %+v", got)
	}
	a := acceptedIdentity{Resource: b, Credentials: &corev1.Secret{}}
	if _, err := domainFiles(a); err == nil {
		t.Error("a Secret without metadata is accepted")
	}
	if len(identityBackends.Files.Mounted(b)) > 0 {
		t.Error("Keystone mounts the files of a provider")
	}
	files := proxiedFiles(acceptedIdentity{Resource: b, Files: map[string]string{oidc.ProviderFile: "", saml.MetadataFile: ""}})
	if len(files) != 2 || files[1].Path != "university/metadata.xml" {
		t.Errorf("the proxy mounts %v", files)
	}
}
