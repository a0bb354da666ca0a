package v1alpha1_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
	. "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/webhook"
)

func FuzzAdmissionTakesAnyJSON(f *testing.F) {
	hook := webhook.NewControlPlaneWebhook()
	hook.Reader = fake.NewClientBuilder().WithScheme(apitest.Scheme(f, AddToScheme)).Build()
	ControlPlanes().FuzzAdmission(f, hook, nil)
}
