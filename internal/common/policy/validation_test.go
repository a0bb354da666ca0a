package policy

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// validatedBy080 is a pass after an operator of version 0.8.0 has validated the rules.
func validatedBy080(t *testing.T, rules string) *service.Pass {
	t.Helper()
	h := instance.Brownfield()
	h.Spec.PolicyOverrides = &commonv1.PolicySpec{}
	p := instance.Pass(t, h, interceptor.Funcs{})
	old := &corev1.ConfigMap{ObjectMeta: p.Meta("harbour-config-old"), Data: map[string]string{File: rules}}
	old.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "example.com/v1", Kind: "Harbour", Name: h.Name, UID: h.UID, Controller: ptr.To(true),
	}}
	if err := p.Client.Create(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	service.Config.Put(p.Slots, service.Rendered{ConfigMap: old.Name, Policy: rules})
	earlier := ValidationTask(p)
	earlier.RunKey = []any{p.Spec.Image.Reference(), old.Name}
	desired, err := deployment.TaskJob(p, earlier)
	if err != nil {
		t.Fatal(err)
	}
	instance.Succeed(t, p, desired)
	return p
}

func TestOnlyChangedPolicyRulesAreValidatedAgain(t *testing.T) {
	const rules = "\"harbour:enter\": \"role:pilot\"\n"
	for name, c := range map[string]struct {
		rules string
		again bool
	}{
		"the same rules": {rules, false},
		"other rules":    {"\"harbour:enter\": \"@\"\n", true},
	} {
		p := validatedBy080(t, rules)
		// Each version of the operator has another ConfigMap: the second one finds what the first one has recorded.
		for _, configMap := range []string{"harbour-config-new", "harbour-config-newer"} {
			service.Config.Put(p.Slots, service.Rendered{ConfigMap: configMap, Policy: c.rules})
			if outcome := ReconcileValidation(t.Context(), p); outcome.IsDone() == c.again {
				t.Errorf("%s, %s: got %s: %s", name, configMap, outcome.Reason(), outcome.Message())
			}
		}
	}
}
