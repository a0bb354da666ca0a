// Package tempest runs OpenStack's own tests of the Identity API as a Job, and reads what they print.
package tempest

import (
	"cmp"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/kubectl-forge/internal/login"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

const (
	// Image has Tempest and keystone_tempest_plugin. Its tag is the version of Tempest, which tests
	// every release of OpenStack.
	Image = "ghcr.io/c5c3/tempest:43"
	// AppName is the value of the label app.kubernetes.io/name of the pods.
	AppName = "tempest"
	// Container is the name of the only container.
	Container = "tempest"

	// deadline ends a run that nobody follows any more.
	deadline = 6 * time.Hour
	// kept is how long a Job is kept with its log after its end.
	kept = 24 * time.Hour
)

// Job returns the Job that tests the Keystone as its administrator. Its image takes the variables of
// the OpenStack client and the release of the Keystone, which decides about tests that do not fit. It
// prints a line for each test and writes a [Summary] as its termination message.
func Job(k *keystonev1alpha1.Keystone, image string) *batchv1.Job {
	labels := map[string]string{
		"app.kubernetes.io/name": AppName, "app.kubernetes.io/instance": k.Name, "app.kubernetes.io/managed-by": "kubectl-forge",
	}
	// The name of a Job becomes a label of its pods.
	prefix := k.Name[:min(len(k.Name), 40)] + "-" + AppName + "-"
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, GenerateName: prefix, Labels: labels},
		Spec: batchv1.JobSpec{
			BackoffLimit:            ptr.To(int32(0)),
			ActiveDeadlineSeconds:   ptr.To(int64(deadline.Seconds())),
			TTLSecondsAfterFinished: ptr.To(int32(kept.Seconds())),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       podSpec(k, image),
			},
		},
	}
}

// podSpec meets the restricted Pod Security Standard.
func podSpec(k *keystonev1alpha1.Keystone, image string) corev1.PodSpec {
	const writable = "writable"
	return corev1.PodSpec{
		RestartPolicy:                corev1.RestartPolicyNever,
		ImagePullSecrets:             k.Spec.ImagePullSecrets,
		AutomountServiceAccountToken: ptr.To(false),
		EnableServiceLinks:           ptr.To(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: ptr.To(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Volumes: []corev1.Volume{{Name: writable, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		Containers: []corev1.Container{{
			Name: Container, Image: image, Env: environment(k),
			VolumeMounts: []corev1.VolumeMount{{Name: writable, MountPath: "/tmp"}},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("200m"), corev1.ResourceMemory: resource.MustParse("256Mi")},
				Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
			},
		}},
	}
}

// environment is that of the OpenStack client. The password stays in its Secret.
func environment(k *keystonev1alpha1.Keystone) []corev1.EnvVar {
	ref := k.Spec.Bootstrap.AdminPasswordSecretRef
	return []corev1.EnvVar{
		{Name: "OS_AUTH_URL", Value: keystonev1alpha1.LocalEndpoint(k.Namespace, k.Name)},
		{Name: "OS_IDENTITY_API_VERSION", Value: "3"},
		{Name: "OS_INTERFACE", Value: "internal"},
		{Name: "OS_REGION_NAME", Value: k.Spec.Bootstrap.Region},
		{Name: "OS_USERNAME", Value: k.Spec.Bootstrap.AdminUser},
		{Name: "OS_USER_DOMAIN_NAME", Value: login.DefaultDomain},
		{Name: "OS_PROJECT_NAME", Value: login.AdminProject},
		{Name: "OS_PROJECT_DOMAIN_NAME", Value: login.DefaultDomain},
		{Name: "OS_PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: ref.Name}, Key: cmp.Or(ref.Key, "password"),
		}}},
		{Name: "KEYSTONE_RELEASE", Value: strings.TrimSpace(k.Status.InstalledRelease)},
	}
}
