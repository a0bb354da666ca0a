//go:build integration && helm

package main

import (
	"context"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/operators/keystone/internal/controller"
)

func TestHelmUpgradesRollsBackAndUninstallsWithoutDataLoss(t *testing.T) {
	resource := chart.Resource(t, chart.Env.Namespace(t))
	chart.Lifecycle(t, "../../tests/e2e/released", resource, "keystones.keystone.openstack.c5c3.io")
}

// The kinds of cert-manager are there from the start, as after an uninstallation.
func TestHelmUsesCertManagerOnlyWhereItIsRunning(t *testing.T) {
	const certificate = "kind: Certificate"
	namespace := chart.Env.Namespace(t)
	if strings.Contains(chart.Rendered(t, namespace), certificate) {
		t.Error("there would be a Certificate that nobody issues")
	}
	c := chart.Env.Client(t, controller.Controller.Scheme())
	webhook := &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "cert-manager-webhook"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "webhook.cert-manager.io", AdmissionReviewVersions: []string{"v1"}, SideEffects: ptr.To(admissionv1.SideEffectClassNone),
			ClientConfig: admissionv1.WebhookClientConfig{URL: ptr.To("https://127.0.0.1/validate")},
		}},
	}
	objects.Create(t, c, webhook)
	t.Cleanup(func() {
		if err := c.Delete(context.Background(), webhook); err != nil {
			t.Error(err)
		}
	})
	if !strings.Contains(chart.Rendered(t, namespace), certificate) {
		t.Error("the operator would issue its certificate beside a cert-manager that runs")
	}
}
