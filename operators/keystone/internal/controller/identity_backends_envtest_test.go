//go:build integration

package controller_test

import (
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/attachment"
	"github.com/c5c3/forge/internal/common/testutil/conformance"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// identityBackends describes KeystoneIdentityBackend to the conformance suite.
func identityBackends() conformance.Attached[*keystonev1alpha1.Keystone, *keystonev1alpha1.KeystoneIdentityBackend] {
	return conformance.Attached[*keystonev1alpha1.Keystone, *keystonev1alpha1.KeystoneIdentityBackend]{
		Service: keystones(), Vocabulary: keystonev1alpha1.Vocabularies()[1],
		New: directory, Credentials: account,
		Duplicate: func(b, of *keystonev1alpha1.KeystoneIdentityBackend) { b.Spec.Domain.Name = of.Spec.Domain.Name },
		Condition: keystonev1alpha1.ConditionIdentityBackendsReady,
		Trigger: func(resource client.ObjectKey) client.Object {
			return &keystonev1alpha1.Keystone{ObjectMeta: metav1.ObjectMeta{Namespace: resource.Namespace, Name: testutil.Name}}
		},
		// Of each of two: that it is verified and accepted, and that all pods have it, maybe after the other one.
		StatusWrites: 10,
	}
}

func TestAKeystoneIdentityBackendConforms(t *testing.T) {
	conformance.RunAttached(t, identityBackends(), &conformance.World{
		Env: env, Admin: admin, AsOperator: asOperator, Deployments: deployments, Jobs: jobs, MariaDB: mariadb, Secrets: secrets,
	})
}

// TestTwoWaysToConfigureDomainsAreReported also gives a directory a CA.
func TestTwoWaysToConfigureDomainsAreReported(t *testing.T) {
	t.Parallel()
	c, k, _ := converged(t, modes[0])
	b := directory(k.Namespace, "staff")
	b.Spec.LDAP.URLs = []string{"ldaps://ldap.example.com"}
	b.Spec.LDAP.TLS = &keystonev1alpha1.LDAPTLSSpec{CABundleSecretRef: commonv1.SecretRefSpec{Name: "ldap-ca"}}
	objects.Create(t, c, client.Object(account(k.Namespace, "staff")), client.Object(b))
	expect.Condition(t, c, b, vocabulary.ConditionAccepted, metav1.ConditionFalse, vocabulary.ReasonWaitingForCredentials,
		"Secret ldap-ca of spec.ldap.tls.caBundleSecretRef does not exist")
	bundle := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: "ldap-ca"}}
	bundle.StringData = map[string]string{"ca.crt": "no"}
	objects.Create(t, c, client.Object(bundle))
	expect.Condition(t, c, b, vocabulary.ConditionAccepted, metav1.ConditionFalse, vocabulary.ReasonWaitingForCredentials,
		"has no certificate in PEM")
	objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) {
		k.Spec.ExtraConfig = map[string]map[string]string{"identity": {"domain_configurations_from_database": "true"}}
	})
	expect.Condition(t, c, b, vocabulary.ConditionAccepted, metav1.ConditionFalse, vocabulary.ReasonConflictingOptions,
		"[identity] domain_configurations_from_database", "remove that option")
	expect.Condition(t, c, k, vocabulary.ConditionReady, metav1.ConditionTrue, vocabulary.ReasonAllReady)
}

// asked starts with a backend that is being deleted, and that asks whether its domain may go, too.
func asked(t *testing.T) (client.Client, *keystonev1alpha1.KeystoneIdentityBackend, string) {
	t.Helper()
	c, k, _ := converged(t, modes[0])
	b := directory(k.Namespace, "staff")
	b.Spec.Domain.DeletionPolicy = commonv1.DeletionPolicyDelete
	objects.Create(t, c, client.Object(account(k.Namespace, "staff")), client.Object(b))
	expect.Condition(t, c, b, vocabulary.ConditionReady, metav1.ConditionTrue, vocabulary.ReasonAllReady)
	removal := k.Name + "-" + attachment.RemovalName(b.UID)
	jobs.Set(k.Namespace, removal, standin.FailWith(3, "projects: 2. To agree, annotate the backend"))
	if err := c.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	expect.Condition(t, c, b, vocabulary.ConditionProgrammed, metav1.ConditionFalse, vocabulary.ReasonInUse, "projects: 2. To agree")
	expect.Condition(t, c, b, vocabulary.ConditionReady, metav1.ConditionFalse, vocabulary.ReasonDeleting, "projects: 2")
	expect.Condition(t, c, k, vocabulary.ConditionReady, metav1.ConditionTrue, vocabulary.ReasonAllReady)
	return c, b, removal
}

func TestADomainIsDeletedWithItsBackendOnceTheUserAgrees(t *testing.T) {
	t.Parallel()
	c, b, removal := asked(t)
	jobs.Set(b.Namespace, removal, standin.Hang())
	objects.Change(t, c, b, func(b *keystonev1alpha1.KeystoneIdentityBackend) {
		metav1.SetMetaDataAnnotation(&b.ObjectMeta, keystonev1alpha1.AnnotationDeleteDomain, "0123456789ab")
	})
	run := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: removal}}
	expect.Object(t, c, run, func() error {
		if command := strings.Join(run.Spec.Template.Spec.Containers[0].Command, " "); !strings.Contains(command, `"agreed":"0123456789ab"`) {
			return fmt.Errorf("the Job runs %s", command)
		}
		return nil
	})
	jobs.Set(b.Namespace, removal, standin.Succeed())
	expect.Gone(t, c, client.Object(b))
	expect.Gone(t, c, client.Object(run))
}

func TestADomainStaysIfTheUserDoesNotAgree(t *testing.T) {
	t.Parallel()
	c, b, _ := asked(t)
	objects.Change(t, c, b, func(b *keystonev1alpha1.KeystoneIdentityBackend) {
		b.Spec.Domain.DeletionPolicy = commonv1.DeletionPolicyRetain
	})
	expect.Gone(t, c, client.Object(b))
}

// directory is a backend with a domain of its own name.
func directory(namespace, name string) *keystonev1alpha1.KeystoneIdentityBackend {
	return &keystonev1alpha1.KeystoneIdentityBackend{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: keystonev1alpha1.KeystoneIdentityBackendSpec{
			KeystoneRef: commonv1.ServiceReference{Name: testutil.Name},
			IdentityBackendSpec: keystonev1alpha1.IdentityBackendSpec{
				Domain: keystonev1alpha1.IdentityDomainSpec{Name: name},
				Type:   keystonev1alpha1.IdentityBackendLDAP,
				LDAP: &keystonev1alpha1.LDAPSpec{
					URLs: []string{"ldap://ldap.example.com"}, BindCredentialsSecretRef: commonv1.CredentialsReference{Name: name + "-account"},
					Users: keystonev1alpha1.LDAPUsersSpec{Tree: "ou=people,dc=example,dc=com"},
				},
			},
		},
	}
}

// account is the Secret of a backend.
func account(namespace, name string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name + "-account"},
		StringData: map[string]string{"username": "cn=reader,dc=example,dc=com", "password": "reader-pa$$word"},
	}
}
