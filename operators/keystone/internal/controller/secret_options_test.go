package controller

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/policy"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

func TestSecretOptionsAreMountedAfterTheConfigurationInEveryPod(t *testing.T) {
	s := fixture.Scope(fixture.Installed(fixture.Minimal()))
	rendered := service.Rendered{
		ConfigMap: "keystone-config-01234567", Secret: "keystone-extra-config-0123456789abcdef", SecretFile: "secret.conf",
	}
	service.Config.Put(s.Slots, rendered)
	templates := keystonesCode(t, s)
	templates["policy validation"] = jobOf(t, s, policy.ValidationTask(s.Pass)).Spec.Template
	want := &corev1.ProjectedVolumeSource{
		DefaultMode: ptr.To(int32(0o400)),
		Sources: []corev1.VolumeProjection{
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: rendered.ConfigMap}}},
			{Secret: &corev1.SecretProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: rendered.Secret},
				Items:                []corev1.KeyToPath{{Key: "secret.conf", Path: "secret.conf"}},
			}},
		},
	}
	for name, template := range templates {
		if diff := cmp.Diff(want, configOf(template).Projected); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, pass.ConfigDir, diff)
		}
	}
	if "secret.conf" < "keystone.conf" {
		t.Error("oslo.config reads the files in the order of their names")
	}
}

func TestOtherOptionsOfASecretAreCheckedAgain(t *testing.T) {
	s := fixture.Scope(fixture.Minimal())
	keys := map[string]bool{}
	for _, name := range []string{"", "keystone-extra-config-1", "keystone-extra-config-2"} {
		service.Config.Put(s.Slots, service.Rendered{ConfigMap: "keystone-config-01234567", Secret: name, Given: name, SecretFile: "secret.conf"})
		for _, described := range []deployment.Task{settings.CheckTask(s), policy.ValidationTask(s.Pass)} {
			keys[described.Name+jobOf(t, s, described).Annotations["forge.c5c3.io/pod-spec-hash"]] = true
		}
	}
	if len(keys) != 6 {
		t.Errorf("three states of the options lead to %d runs of the two checks, expected 6", len(keys))
	}
}

// The other rules about such a Secret are those of every service.
func TestASecretCannotSetReservedOptions(t *testing.T) {
	for name, content := range map[string]string{
		"the operator's option":  "[token]\nprovider = hunter2\n",
		"the lifetime of tokens": "[TOKEN]\nexpiration = hunter2\n",
	} {
		k := fixture.Minimal()
		k.Spec.ExtraConfigSecretRef = &commonv1.SecretRefSpec{Name: "keystone-ldap"}
		s := fixture.Scope(k)
		s.Refs = fake.NewClientBuilder().WithScheme(Controller.Scheme()).WithObjects(
			secretOf(k, "keystone-ldap", map[string]string{"keystone.conf": content})).Build()
		outcome := settings.Reconcile(t.Context(), s)
		if outcome.Reason() != vocabulary.ReasonConfigError || strings.Contains(outcome.Message(), "hunter2") {
			t.Errorf("%s: got %s: %s", name, outcome.Reason(), outcome.Message())
		}
	}
}
