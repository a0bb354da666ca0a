package ldap

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/testutil/golden"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// minimal is the spec of a directory with its defaults, complete one with groups, changed by change.
func minimal() *keystonev1alpha1.LDAPSpec {
	b := &keystonev1alpha1.KeystoneIdentityBackend{}
	b.Spec.LDAP = &keystonev1alpha1.LDAPSpec{
		URLs: []string{"ldaps://one.example.com", "ldaps://two.example.com:1636"}, TLS: &keystonev1alpha1.LDAPTLSSpec{},
		Users: keystonev1alpha1.LDAPUsersSpec{Tree: "ou=people,dc=example,dc=com"},
	}
	keystonev1alpha1.SetIdentityBackendDefaults(b)
	return b.Spec.LDAP
}

func complete(change func(*keystonev1alpha1.LDAPSpec)) *keystonev1alpha1.LDAPSpec {
	b := &keystonev1alpha1.KeystoneIdentityBackend{}
	b.Spec.LDAP = minimal()
	b.Spec.LDAP.Groups = &keystonev1alpha1.LDAPGroupsSpec{Tree: "ou=groups,dc=example,dc=com", Filter: "(cn=cloud-*)"}
	b.Spec.LDAP.Users.Filter = "(department=cloud)"
	keystonev1alpha1.SetIdentityBackendDefaults(b)
	change(b.Spec.LDAP)
	return b.Spec.LDAP
}

func account(user, password string) *corev1.Secret {
	secret := &corev1.Secret{Data: map[string][]byte{UserKey: []byte(user), PasswordKey: []byte(password)}}
	secret.Name = "reader"
	return secret
}

func optionsOf(t *testing.T, spec *keystonev1alpha1.LDAPSpec) ini.File {
	t.Helper()
	file, err := Options(spec, account("cn=reader", "secret"), "/ca.pem")
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestTheFileOfADomain(t *testing.T) {
	for name, spec := range map[string]*keystonev1alpha1.LDAPSpec{
		"minimal": minimal(),
		"active-directory": complete(func(l *keystonev1alpha1.LDAPSpec) {
			l.PageSize, l.Groups.Nested = 1000, true
			l.Users.Enabled = &keystonev1alpha1.LDAPEnabledSpec{Attribute: "userAccountControl", Mask: 2}
		}),
		"start-tls": complete(func(l *keystonev1alpha1.LDAPSpec) {
			l.URLs, l.TLS.StartTLS = []string{"ldap://one.example.com"}, true
			l.Users.Enabled = &keystonev1alpha1.LDAPEnabledSpec{Group: "cn=enabled,ou=groups,dc=example,dc=com"}
		}),
		"without-tls": complete(func(l *keystonev1alpha1.LDAPSpec) {
			l.URLs, l.TLS = []string{"ldap://one.example.com"}, nil
			l.Users.Enabled = &keystonev1alpha1.LDAPEnabledSpec{Attribute: "nsAccountLock", Invert: true}
		}),
	} {
		rendered, err := optionsOf(t, spec).Render()
		if err != nil {
			t.Fatal(err)
		}
		golden.Compare(t, name+".conf", rendered)
	}
}

func TestTheAccountReachesTheDirectoryAsItIs(t *testing.T) {
	for given, want := range map[string]string{
		"pa$$word": "pa$$$$word", `"quoted"`: `""quoted""`, "it's": "it's", `'`: `'`, "50%": "50%", "a=b;c#d": "a=b;c#d",
	} {
		file, err := Options(minimal(), account("cn=reader", given), "/ca.pem")
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := file.Get("ldap", "password"); got != want {
			t.Errorf("%s is written as %s, want %s", given, got, want)
		}
	}
}

func TestALineBreakInTheAccountIsRefusedWithoutItsValue(t *testing.T) {
	for key, secret := range map[string]*corev1.Secret{UserKey: account("cn\n[x]", "a"), PasswordKey: account("cn", "s3cret\n[x]")} {
		_, err := Options(minimal(), secret, "/ca.pem")
		if err == nil || !strings.HasPrefix(err.Error(), key+" of Secret reader") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("got %v", err)
		}
	}
}

// certificate returns one in PEM.
func certificate(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestOnlyCertificatesOfABundleReachPods(t *testing.T) {
	first, second := certificate(t), certificate(t)
	key := "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
	for name, c := range map[string]struct {
		bundle, want, refusal string
	}{
		"one":                {first, first, ""},
		"two and a comment":  {"# first\n" + first + second, first + second, ""},
		"a key in between":   {first + key + second, first + second, ""},
		"nothing":            {"", "", "has no certificate in PEM"},
		"a key alone":        {key, "", "has no certificate in PEM"},
		"a broken one":       {"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "", "cannot be read"},
		"one without a line": {strings.TrimSpace(first), first, ""},
	} {
		got, err := Certificates(&corev1.Secret{Data: map[string][]byte{"ca.crt": []byte(c.bundle)}}, "ca.crt", "spec.ldap.tls.caBundleSecretRef")
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if (err == nil) != (c.refusal == "") || err != nil && !strings.Contains(err.Error(), c.refusal) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
