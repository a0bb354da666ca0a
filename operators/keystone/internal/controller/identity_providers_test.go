package controller

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/testutil/golden"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/oidc"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

// company is a backend of the type OIDC.
func company() *identityBackend {
	b := staff()
	b.Name, b.Spec.Type, b.Spec.LDAP = "company", keystonev1alpha1.IdentityBackendOIDC, nil
	b.Spec.OIDC = &keystonev1alpha1.OIDCSpec{
		Issuer: "https://login.example.com/realms/company/", ClientID: "keystone", ClientSecretRef: commonv1.SecretRefSpec{Name: "client"},
	}
	b.Spec.Mappings = []keystonev1alpha1.MappingRule{{
		Local:  []keystonev1alpha1.LocalMapping{{User: &keystonev1alpha1.MappedUser{Name: "{0}"}}, {Group: "users"}},
		Remote: []keystonev1alpha1.RemoteMapping{{Claim: "email"}},
	}}
	b.Spec.Groups = []keystonev1alpha1.IdentityGroup{{
		Name: "users", RoleAssignments: []keystonev1alpha1.RoleAssignment{{Role: "member", Project: "cloud"}},
	}}
	return b
}

func acceptedCompany(t *testing.T) acceptedIdentity {
	t.Helper()
	a := acceptedIdentity{Resource: company(), Configuration: "0123456789", Credentials: &corev1.Secret{
		Data: map[string][]byte{"client-secret": []byte("hunter2-client")},
	}}
	files, err := domainFiles(a)
	if err != nil {
		t.Fatal(err)
	}
	a.Files = files
	return a
}

// withProvider is a pass whose pods get a provider.
func withProvider(t *testing.T) *pass.Scope {
	t.Helper()
	s := fixture.Scope(fixture.Minimal())
	identityBackends.Accepted.Put(s.Slots, []acceptedIdentity{acceptedCompany(t)})
	proxyPassphrase.Put(s.Slots, "passphrase-hash")
	return s
}

func TestPodsWithAProviderHaveAProxy(t *testing.T) {
	s := withProvider(t)
	pod := api.Deployment(s).Spec.Template
	golden.CompareYAML(t, "identity-backend/proxied-pod.yaml", pod)
	s.Resource.Spec.ProxyImage = &commonv1.ImageSpec{Repository: "registry.example.com/proxy", Tag: "1"}
	if got := api.Deployment(s).Spec.Template.Spec.Containers[1].Image; got != "registry.example.com/proxy:1" {
		t.Errorf("the image is %s", got)
	}
}

// The golden files of a Keystone without any backend are those of before.
func TestADirectoryNeedsNoProxy(t *testing.T) {
	s := withBackends("CA\n")
	pod := api.Deployment(s).Spec.Template
	_, hashed := pod.Annotations[annotationPassphraseHash]
	options, files := rendered(t, s, nil)
	if len(pod.Spec.Containers) != 1 || hashed || files[proxyFile] != "" || files[callbackFile] != "" {
		t.Errorf("the pod is %+v, the files %v", pod, files)
	}
	if got := options["auth"]["methods"]; !strings.HasPrefix(got, "external,") {
		t.Errorf("the methods are %s", got)
	}
}

