package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/policy"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/password"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

// everyPod returns the templates of all pods of a Keystone.
func everyPod(t *testing.T, s *pass.Scope) map[string]corev1.PodTemplateSpec {
	t.Helper()
	s.Resource.Spec.Bootstrap.PasswordRotation = &keystonev1alpha1.PasswordRotationSpec{Enabled: true}
	keystonev1alpha1.SetDefaults(s.Resource)
	templates := keystonesCode(t, s)
	templates["policy validation"] = jobOf(t, s, policy.ValidationTask(s.Pass)).Spec.Template
	templates["rotation of the password"] = password.Rotator(s.Resource).CronJob(s.Resource, "scripts").Spec.JobTemplate.Spec.Template
	return templates
}

func TestEveryPodPullsItsImageWithThePullSecretsOfTheSpec(t *testing.T) {
	s := fixture.Scope(fixture.Installed(fixture.Minimal()))
	for name, template := range everyPod(t, s) {
		if got := template.Spec.ImagePullSecrets; got != nil {
			t.Errorf("%s: has %v although the spec names none", name, got)
		}
	}
	s.Resource.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}, {Name: "mirror"}}
	for name, template := range everyPod(t, s) {
		if diff := cmp.Diff(s.Resource.Spec.ImagePullSecrets, template.Spec.ImagePullSecrets); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
