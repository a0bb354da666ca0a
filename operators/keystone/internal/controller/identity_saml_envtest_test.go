//go:build integration

package controller_test

import (
	"fmt"
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
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

func TestASAMLProviderComesAndGoes(t *testing.T) {
	t.Parallel()
	const entityID = "https://login.example.com/saml"
	c, k, _ := converged(t, modes[0])
	b := provider(k.Namespace, "university")
	b.Spec.Type, b.Spec.OIDC = keystonev1alpha1.IdentityBackendSAML, nil
	b.Spec.SAML = &keystonev1alpha1.SAMLSpec{
		EntityID: entityID, Metadata: keystonev1alpha1.SAMLMetadata{SecretRef: &commonv1.SecretRefSpec{Name: "login"}},
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: "login"},
		StringData: map[string]string{"metadata.xml": fixture.ProviderMetadata(t, "https://others.example.com")},
	}
	objects.Create(t, c, client.Object(b))
	refused := func(says ...string) {
		t.Helper()
		expect.Condition(t, c, b, vocabulary.ConditionAccepted, metav1.ConditionFalse, vocabulary.ReasonWaitingForCredentials, says...)
	}
	refused("Secret login of spec.saml.metadata.secretRef does not exist")
	objects.Create(t, c, client.Object(secret))
	refused(`its entityID is "https://others.example.com"`, "set spec.saml.entityID to exactly that")
	objects.Change(t, c, secret, func(s *corev1.Secret) { s.Data["metadata.xml"] = []byte(fixture.ProviderMetadata(t, entityID)) })
	expect.Condition(t, c, b, vocabulary.ConditionReady, metav1.ConditionTrue, vocabulary.ReasonAllReady)
	expect.Condition(t, c, b, vocabulary.ConditionAccepted, metav1.ConditionTrue, vocabulary.ReasonExpiresSoon,
		"Its metadata has no end, and its certificate expires on ")
	if got := b.Status.MetadataURL; !strings.HasSuffix(got, "/identity_providers/university/protocols/saml2/websso/mellon/metadata") {
		t.Errorf("the status has %s", got)
	}
	containers := func(want int) {
		t.Helper()
		deploy := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Name}}
		expect.Object(t, c, deploy, func() error {
			if got := len(deploy.Spec.Template.Spec.Containers); got != want {
				return fmt.Errorf("the pods have %d containers", got)
			}
			return nil
		})
	}
	containers(2)
	if err := c.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	expect.Gone(t, c, client.Object(b))
	containers(1)
	expect.Condition(t, c, k, vocabulary.ConditionReady, metav1.ConditionTrue, vocabulary.ReasonAllReady)
}
