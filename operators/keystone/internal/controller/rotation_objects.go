package controller

import (
	"context"
	"embed"
	"fmt"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/rotation"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

//go:embed files/*_rotate.sh
var rotationScripts embed.FS

const (
	volumeScripts       = "scripts"
	scriptsDir          = "/scripts"
	scriptMode    int32 = 0o555

	rotationRetries int32 = 3
)

// rotator describes a CronJob that generates new keys or a new password in a staging
// Secret, and the objects around it.
type rotator struct {
	// name is the suffix of the CronJob and its service account, and the name of the
	// container.
	name string
	// keyType is the value of the metrics' label.
	keyType string
	// target is the value of the staging Secret's label.
	target string
	// source is the Secret that the Job may read, staging the one that it may write.
	source, staging string
	schedule        string
	suspend         bool
	// script is the name of an embedded file.
	script string
	// extraFiles are added next to the script.
	extraFiles map[string]string
	env        []corev1.EnvVar
	mounts     []deployment.Mount
	// volumes and writable are for directories that the containers may write.
	volumes        []corev1.Volume
	writable       []corev1.VolumeMount
	initContainers []corev1.Container
}

// ensureRotation ensures the service account, the staging Secret, the script and the
// CronJob of a rotation.
func ensureRotation(ctx context.Context, s *scope, r rotator) error {
	k := s.keystone
	if err := s.Owned.EnsurePresent(ctx, k, rotation.StagingSecret(k.Namespace, r.staging, r.target, definition.Labels(k.Name))); err != nil {
		return err
	}
	for _, obj := range r.access(k).Objects() {
		if err := apply.EnsureObject(ctx, s.Client, s.Scheme, k, obj, apply.FieldManager); err != nil {
			return err
		}
	}
	files, err := r.files()
	if err != nil {
		return err
	}
	scripts, err := config.CreateImmutableConfigMap(ctx, s.Client, s.APIReader, s.Scheme, k,
		r.scriptBase(k), k.Namespace, definition.Labels(k.Name), files)
	if err != nil {
		return err
	}
	cronJob := r.cronJob(k, scripts)
	if err := job.EnsureCronJob(ctx, s.Client, s.Scheme, k, cronJob); err != nil {
		return err
	}
	s.lifetimes.setDue(s.Key(k.Name), r.keyType, cronJob)
	return config.PruneImmutableConfigMaps(ctx, s.Client, k, r.scriptBase(k), k.Namespace, scripts, config.Retained)
}

// removeRotation deletes everything that ensureRotation creates, the CronJob first, so
// that no Job starts without its account.
func removeRotation(ctx context.Context, s *scope, r rotator) error {
	k := s.keystone
	meta := metav1.ObjectMeta{Namespace: k.Namespace, Name: r.objectName(k)}
	if err := apply.EnsureAbsent(ctx, s.Client, k, &batchv1.CronJob{ObjectMeta: meta}); err != nil {
		return err
	}
	for _, object := range slices.Backward(r.access(k).Objects()) {
		if err := apply.EnsureAbsent(ctx, s.Client, k, object); err != nil {
			return err
		}
	}
	staging := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: r.staging}}
	if err := apply.EnsureAbsent(ctx, s.Client, k, staging); err != nil {
		return err
	}
	return config.PruneImmutableConfigMaps(ctx, s.Client, k, r.scriptBase(k), k.Namespace, "", 0)
}

func (r rotator) objectName(k *keystonev1alpha1.Keystone) string { return k.Name + "-" + r.name }

func (r rotator) scriptBase(k *keystonev1alpha1.Keystone) string {
	return r.objectName(k) + "-script"
}

func (r rotator) access(k *keystonev1alpha1.Keystone) rotation.Access {
	return rotation.Access{
		Name: r.objectName(k), Namespace: k.Namespace, Labels: definition.Labels(k.Name), Source: r.source, Staging: r.staging,
	}
}

// files returns the content of the ConfigMap: the script and the files that it calls.
func (r rotator) files() (map[string]string, error) {
	content, err := rotationScripts.ReadFile("files/" + r.script)
	if err != nil {
		return nil, fmt.Errorf("the operator lacks the file %s; this is a bug in the operator", r.script)
	}
	files := map[string]string{r.script: string(content), rotation.ScriptFile: rotation.Script}
	maps.Copy(files, r.extraFiles)
	return files, nil
}

func (r rotator) cronJob(k *keystonev1alpha1.Keystone, scripts string) *batchv1.CronJob {
	return &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: r.objectName(k), Namespace: k.Namespace, Labels: definition.Labels(k.Name)},
		Spec: batchv1.CronJobSpec{
			Schedule: r.schedule,
			Suspend:  ptr.To(r.suspend),
			JobTemplate: batchv1.JobTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: definition.TaskLabels(k.Name, r.name)}, Spec: batchv1.JobSpec{
				BackoffLimit:          ptr.To(rotationRetries),
				ActiveDeadlineSeconds: ptr.To(deployment.TaskDeadlineSeconds),
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: definition.TaskLabels(k.Name, r.name)},
					Spec:       r.podSpec(k, scripts),
				},
			}},
		},
	}
}

func (r rotator) podSpec(k *keystonev1alpha1.Keystone, scripts string) corev1.PodSpec {
	env := append([]corev1.EnvVar{
		{Name: "SECRET_NAME", Value: r.staging},
		{Name: "SECRET_NAMESPACE", ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"},
		}},
	}, r.env...)
	pod := deployment.PodsFor(&definition, k.ServiceSpec()).Spec(corev1.Container{
		Name: r.name, Image: scheduledImage(k), Command: []string{scriptsDir + "/" + r.script}, Env: env,
		Resources: deployment.TaskResources(k.Spec.Resources), VolumeMounts: r.writable,
	}, append([]deployment.Mount{scriptMount(scripts)}, r.mounts...)...)
	pod.RestartPolicy = corev1.RestartPolicyOnFailure
	pod.ServiceAccountName = r.objectName(k)
	pod.AutomountServiceAccountToken = ptr.To(true)
	pod.Volumes = append(pod.Volumes, r.volumes...)
	pod.InitContainers = r.initContainers
	return pod
}

func scriptMount(configMap string) deployment.Mount {
	return deployment.Mount{Path: scriptsDir, Volume: corev1.Volume{Name: volumeScripts, VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: configMap}, DefaultMode: ptr.To(scriptMode),
		},
	}}}
}
