package keys

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/scheduled"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/cronjob"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// ReconcileRotation ensures the CronJob that generates new keys. Before the first
// installation there is nothing to rotate. Without a configuration, which the Config step
// reports, nothing is changed.
func (f Family) ReconcileRotation(ctx context.Context, s *pass.Scope) reconcile.Outcome {
	if service.Config.Value(s.Slots).ConfigMap == "" || s.Resource.Status.InstalledRelease == "" {
		return f.done(s)
	}
	if err := f.Rotator(s).Ensure(ctx, s); err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonReconcileError, err)
	}
	running, err := f.afterwards(ctx, s)
	var failed *migrationError
	switch {
	case errors.As(err, &failed):
		return reconcile.WriteFailed(keystonev1alpha1.ReasonCredentialMigrateFailed, err)
	case err != nil:
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	case running.state.Waiting != "":
		return deployment.Await(keystonev1alpha1.ReasonCredentialMigrateFailed,
			running.job, "encrypting the credentials with the new key", running.state, "")
	}
	words := scheduled.Task{
		Name: f.rotation.name, Does: f.rotation.does, Failed: keystonev1alpha1.ReasonRotationFailed, Database: pass.Database,
	}
	again, err := words.Check(ctx, s.Pass)
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	}
	return f.done(s).Within(running.again).Within(again)
}

// afterwards does what has to follow a rotation.
func (f Family) afterwards(ctx context.Context, s *pass.Scope) (migration, error) {
	if f.rotation.migrate == nil {
		return migration{}, nil
	}
	return f.rotation.migrate(ctx, s)
}

// Rotator describes the CronJob that generates new keys, and the objects around it.
func (f Family) Rotator(s *pass.Scope) cronjob.Rotator {
	k, r := s.Resource, f.rotation
	schedule, suspend := r.schedule(k)
	source := "/" + r.volume + "-src"
	writable := corev1.VolumeMount{Name: r.volume, MountPath: r.directory}
	sourceMount := deployment.SecretMount(r.volume+"-src", f.Of(s.Pass), source)
	return cronjob.Rotator{
		Name: r.name, KeyType: f.metric, Target: r.volume, Source: f.Of(s.Pass), Staging: stagingName(f.Of(s.Pass)),
		Schedule: schedule, Suspend: suspend, Script: r.script,
		Env:    append(pass.Database.ToolEnv(s.Pass), corev1.EnvVar{Name: r.maxActive, Value: MaxActive(f.maxActive(k))}),
		Mounts: append([]deployment.Mount{deployment.ConfigMount(s.Pass), sourceMount, r.others(k.Name)}, database.TLSMounts(s.Pass)...),
		Volumes: []corev1.Volume{{Name: r.volume, VolumeSource: corev1.VolumeSource{
			// Keys are never written to a disk.
			EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: keySpace(f.maxActive(k))},
		}}},
		Writable:       []corev1.VolumeMount{writable},
		InitContainers: []corev1.Container{copyKeys(k, source, r.directory, sourceMount, writable)},
	}
}

const (
	// spaceForKey is the memory that the file of a key takes, with its copy while the keys
	// are rotated: a page each.
	spaceForKey = 2 * 4096
	// minKeySpace is enough for 500 keys, also for those of a number that was lowered, and
	// maxKeySpace for as many as fit into a Secret.
	minKeySpace, maxKeySpace = 500 * spaceForKey, 20000 * spaceForKey
)

// keySpace returns how much memory the files of that number of keys may take.
func keySpace(number int32) *resource.Quantity {
	return resource.NewQuantity(min(max(int64(number)*spaceForKey, minKeySpace), maxKeySpace), resource.BinarySI)
}

// copyKeys copies the mounted keys to where keystone-manage may change them.
func copyKeys(
	k *keystonev1alpha1.Keystone, source, directory string, mounted deployment.Mount, writable corev1.VolumeMount,
) corev1.Container {
	return deployment.PodsFor(&pass.Definition, &k.Spec.ServiceSpec).Container(corev1.Container{
		Name: "copy-keys", Image: pass.ScheduledImage(k),
		Command:      []string{"sh", "-c", fmt.Sprintf("install -m 0400 %s/* %s/", source, directory)},
		Resources:    deployment.TaskResources(k.Spec.Resources),
		VolumeMounts: []corev1.VolumeMount{writable},
	}, mounted)
}
