package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// AnnotationRunAgain on a Keystone has schema sync, schema check and bootstrap run
// once more whenever its value changes, as after an older database was restored.
const AnnotationRunAgain = "keystone.openstack.c5c3.io/run-again"

// SelectorLabels returns the labels that select the API pods of the Keystone
// with the given name and no other pod.
func SelectorLabels(name string) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":     "keystone",
		"app.kubernetes.io/instance": name,
	}
}

// KeepsData reports whether the database stays when the Keystone is deleted. The
// keys stay with it: they are all that can read the credentials in it.
func (s *KeystoneSpec) KeepsData() bool {
	return s.DeletionPolicy == commonv1.DeletionPolicyRetain || !s.Database.IsManaged()
}

// PodSelector returns what selects the pods of all Keystones, those of Jobs and
// CronJobs among them, and no other pod.
func PodSelector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: "app.kubernetes.io/name", Operator: metav1.LabelSelectorOpIn, Values: []string{"keystone", "keystone-task"},
	}}}
}

// TerminationGracePeriod returns the seconds between the signal to stop and the
// one that kills.
func (s *KeystoneSpec) TerminationGracePeriod() int64 {
	if s.TerminationGracePeriodSeconds == nil {
		return DefaultTerminationGracePeriodSeconds
	}
	return *s.TerminationGracePeriodSeconds
}

// PreStopSleep returns the seconds a stopping pod still takes new requests.
func (s *KeystoneSpec) PreStopSleep() int64 {
	if s.PreStopSleepSeconds == nil {
		return DefaultPreStopSleepSeconds
	}
	return *s.PreStopSleepSeconds
}

// PasswordRotationEnabled reports whether the administrator's password is
// replaced on a schedule.
func (s *KeystoneSpec) PasswordRotationEnabled() bool {
	return s.Bootstrap.PasswordRotation != nil && s.Bootstrap.PasswordRotation.Enabled
}
