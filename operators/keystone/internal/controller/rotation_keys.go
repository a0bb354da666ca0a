package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// keyRotation is what differs between the CronJobs of the two families.
type keyRotation struct {
	// name is the suffix of the CronJob and of the objects around it.
	name   string
	does   string
	script string
	// volume is the name of the volume with the keys, directory the path from which
	// Keystone reads them.
	volume    string
	directory string
	maxActive string
	schedule  func(*keystonev1alpha1.Keystone) (schedule string, suspend bool)
	// others mounts the keys of the other family.
	others func(*keystonev1alpha1.Keystone) deployment.Mount
	// afterwards runs when everything is in place. It returns done if it has nothing else
	// to report. It may be nil.
	afterwards func(ctx context.Context, s *scope, done reconcile.Outcome) reconcile.Outcome
}

var fernetRotation = keyRotation{
	name: keystonev1alpha1.FernetRotation, does: "rotating the token keys", script: "fernet_rotate.sh",
	volume: volumeFernetKeys, directory: fernetKeysDir, maxActive: "OS_FERNET_TOKENS__MAX_ACTIVE_KEYS",
	schedule: func(k *keystonev1alpha1.Keystone) (string, bool) {
		return k.Spec.Fernet.RotationSchedule, k.Spec.Fernet.Suspend
	},
	others: func(k *keystonev1alpha1.Keystone) deployment.Mount {
		return deployment.SecretMount(volumeCredentialKeys, credentialKeysName(k), credentialKeysDir+"/")
	},
}

var credentialRotation = keyRotation{
	name: keystonev1alpha1.CredentialRotation, does: "rotating the credential keys", script: "credential_rotate.sh",
	volume: volumeCredentialKeys, directory: credentialKeysDir, maxActive: "OS_CREDENTIAL__MAX_ACTIVE_KEYS",
	schedule: func(k *keystonev1alpha1.Keystone) (string, bool) {
		return k.Spec.CredentialKeys.RotationSchedule, k.Spec.CredentialKeys.Suspend
	},
	others: func(k *keystonev1alpha1.Keystone) deployment.Mount {
		return deployment.SecretMount(volumeFernetKeys, fernetKeysName(k), fernetKeysDir+"/")
	},
	afterwards: migrateCredentials,
}

// reconcileRotation ensures the CronJob that generates new keys. Before the first
// installation there is nothing to rotate. Without a configuration, which the Config step
// reports, nothing is changed.
func (f keyFamily) reconcileRotation(ctx context.Context, s *scope) reconcile.Outcome {
	if service.Config.Value(s.Slots).ConfigMap == "" || s.keystone.Status.InstalledRelease == "" {
		return f.done(s)
	}
	if err := ensureRotation(ctx, s, f.rotator(s)); err != nil {
		return reconcile.WriteFailed(keystonev1alpha1.ReasonReconcileError, err)
	}
	outcome := f.done(s)
	if f.rotation.afterwards != nil {
		outcome = f.rotation.afterwards(ctx, s, outcome)
	}
	return followSchedule(ctx, s, f.rotation.words(), outcome)
}

func (r keyRotation) words() schedule {
	return schedule{name: r.name, does: r.does, failed: keystonev1alpha1.ReasonRotationFailed}
}

func (f keyFamily) rotator(s *scope) rotator {
	k, r := s.keystone, f.rotation
	schedule, suspend := r.schedule(k)
	source := "/" + r.volume + "-src"
	writable := corev1.VolumeMount{Name: r.volume, MountPath: r.directory}
	sourceMount := deployment.SecretMount(r.volume+"-src", f.name(k), source)
	return rotator{
		name: r.name, keyType: f.metric, target: r.volume, source: f.name(k), staging: stagingName(f.name(k)),
		schedule: schedule, suspend: suspend, script: r.script,
		env:    append(keystoneDatabase.ToolEnv(s.Pass), corev1.EnvVar{Name: r.maxActive, Value: activeKeys(f.maxActive(k))}),
		mounts: append([]deployment.Mount{deployment.ConfigMount(s.Pass), sourceMount, r.others(k)}, database.TLSMounts(s.Pass)...),
		volumes: []corev1.Volume{{Name: r.volume, VolumeSource: corev1.VolumeSource{
			// Keys are never written to a disk.
			EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: ptr.To(resource.MustParse("1Mi"))},
		}}},
		writable:       []corev1.VolumeMount{writable},
		initContainers: []corev1.Container{copyKeys(k, source, r.directory, sourceMount, writable)},
	}
}

// copyKeys copies the mounted keys to where keystone-manage may change them.
func copyKeys(
	k *keystonev1alpha1.Keystone, source, directory string, mounted deployment.Mount, writable corev1.VolumeMount,
) corev1.Container {
	return deployment.PodsFor(&definition, k.ServiceSpec()).Container(corev1.Container{
		Name: "copy-keys", Image: scheduledImage(k),
		Command:      []string{"sh", "-c", fmt.Sprintf("install -m 0400 %s/* %s/", source, directory)},
		Resources:    deployment.TaskResources(k.Spec.Resources),
		VolumeMounts: []corev1.VolumeMount{writable},
	}, mounted)
}
