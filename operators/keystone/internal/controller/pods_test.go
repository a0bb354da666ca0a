package controller

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/policy"
	"github.com/c5c3/forge/internal/common/testutil/apitest"
	commonv1 "github.com/c5c3/forge/internal/common/types"
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

func TestEveryPodRunsWhereTheSpecSays(t *testing.T) {
	s := fixture.Scope(fixture.Installed(fixture.Minimal()))
	want := apitest.PodSettings()
	s.Resource.Spec.PodSettings = want
	for name, template := range everyPod(t, s) {
		pod := template.Spec
		got := commonv1.PodSettings{
			NodeSelector: pod.NodeSelector, Tolerations: pod.Tolerations, RuntimeClassName: pod.RuntimeClassName, HostAliases: pod.HostAliases,
		}
		if diff := cmp.Diff(commonv1.PodSettings{
			NodeSelector: want.NodeSelector, Tolerations: want.Tolerations,
			RuntimeClassName: want.RuntimeClassName, HostAliases: want.HostAliases,
		}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
			mounted := slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == "/extra" })
			set := slices.ContainsFunc(container.Env, func(v corev1.EnvVar) bool { return v.Name == "REQUESTS_CA_BUNDLE" })
			if !mounted || !set {
				t.Errorf("container %s of %s has the volume: %t, the variable: %t", container.Name, name, mounted, set)
			}
		}
	}
}

// TestNoPodLosesADirectoryOrAVariableToTheSpec expects of what the operator gives a container
// that users cannot take it.
func TestNoPodLosesADirectoryOrAVariableToTheSpec(t *testing.T) {
	table := commonv1.PodRules("spec", "keystone", func(s *commonv1.PodSettings) *commonv1.PodSettings { return s })
	refused := func(settings commonv1.PodSettings) bool { return len(table.Validate(&settings)) > 0 }
	for name, template := range everyPod(t, fixture.Scope(fixture.Installed(fixture.Managed()))) {
		for _, container := range slices.Concat(template.Spec.InitContainers, template.Spec.Containers) {
			for _, mount := range container.VolumeMounts {
				path := strings.TrimSuffix(mount.MountPath, "/")
				if !refused(commonv1.PodSettings{ExtraVolumes: []commonv1.ExtraVolume{
					{Name: "other", MountPath: path, ConfigMap: &commonv1.VolumeFiles{Name: "other"}},
				}}) {
					t.Errorf("container %s of %s may get another volume at %s", container.Name, name, path)
				}
			}
			for _, variable := range container.Env {
				if !refused(commonv1.PodSettings{ExtraEnv: []corev1.EnvVar{{Name: variable.Name}}}) {
					t.Errorf("container %s of %s may get another value of %s", container.Name, name, variable.Name)
				}
			}
		}
	}
}
