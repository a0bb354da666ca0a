// Package cronjob applies the CronJobs of a Keystone and reports the results of their Jobs.
package cronjob

import (
	"context"
	"embed"
	"fmt"
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
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

//go:embed files/*_rotate.sh files/admin_password.py
var rotationScripts embed.FS

const (
	volumeScripts       = "scripts"
	scriptsDir          = "/scripts"
	scriptMode    int32 = 0o555

	rotationRetries int32 = 3
)

// Rotator describes a CronJob that generates new keys or a new password in a staging
// Secret, and the objects around it.
type Rotator struct {
	// Name is the suffix of the CronJob and its service account, and the name of the
	// container.
	Name string
	// KeyType is the value of the metrics' label.
	KeyType string
	// Target is the value of the staging Secret's label.
	Target string
	// Source is the Secret that the Job may read, Staging the one that it may write.
	Source, Staging string
	Schedule        string
	Suspend         bool
	// Script is the name of an embedded file, and Program that of another one that it
	// calls, "" for none.
	Script, Program string
	Env             []corev1.EnvVar
	Mounts          []deployment.Mount
	// Volumes and Writable are for directories that the containers may write.
	Volumes        []corev1.Volume
	Writable       []corev1.VolumeMount
	InitContainers []corev1.Container
}

// Ensure ensures the service account, the staging Secret, the script and the CronJob of a
// rotation.
func (r Rotator) Ensure(ctx context.Context, s *pass.Scope) error {
	k := s.Resource
	staging := rotation.StagingSecret(k.Namespace, r.Staging, r.Target, pass.Definition.Labels(k.Name))
	if err := s.Owned.EnsurePresent(ctx, k, staging); err != nil {
		return err
	}
	for _, obj := range r.Access(k).Objects() {
		if err := apply.EnsureObject(ctx, s.Client, s.Scheme, k, obj, apply.FieldManager); err != nil {
			return err
		}
	}
	files, err := r.Files()
	if err != nil {
		return err
	}
	scripts, err := config.CreateImmutableConfigMap(ctx, s.Client, s.APIReader, s.Scheme, k,
		r.ScriptBase(k), k.Namespace, pass.Definition.Labels(k.Name), files)
	if err != nil {
		return err
	}
	cronJob := r.CronJob(k, scripts)
	if err := job.EnsureCronJob(ctx, s.Client, s.Scheme, k, cronJob); err != nil {
		return err
	}
	s.Own.Lifetimes.SetDue(s.Key(k.Name), r.KeyType, cronJob)
	return config.PruneImmutableConfigMaps(ctx, s.Client, k, r.ScriptBase(k), k.Namespace, scripts, config.Retained)
}

// Remove deletes everything that Ensure creates, the CronJob first, so that no Job starts
// without its account.
func (r Rotator) Remove(ctx context.Context, s *pass.Scope) error {
	k := s.Resource
	meta := metav1.ObjectMeta{Namespace: k.Namespace, Name: r.ObjectName(k)}
	if err := apply.EnsureAbsent(ctx, s.Client, k, &batchv1.CronJob{ObjectMeta: meta}); err != nil {
		return err
	}
	for _, object := range slices.Backward(r.Access(k).Objects()) {
		if err := apply.EnsureAbsent(ctx, s.Client, k, object); err != nil {
			return err
		}
	}
	staging := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: r.Staging}}
	if err := apply.EnsureAbsent(ctx, s.Client, k, staging); err != nil {
		return err
	}
	return config.PruneImmutableConfigMaps(ctx, s.Client, k, r.ScriptBase(k), k.Namespace, "", 0)
}

// ObjectName returns the name of the CronJob and of its service account.
func (r Rotator) ObjectName(k *keystonev1alpha1.Keystone) string { return k.Name + "-" + r.Name }

// ScriptBase returns the name of the ConfigMap with the script, without the hash.
func (r Rotator) ScriptBase(k *keystonev1alpha1.Keystone) string {
	return r.ObjectName(k) + "-script"
}

// Access returns what the Jobs may do in the cluster.
func (r Rotator) Access(k *keystonev1alpha1.Keystone) rotation.Access {
	return rotation.Access{
		Name: r.ObjectName(k), Namespace: k.Namespace, Labels: pass.Definition.Labels(k.Name),
		Annotations: k.Spec.ServiceAccountAnnotations, Source: r.Source, Staging: r.Staging,
	}
}

// Files returns the content of the ConfigMap: the script and the files that it calls.
func (r Rotator) Files() (map[string]string, error) {
	files := map[string]string{rotation.ScriptFile: rotation.Script}
	for _, name := range []string{r.Script, r.Program} {
		if name == "" {
			continue
		}
		content, err := rotationScripts.ReadFile("files/" + name)
		if err != nil {
			return nil, fmt.Errorf("the operator lacks the file %s; this is a bug in the operator", name)
		}
		files[name] = string(content)
	}
	return files, nil
}

// CronJob builds the CronJob with the named ConfigMap of scripts.
func (r Rotator) CronJob(k *keystonev1alpha1.Keystone, scripts string) *batchv1.CronJob {
	pods := deployment.PodsFor(&pass.Definition, &k.Spec.ServiceSpec)
	task := metav1.ObjectMeta{Labels: pass.Definition.TaskLabels(k.Name, r.Name)}
	return &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: r.ObjectName(k), Namespace: k.Namespace, Labels: pass.Definition.Labels(k.Name)},
		Spec: batchv1.CronJobSpec{
			Schedule: r.Schedule,
			Suspend:  ptr.To(r.Suspend || k.Status.UpgradePhase.IsOffline()),
			JobTemplate: batchv1.JobTemplateSpec{ObjectMeta: task, Spec: batchv1.JobSpec{
				BackoffLimit:          ptr.To(rotationRetries),
				ActiveDeadlineSeconds: ptr.To(deployment.TaskDeadlineSeconds),
				Template: corev1.PodTemplateSpec{
					ObjectMeta: pods.TaskMeta(&pass.Definition, k.Name, r.Name, pass.ScheduledImage(k), nil),
					Spec:       r.podSpec(k, scripts),
				},
			}},
		},
	}
}

func (r Rotator) podSpec(k *keystonev1alpha1.Keystone, scripts string) corev1.PodSpec {
	env := append([]corev1.EnvVar{
		{Name: "SECRET_NAME", Value: r.Staging},
		{Name: "SECRET_NAMESPACE", ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"},
		}},
	}, r.Env...)
	pod := deployment.PodsFor(&pass.Definition, &k.Spec.ServiceSpec).Spec(corev1.Container{
		Name: r.Name, Image: pass.ScheduledImage(k), Command: []string{scriptsDir + "/" + r.Script}, Env: env,
		Resources: deployment.TaskResources(k.Spec.Resources), VolumeMounts: r.Writable,
	}, append([]deployment.Mount{scriptMount(scripts)}, r.Mounts...)...)
	pod.RestartPolicy = corev1.RestartPolicyOnFailure
	pod.ServiceAccountName = r.ObjectName(k)
	pod.AutomountServiceAccountToken = ptr.To(true)
	pod.Volumes = append(pod.Volumes, r.Volumes...)
	pod.InitContainers = r.InitContainers
	return pod
}

func scriptMount(configMap string) deployment.Mount {
	return deployment.Mount{Path: scriptsDir, Volume: corev1.Volume{Name: volumeScripts, VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: configMap}, DefaultMode: ptr.To(scriptMode),
		},
	}}}
}
