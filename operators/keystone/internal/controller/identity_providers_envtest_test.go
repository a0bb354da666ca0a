//go:build integration

package controller_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// provider is a backend of the type OIDC with a domain of its own name.
func provider(namespace, name string) *keystonev1alpha1.KeystoneIdentityBackend {
	b := directory(namespace, name)
	b.Spec.Type, b.Spec.LDAP = keystonev1alpha1.IdentityBackendOIDC, nil
	b.Spec.OIDC = &keystonev1alpha1.OIDCSpec{
		Issuer: "https://login.example.com/" + name, ClientID: "keystone", ClientSecretRef: commonv1.SecretRefSpec{Name: name + "-client"},
	}
	b.Spec.Mappings = []keystonev1alpha1.MappingRule{{
		Local:  []keystonev1alpha1.LocalMapping{{User: &keystonev1alpha1.MappedUser{Name: "{0}"}}},
		Remote: []keystonev1alpha1.RemoteMapping{{Claim: "sub"}},
	}}
	return b
}

func clientOf(b *keystonev1alpha1.KeystoneIdentityBackend) client.Object {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: b.Spec.OIDC.ClientSecretRef.Name},
		StringData: map[string]string{"client-secret": "hunter2-client"},
	}
}

// domains expects these ones in the status of the Keystone.
func domains(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, want ...keystonev1alpha1.IdentityDomain) {
	t.Helper()
	expect.Object(t, c, k, func() error {
		if !slices.Equal(k.Status.IdentityDomains, want) {
			return fmt.Errorf("users can log in at %v", k.Status.IdentityDomains)
		}
		return nil
	})
}

func TestAProxyComesWithAProviderAndGoesWithIt(t *testing.T) {
	t.Parallel()
	c, k, _ := converged(t, modes[0])
	b := provider(k.Namespace, "company")
	objects.Create(t, c, client.Object(b))
	expect.Condition(t, c, b, vocabulary.ConditionAccepted, metav1.ConditionFalse, vocabulary.ReasonWaitingForCredentials,
		"Secret company-client of spec.oidc.clientSecretRef does not exist")
	objects.Create(t, c, clientOf(b))
	expect.Condition(t, c, b, vocabulary.ConditionReady, metav1.ConditionTrue, vocabulary.ReasonAllReady)
	containers := func(want ...string) {
		t.Helper()
		deploy := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Name}}
		expect.Object(t, c, deploy, func() error {
			var names []string
			for _, container := range deploy.Spec.Template.Spec.Containers {
				names = append(names, container.Name)
			}
			if got := strings.Join(names, " "); got != strings.Join(want, " ") {
				return fmt.Errorf("the pods have the containers %s", got)
			}
			return nil
		})
	}
	containers("keystone", "proxy")
	domains(t, c, k, keystonev1alpha1.IdentityDomain{Name: "company", IdentityProvider: "company", Protocol: "openid"})
	if err := c.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	expect.Gone(t, c, client.Object(b))
	containers("keystone")
	domains(t, c, k)
	expect.Condition(t, c, k, vocabulary.ConditionReady, metav1.ConditionTrue, vocabulary.ReasonAllReady)
}

func TestAProxyOfTheUsersOwnIsReported(t *testing.T) {
	t.Parallel()
	c, k, _ := converged(t, modes[0])
	objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) {
		k.Spec.Federation = &keystonev1alpha1.FederationSpec{Enabled: true}
	})
	b := provider(k.Namespace, "company")
	objects.Create(t, c, clientOf(b), client.Object(b))
	expect.Condition(t, c, b, vocabulary.ConditionAccepted, metav1.ConditionFalse, vocabulary.ReasonConflictingOptions,
		"spec.federation.enabled", "remove that")
	expect.Condition(t, c, k, vocabulary.ConditionReady, metav1.ConditionTrue, vocabulary.ReasonAllReady)
}