func TestKeystoneTakesClaimsFromVariablesThatNoHeaderCanSet(t *testing.T) {
	s := withProvider(t)
	s.Resource.Spec.TrustedDashboards = []string{"https://a.example.com/auth/websso/", "https://b.example.com/auth/websso/"}
	options, files := rendered(t, s, nil)
	want := map[string]string{
		"remote_id_attribute": "OIDC-iss", "assertion_prefix": "OIDC-",
		"sso_callback_template": "/etc/keystone/keystone.conf.d/sso_callback_template.html",
	}
	if diff := cmp.Diff(want, options["federation"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	methods := strings.Split(options["auth"]["methods"], ",")
	if !slices.Contains(methods, "openid") || !slices.Contains(methods, "mapped") || slices.Contains(methods, "external") {
		t.Errorf("the methods are %v", methods)
	}
	dashboards := "[federation]\ntrusted_dashboard = https://a.example.com/auth/websso/\n" +
		"trusted_dashboard = https://b.example.com/auth/websso/\n"
	if files[dashboardsFile] != dashboards {
		t.Errorf("the dashboards are %q", files[dashboardsFile])
	}
	if files[callbackFile] == "" || options["identity"]["domain_specific_drivers_enabled"] != "" {
		t.Errorf("the page is %q, the identity options are %v", files[callbackFile], options["identity"])
	}
}

func TestTheProxyKeepsConnectionsAsUWSGIDoes(t *testing.T) {
	s := withProvider(t)
	for want, spec := range map[string]*commonv1.UWSGISpec{
		"KeepAlive On\nKeepAliveTimeout 60\n":  nil,
		"KeepAlive Off\nKeepAliveTimeout 60\n": {HTTPKeepAlive: new(false)},
		"KeepAlive On\nKeepAliveTimeout 5\n":   {HTTPKeepAliveTimeout: ptr.To(int32(5))},
	} {
		s.Resource.Spec.UWSGI = spec
		files := map[string]string{}
		if err := addProxyFiles(s, files); err != nil || !strings.Contains(files[proxyFile], want) {
			t.Errorf("%v: got %v, %s", spec, err, files[proxyFile])
		}
	}
}

func TestThePasswordOfAClientReachesTheProxyOnly(t *testing.T) {
	_, files := rendered(t, withProvider(t), nil)
	for name, content := range files {
		if strings.Contains(content, "hunter2") {
			t.Errorf("it is in %s", name)
		}
	}
	a := acceptedCompany(t)
	if !strings.Contains(a.Files[oidc.ProviderFile], "hunter2-client") {
		t.Errorf("the file of the proxy is %s", a.Files[oidc.ProviderFile])
	}
	if len(identityBackends.Files.Mounted(a.Resource)) > 0 {
		t.Error("Keystone mounts the files of a provider")
	}
}

func TestTheCommandSaysWhatProviderItIs(t *testing.T) {
	want := map[string]any{
		"name": "Staff", "id": "5f0b8f0e6f5e4c439d0e0b6f4f1f4a11", "description": `The "people"`, "adopt": false,
		"issuer": "https://login.example.com/realms/company/", "certificates": "",
		"document": "https://login.example.com/realms/company/.well-known/openid-configuration",
		"declared": "/etc/keystone/domains/declared.json", "identity_provider": "company", "protocol": "openid", "block": "oidc",
	}
	if diff := cmp.Diff(want, argumentsOf(t, verifyDomain(nil, company()), "identity_provider.py")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b := company()
	b.Spec.OIDC.Endpoints, b.Spec.OIDC.CABundleSecretRef = &keystonev1alpha1.OIDCEndpoints{}, &commonv1.SecretRefSpec{Name: "ca"}
	got := argumentsOf(t, verifyDomain(nil, b), "identity_provider.py")
	if got["document"] != "" || got["certificates"] != "/etc/keystone/domains/ca.pem" {
		t.Errorf("got %v", got)
	}
	declared := `{"groups":[{"name":"users","roleAssignments":[{"role":"member","project":"cloud"}]}],` +
		`"rules":[{"local":[{"user":{"name":"{0}"}},{"group":{"domain":{"name":"Staff"},"name":"users"}}],"remote":[{"type":"OIDC-email"}]}]}`
	if diff := cmp.Diff(declared, acceptedCompany(t).Files[declaredFile]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTwoWaysToLogInAtAProviderConflict(t *testing.T) {
	for says, change := range map[string]func(*keystonev1alpha1.KeystoneSpec){
		"": func(s *keystonev1alpha1.KeystoneSpec) {
			s.ExtraConfig = map[string]map[string]string{
				"identity": {"driver": "x"}, "federation": {"trusted_dashboard": "x"}, "auth": {"methods": "password, mapped, openid, totp"},
			}
		},
		"spec.federation.enabled": func(s *keystonev1alpha1.KeystoneSpec) { s.Federation = &keystonev1alpha1.FederationSpec{Enabled: true} },
		"[auth] methods without mapped": func(s *keystonev1alpha1.KeystoneSpec) {
			s.ExtraConfig = map[string]map[string]string{"auth": {"methods": "password, openid"}}
		},
		"[auth] methods without openid": func(s *keystonev1alpha1.KeystoneSpec) {
			s.ExtraConfig = map[string]map[string]string{"auth": {"methods": "password,mapped,saml2"}}
		},
		"[auth] methods with external": func(s *keystonev1alpha1.KeystoneSpec) {
			s.ExtraConfig = map[string]map[string]string{"auth": {"methods": `"external,mapped,openid"`}}
		},
		"[federation] assertion_prefix": func(s *keystonev1alpha1.KeystoneSpec) {
			s.GlobalExtraConfig = map[string]map[string]string{"federation": {"assertion_prefix": ""}}
		},
	} {
		k := fixture.Minimal()
		change(&k.Spec)
		if got := conflictingOptions(k, company()); (got == "") != (says == "") || !strings.Contains(got, says) {
			t.Errorf("%q: got %q", says, got)
		}
	}
	k := fixture.Minimal()
	k.Spec.Federation = &keystonev1alpha1.FederationSpec{Enabled: true}
	if got := conflictingOptions(k, staff()); got != "" {
		t.Errorf("a directory is refused: %s", got)
	}
}

func TestThePassphraseOfTheProxiesIsMadeOnceAndReplacedWhenItIsLost(t *testing.T) {
	s := withProvider(t)
	c := fake.NewClientBuilder().WithScheme(Controller.Scheme()).Build()
	s.Owned = secrets.Owned{Client: c, APIReader: c, Scheme: Controller.Scheme()}
	ensure := func() string {
		if err := ensurePassphrase(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		return passphraseHash(s)[annotationPassphraseHash]
	}
	first := ensure()
	secret := &corev1.Secret{}
	if err := c.Get(t.Context(), s.Key("keystone-proxy-passphrase"), secret); err != nil || len(secret.Data["passphrase"]) < 50 {
		t.Fatalf("got %v with %d characters", err, len(secret.Data["passphrase"]))
	}
	isReplacedOnlyIfDeleted(t, c, secret, first, ensure)
	identityBackends.Accepted.Put(s.Slots, nil)
	if ensure(); passphraseHash(s) != nil {
		t.Error("pods without a provider have a hash")
	}
}

// isReplacedOnlyIfDeleted fails the test unless ensure keeps the Secret, whose content it describes with first, until
// somebody deletes it.
func isReplacedOnlyIfDeleted(t *testing.T, c client.Client, secret *corev1.Secret, first string, ensure func() string) {
	t.Helper()
	if again := ensure(); first == "" || again != first {
		t.Errorf("got %q and then %q", first, again)
	}
	if err := c.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	if another := ensure(); another == "" || another == first {
		t.Errorf("got %q and then %q", first, another)
	}
}

func TestAProviderNeedsItsSecrets(t *testing.T) {
	b := company()
	if got := credentials(b); got.Name != "client" || cmp.Diff([]string{"client-secret"}, got.Keys) != "" || caBundle(b) != nil {
		t.Errorf("got %+v, %+v", got, caBundle(b))
	}
	b.Spec.OIDC.CABundleSecretRef = &commonv1.SecretRefSpec{Name: "ca", Key: "bundle.pem"}
	if got := caBundle(b); got.Name != "ca" || cmp.Diff([]string{"bundle.pem"}, got.Keys) != "" {
		t.Errorf("got %+v", got)
	}
	a := acceptedCompany(t)
	a.Credentials.Data["client-secret"] = []byte("exec:sh")
	if _, err := domainFiles(a); err == nil {
		t.Error("a password that Apache would run is accepted")
	}
}
