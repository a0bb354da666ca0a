package controller

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/certificate"
	"github.com/c5c3/forge/internal/common/testutil/golden"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

// staff is a backend of a domain of the same name.
func staff() *identityBackend {
	b := &identityBackend{ObjectMeta: metav1.ObjectMeta{Name: "staff", Namespace: "openstack", UID: "5f0b8f0e-6f5e-4c43-9d0e-0b6f4f1f4a11"}}
	b.Spec.KeystoneRef.Name, b.Spec.Type = "keystone", keystonev1alpha1.IdentityBackendLDAP
	b.Spec.Domain = keystonev1alpha1.IdentityDomainSpec{Name: "Staff", Description: `The "people"`}
	b.Spec.LDAP = &keystonev1alpha1.LDAPSpec{
		URLs:                     []string{"ldaps://ldap.example.com"},
		TLS:                      &keystonev1alpha1.LDAPTLSSpec{CABundleSecretRef: commonv1.SecretRefSpec{Name: "ldap-ca"}},
		BindCredentialsSecretRef: commonv1.CredentialsReference{Name: "reader"},
		Users:                    keystonev1alpha1.LDAPUsersSpec{Tree: "ou=people,dc=example,dc=com"},
	}
	keystonev1alpha1.SetIdentityBackendDefaults(b)
	return b
}

// withBackends is a pass whose pods get the backends with the certificates of their directories.
func withBackends(certificates ...string) *pass.Scope {
	s := fixture.Scope(fixture.Minimal())
	var accepted []acceptedIdentity
	for _, content := range certificates {
		accepted = append(accepted, acceptedIdentity{
			Resource: staff(), Configuration: "0123456789", Files: map[string]string{ownCAFile: content},
		})
	}
	identityBackends.Accepted.Put(s.Slots, accepted)
	return s
}

