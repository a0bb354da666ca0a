//go:build integration

package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// leftWebhooks are webhooks of the Keystone operator for one namespace, at a Service that is
// gone.
func leftWebhooks(namespace string) *admissionv1.ValidatingWebhookConfiguration {
	return &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "left-" + namespace, Labels: map[string]string{service.LabelName: "keystone-operator"}},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "vkeystone.kb.io", AdmissionReviewVersions: []string{"v1"},
			SideEffects: ptr.To(admissionv1.SideEffectClassNone), FailurePolicy: ptr.To(admissionv1.Fail),
			ClientConfig: admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{
				Namespace: "keystone-system-" + namespace, Name: "keystone-operator",
			}},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update, admissionv1.Delete},
				Rule: admissionv1.Rule{
					APIGroups: []string{keystonev1alpha1.GroupVersion.Group}, APIVersions: []string{"*"}, Resources: []string{"keystones"},
				},
			}},
		}},
	}
}

// It does what docs/backup-and-restore.md says about operators that were removed first.
func TestAKeystoneWhoseOperatorWasRemovedFirstCanStillBeDeleted(t *testing.T) {
	u := in(t, env.Namespace(t), "")
	k := brokenKeystone(t, u.namespace)
	k.Finalizers = []string{"keystone.openstack.c5c3.io/finalizer"}
	if err := admin.Update(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if err := admin.Delete(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if err := admin.Create(t.Context(), leftWebhooks(u.namespace)); err != nil {
		t.Fatal(err)
	}
	removal := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"finalizers": null}}`))
	release := func(options ...client.PatchOption) error {
		return admin.Patch(t.Context(), k.DeepCopy(), removal, options...)
	}
	expect.Eventually(t, "the webhooks refuse the removal of finalizers", func(context.Context) error {
		if err := release(client.DryRunAll); !apierrors.IsInternalError(err) {
			return fmt.Errorf("the removal ended with %w", err)
		}
		return nil
	})

	u.run(t, "doctor").expect(t, CodeNotReady, "its webhooks are left, and refuse every change of a Keystone",
		"kubectl delete validatingwebhookconfigurations,mutatingwebhookconfigurations -l app.kubernetes.io/name=keystone-operator")

	ours := client.MatchingLabels{service.LabelName: "keystone-operator"}
	for _, left := range []client.Object{&admissionv1.ValidatingWebhookConfiguration{}, &admissionv1.MutatingWebhookConfiguration{}} {
		if err := admin.DeleteAllOf(t.Context(), left, ours); err != nil {
			t.Fatal(err)
		}
	}
	expect.Eventually(t, "the finalizers are removed", func(context.Context) error { return client.IgnoreNotFound(release()) })
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(k), k); !apierrors.IsNotFound(err) {
		t.Errorf("the Keystone is still there: %v", err)
	}
	if status := u.run(t, "status"); !strings.Contains(status.err, "there is no ControlPlane and no service") {
		t.Errorf("got %+v", status)
	}
}
