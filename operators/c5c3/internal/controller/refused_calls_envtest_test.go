//go:build integration

package controller_test

import (
	"testing"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// refusedCall is a call that a policy or missing permissions may reject.
type refusedCall struct {
	condition, reason    string
	verb, resource, name string
}

func TestARefusedChangeOfTheCloudsYamlIsNamed(t *testing.T) {
	t.Parallel()
	w := converged(t)
	call := refusedCall{"KORCReady", "SeedCloudsYamlError", "update", "secrets", "controlplane-admin-app-credential"}
	allow := w.refuse(t, call.verb, call.resource, call.name)
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Spec.KORC.AdminCredential.CloudCredentialsRef.CloudName = "renamed"
	})
	w.isRefused(t, call)
	allow()
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func (w *world) isRefused(t *testing.T, call refusedCall) {
	t.Helper()
	w.expect(t, call.condition, metav1.ConditionFalse, call.reason, call.name, call.verb+" "+call.resource)
	w.expect(t, "Ready", metav1.ConditionFalse, "NotAllReady", call.condition)
	w.expect(t, "Reconciling", metav1.ConditionTrue, "Progressing")
}

func TestAForbiddenReadOfADeliveredSecretIsReported(t *testing.T) {
	t.Parallel()
	for _, tc := range []refusedCall{
		{"KORCReady", "AdminPasswordError", "get", "secrets", "controlplane-keystone-admin-credentials"},
		{"AdminCredentialReady", "CloudsYamlError", "get", "secrets", "k-orc-clouds-yaml"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := emptyWorld(t)
			w.seed()
			secrets.Set("ExternalSecret", w.cp.Namespace, tc.name, standin.Hang())
			objects.Create(t, w, w.cp)
			w.report(t, "2025.2", "", true)
			expect.Exists(t, w, &esov1.ExternalSecret{ObjectMeta: w.meta(tc.name)})
			allow := w.refuse(t, tc.verb, tc.resource, tc.name)
			secrets.Set("ExternalSecret", w.cp.Namespace, tc.name, standin.Succeed())
			w.isRefused(t, tc)
			allow()
			w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
		})
	}
}

func TestAnExternalSecretIsNotCreatedBeforeItsSecretNameIsChecked(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	call := refusedCall{"DBCredentialsReady", "ExternalSecretError", "get", "secrets", "controlplane-keystone-db-credentials"}
	allow := w.refuse(t, call.verb, call.resource, call.name)
	objects.Create(t, w, w.cp)
	w.isRefused(t, call)
	es := &esov1.ExternalSecret{ObjectMeta: w.meta(call.name)}
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(es), es); !apierrors.IsNotFound(err) {
		t.Errorf("it was made all the same (%v)", err)
	}
	allow()
	w.report(t, "2025.2", "", true)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

// Between the verification of a credential and its delivery to the users there are two
// writes. If the second one is rejected, the next pass already finds that when it checks
// what was published before, and reports it elsewhere.
func TestARefusedCallDuringCredentialDeliveryIsReported(t *testing.T) {
	t.Parallel()
	const credential = "controlplane-admin-app-credential"
	for _, tc := range []refusedCall{
		{"AdminCredentialReady", "SecretError", "update", "secrets", credential},
		{"AdminCredentialReady", "PushSecretError", "apply", "pushsecrets", credential + "-backup"},
	} {
		t.Run(tc.verb+" "+tc.resource, func(t *testing.T) {
			t.Parallel()
			w := emptyWorld(t)
			w.seed()
			korc.Set("ApplicationCredential", w.cp.Namespace, credential, standin.Hang())
			objects.Create(t, w, w.cp)
			w.report(t, "2025.2", "", true)
			w.expect(t, "KORCReady", metav1.ConditionFalse, "WaitingForApplicationCredential", credential)
			w.imported(t)
			changes := w.follow(t)
			allow := w.refuse(t, tc.verb, tc.resource, tc.name)
			korc.Set("ApplicationCredential", w.cp.Namespace, credential, standin.Succeed())
			changes.Condition(t, tc.condition, metav1.ConditionFalse, tc.reason, tc.verb+" "+tc.resource)
			w.usersHaveNone(t)
			allow()
			w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
		})
	}
}