func TestOnlyAKeystoneWithABackendHasDomainsWithDrivers(t *testing.T) {
	for name, c := range map[string]struct {
		s      *pass.Scope
		mounts int
		want   map[string]string
	}{
		"none": {withBackends(), 2, map[string]string{"default_domain_id": "default"}},
		"one": {withBackends("CA\n"), 3, map[string]string{
			"default_domain_id": "default", "domain_specific_drivers_enabled": "true", "domain_config_dir": "/etc/keystone/domains/enabled",
		}},
	} {
		options, files := rendered(t, c.s, nil)
		if diff := cmp.Diff(c.want, options["identity"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if _, there := files[caFile]; there != (name == "one") {
			t.Errorf("%s: certificates are there: %t", name, there)
		}
		if mounts := api.Mounts(c.s); len(mounts) != c.mounts {
			t.Errorf("%s: pods mount %v", name, mounts)
		}
	}
}

func TestAProcessTrustsTheCertificatesOfAllDirectories(t *testing.T) {
	_, files := rendered(t, withBackends("A\n", "", "B\n", "A\n"), nil)
	if got := files[caFile]; got != "A\nB\n" {
		t.Errorf("got %q", got)
	}
}

func TestPodsWithABackendMountItsFile(t *testing.T) {
	golden.CompareYAML(t, "identity-backend/mounts.yaml", api.Mounts(withBackends("CA\n")))
}

func TestABackendExpiresWithTheLastCertificateOfItsAuthorities(t *testing.T) {
	end := time.Date(2051, 2, 3, 4, 5, 6, 0, time.UTC)
	first, _ := certificate.SelfSigned(t)
	last, _ := certificate.Until(t, end)
	bundle := string(first) + string(last) + string(first)
	for _, resource := range []*identityBackend{staff(), company()} {
		a := acceptedIdentity{Resource: resource, Files: map[string]string{ownCAFile: bundle}}
		says, expires := reportIdentity(nil, a, time.Now())
		if says != "The last certificate of its CAs expires on 2051-02-03" || !expires.Equal(end) {
			t.Errorf("%s: the condition says %q; it expires at %s", resource.Name, says, expires)
		}
	}
	if says, expires := reportIdentity(nil, acceptedIdentity{Resource: staff()}, time.Now()); says != "" || !expires.IsZero() {
		t.Errorf("without certificates the condition says %q; it expires at %s", says, expires)
	}
}

func TestTheFilesOfABackend(t *testing.T) {
	a := acceptedIdentity{Resource: staff(), Credentials: &corev1.Secret{Data: map[string][]byte{
		"username": []byte("cn=reader"), "password": []byte("pa$$word"),
	}}}
	a.Resource.Spec.LDAP.URLs, a.Resource.Spec.LDAP.TLS = []string{"ldap://ldap.example.com"}, nil
	files, err := domainFiles(a)
	if err != nil || len(files) != 1 || !strings.Contains(files["keystone.Staff.conf"], "\npassword = pa$$$$word\n") {
		t.Errorf("got %v, %v", files, err)
	}
	a.CABundle = &corev1.Secret{}
	a.Resource.Spec.LDAP.TLS = &keystonev1alpha1.LDAPTLSSpec{}
	if _, err := domainFiles(a); err == nil || !strings.Contains(err.Error(), "ca.crt") {
		t.Errorf("got %v", err)
	}
}

// argumentsOf decodes the arguments of a command that runs the file.
func argumentsOf(t *testing.T, command []string, file string) map[string]any {
	t.Helper()
	got := map[string]any{}
	if err := json.Unmarshal([]byte(command[2]), &got); err != nil || command[1] != "/etc/keystone/keystone.conf.d/"+file {
		t.Fatalf("%v: %v", command, err)
	}
	return got
}

func TestTheCommandSaysWhatDomainItIs(t *testing.T) {
	want := map[string]any{
		"name": "Staff", "id": "5f0b8f0e6f5e4c439d0e0b6f4f1f4a11", "description": `The "people"`, "adopt": false,
		"file": "/etc/keystone/domains/keystone.Staff.conf", "certificates": "/etc/keystone/domains/ca.pem",
	}
	if diff := cmp.Diff(want, argumentsOf(t, verifyDomain(nil, staff()), "identity_domain.py")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOnlyTheDomainThatTheBackendHasCreatedIsDeleted(t *testing.T) {
	for _, c := range []struct {
		mode   keystonev1alpha1.DomainMode
		policy commonv1.DeletionPolicy
		want   bool
	}{
		{keystonev1alpha1.DomainManage, commonv1.DeletionPolicyDelete, true},
		{keystonev1alpha1.DomainManage, commonv1.DeletionPolicyRetain, false},
		{keystonev1alpha1.DomainManage, "", false},
		{keystonev1alpha1.DomainAdopt, commonv1.DeletionPolicyDelete, false},
	} {
		b := staff()
		b.Spec.Domain.Mode, b.Spec.Domain.DeletionPolicy = c.mode, c.policy
		if got := deletesDomain(b); got != c.want {
			t.Errorf("%s, %s: %t", c.mode, c.policy, got)
		}
	}
	want := map[string]any{
		"id": "5f0b8f0e6f5e4c439d0e0b6f4f1f4a11", "agreed": "", "annotation": "keystone.openstack.c5c3.io/delete-domain",
	}
	if diff := cmp.Diff(want, argumentsOf(t, removeDomain(nil, staff()), "identity_domain_removal.py")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheConsentIsThatOfTheAnnotation(t *testing.T) {
	for annotation, want := range map[string]string{
		"": "", "true": "", "0123456789ab": "0123456789ab", "0123456789abc": "", "0123456789AB": "", "0123456789ab\n": "",
	} {
		b := staff()
		b.Annotations = map[string]string{keystonev1alpha1.AnnotationDeleteDomain: annotation}
		if got := agreed(b); got != want {
			t.Errorf("%q is taken for %q", annotation, got)
		}
	}
}

func TestPodsAreNotReplacedForAnotherDeletionPolicy(t *testing.T) {
	before, after := staff(), staff()
	after.Spec.Domain.DeletionPolicy = commonv1.DeletionPolicyDelete
	if diff := cmp.Diff(configured(before), configured(after)); diff != "" {
		t.Errorf("the configuration differs:\n%s", diff)
	}
	if after.Spec.Domain.DeletionPolicy != commonv1.DeletionPolicyDelete {
		t.Error("the spec has lost its policy")
	}
}

func TestTwoWaysToConfigureDomainsConflict(t *testing.T) {
	option := func(name string) map[string]map[string]string {
		return map[string]map[string]string{"identity": {name: "x"}}
	}
	for name, c := range map[string]struct {
		change func(*keystonev1alpha1.KeystoneSpec)
		says   string
	}{
		"nothing":        {func(*keystonev1alpha1.KeystoneSpec) {}, ""},
		"another option": {func(s *keystonev1alpha1.KeystoneSpec) { s.ExtraConfig = option("list_limit") }, ""},
		"a driver":       {func(s *keystonev1alpha1.KeystoneSpec) { s.ExtraConfig = option("driver") }, "[identity] driver"},
		"files":          {func(s *keystonev1alpha1.KeystoneSpec) { s.GlobalExtraConfig = option("domain_config_dir") }, "domain_config_dir"},
		"a configured database": {func(s *keystonev1alpha1.KeystoneSpec) {
			s.Plugins = []keystonev1alpha1.PluginSpec{{
				Name: "p", ConfigSection: "Identity", Config: map[string]string{"domain_configurations_from_database": "true"},
			}}
		}, "domain_configurations_from_database"},
	} {
		k := fixture.Minimal()
		c.change(&k.Spec)
		if got := conflictingOptions(k, staff()); (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestABackendWithoutADirectoryNeedsNothing(t *testing.T) {
	if b := (&identityBackend{}); credentials(b) != nil || caBundle(b) != nil {
		t.Error("an invalid spec names Secrets")
	}
	want := []string{"ca.crt"}
	if got := caBundle(staff()); cmp.Diff(want, got.Keys) != "" || got.Name != "ldap-ca" {
		t.Errorf("got %+v", got)
	}
}
