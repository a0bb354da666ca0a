// Package tempest runs OpenStack's own tests of the Identity API as a Job, and reads what they print.
package tempest

import (
	_ "embed" // for the Job

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/kubectl-forge/internal/login"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

const (
	// Image has Tempest and keystone_tempest_plugin. Its tag is the version of Tempest, which tests
	// every release of OpenStack.
	Image = "ghcr.io/c5c3/tempest:43"
	// Container is the name of the only container.
	Container = "tempest"
)

//go:embed job.yaml
var manifest []byte

// Job returns the Job that tests the Keystone as its administrator. Its image takes the variables of
// the OpenStack client and the release of the Keystone, which decides about tests that do not fit. It
// prints a line for each test and writes a [Summary] as its termination message.
func Job(k *keystonev1alpha1.Keystone, image string) (*batchv1.Job, error) {
	run := &batchv1.Job{}
	if err := yaml.UnmarshalStrict(manifest, run); err != nil {
		return nil, err
	}
	run.Labels["app.kubernetes.io/instance"] = k.Name
	// The name of a Job becomes a label of its pods.
	run.Namespace, run.GenerateName = k.Namespace, k.Name[:min(len(k.Name), 40)]+"-tempest-"
	pod := &run.Spec.Template
	pod.Labels, pod.Spec.ImagePullSecrets = run.Labels, k.Spec.ImagePullSecrets
	container, password := &pod.Spec.Containers[0], k.Spec.Bootstrap.AdminPasswordSecretRef
	container.Image = image
	// The password stays in its Secret.
	container.Env = []corev1.EnvVar{
		{Name: "OS_AUTH_URL", Value: keystonev1alpha1.LocalEndpoint(k.Namespace, k.Name)},
		{Name: "OS_IDENTITY_API_VERSION", Value: "3"},
		{Name: "OS_INTERFACE", Value: "internal"},
		{Name: "OS_REGION_NAME", Value: k.Spec.Bootstrap.Region},
		{Name: "OS_USERNAME", Value: k.Spec.Bootstrap.AdminUser},
		{Name: "OS_USER_DOMAIN_NAME", Value: login.DefaultDomain},
		{Name: "OS_PROJECT_NAME", Value: login.AdminProject},
		{Name: "OS_PROJECT_DOMAIN_NAME", Value: login.DefaultDomain},
		{Name: "OS_PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: password.Name}, Key: password.KeyOr("password"),
		}}},
		{Name: "KEYSTONE_RELEASE", Value: k.Status.InstalledRelease},
	}
	return run, nil
}
