package backup

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
)

// Secrets returns the names of the Secrets that a backup reads.
func Secrets(cp *c5c3v1alpha1.ControlPlane, all services.List) []string {
	if cp.Spec.Backup == nil {
		return nil
	}
	return append(all.KeySecrets(cp), cp.Spec.Backup.EncryptionKeySecretRef.Name,
		controlplane.TokenKeysName(cp), controlplane.CredentialKeysName(cp))
}

// Trim drops what no pass reads from the Jobs, their pods and the CronJob.
func Trim(obj client.Object) {
	switch cached := obj.(type) {
	case *batchv1.CronJob:
		cached.ManagedFields, cached.Spec = nil, batchv1.CronJobSpec{}
	case *batchv1.Job:
		cached.ManagedFields, cached.Spec = nil, batchv1.JobSpec{Suspend: cached.Spec.Suspend}
	case *corev1.Pod:
		cached.ManagedFields, cached.Spec = nil, corev1.PodSpec{}
	}
}
