package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// AnnotationRunAgain on a Keystone makes schema sync, schema check and bootstrap run
// again whenever its value changes, for example after an older database was restored.
const AnnotationRunAgain = "keystone.openstack.c5c3.io/run-again"

// AnnotationAcceptStagedKeys on a Keystone lets staged keys replace the keys in use
// although they were not derived from them, for example because the keys in use have
// leaked. Its value is the one that the event of their rejection names, so that it
// applies to that replacement only.
const AnnotationAcceptStagedKeys = "keystone.openstack.c5c3.io/accept-staged-keys"

// Suffixes of the CronJobs of a Keystone that rotate something. The name is that
// of the Keystone, a hyphen and the suffix.
const (
	// FernetRotation generates new token keys.
	FernetRotation = "fernet-rotate"
	// CredentialRotation generates new credential keys.
	CredentialRotation = "credential-rotate"
	// PasswordRotation generates a new password for the administrator.
	PasswordRotation = "admin-password-rotate"
)

// Kind is the name of the kind.
const Kind = "Keystone"

// KindIdentityBackend is the name of the kind of sources of users.
const KindIdentityBackend = "KeystoneIdentityBackend"

// AppName is the value of app.kubernetes.io/name on the API pods.
const AppName = "keystone"

// TaskName is the value of app.kubernetes.io/name on the pods of Jobs and CronJobs.
// It differs from [AppName] so that no Service, PodDisruptionBudget or Deployment
// selector ever counts a Job's pod as an API pod.
const TaskName = "keystone-task"

// SelectorLabels returns the labels that select the API pods of the Keystone
// with the given name and no other pod.
func SelectorLabels(name string) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":     AppName,
		"app.kubernetes.io/instance": name,
	}
}

// PodSelector returns what selects the pods of all Keystones, those of Jobs and
// CronJobs among them, and no other pod.
func PodSelector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: "app.kubernetes.io/name", Operator: metav1.LabelSelectorOpIn, Values: []string{AppName, TaskName},
	}}}
}

// ProxyImageOrDefault returns the image of the proxy in pods with a provider.
func (s *KeystoneSpec) ProxyImageOrDefault() commonv1.ImageSpec {
	if s.ProxyImage != nil {
		return *s.ProxyImage
	}
	return commonv1.ImageSpec{Repository: "ghcr.io/c5c3/keystone-proxy", Tag: "2.4"}
}

// PasswordRotationEnabled reports whether the administrator's password is
// replaced on a schedule.
func (s *KeystoneSpec) PasswordRotationEnabled() bool {
	return s.Bootstrap.PasswordRotation != nil && s.Bootstrap.PasswordRotation.Enabled
}
