package controller

import (
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/job"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// taskDeadlineSeconds bounds a Job with all its retries. Schema changes of a
// large identity database take minutes.
const taskDeadlineSeconds int64 = 3600

// task describes one run of a Keystone tool to completion.
type task struct {
	// name is the suffix of the Job and the component of its pods.
	name      string
	container string
	command   []string
	retries   int32
	// failure tells failures apart that no retry mends; it may be nil.
	failure *batchv1.PodFailurePolicy
	env     []corev1.EnvVar
	mounts  []deployment.Mount
	// annotations go on the pod template.
	annotations map[string]string
	// jobAnnotations go on the Job.
	jobAnnotations map[string]string
	// runKey is what a completed run depends on; a change runs it again.
	runKey any
}

func jobName(k *keystonev1alpha1.Keystone, task string) string { return k.Name + "-" + task }

// taskJob builds the Job of a task. What the template mounts or quotes does
// not belong to the run key by itself: a configuration that cannot affect the
// result must not run a task again.
func taskJob(k *keystonev1alpha1.Keystone, t task) (*batchv1.Job, error) {
	key, err := job.Hash(t.runKey)
	if err != nil {
		return nil, err
	}
	annotations := map[string]string{job.RunKeyAnnotation: key}
	maps.Copy(annotations, t.jobAnnotations)
	pod := pods(k).Spec(corev1.Container{
		Name: t.container, Image: image(k), Command: t.command, Env: t.env, Resources: taskResources(k.Spec.Resources),
	}, t.mounts...)
	pod.RestartPolicy = corev1.RestartPolicyNever
	// keystone-manage does not act on SIGTERM: waiting longer only delays the run that
	// replaces it.
	pod.TerminationGracePeriodSeconds = ptr.To(int64(5))
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: jobName(k, t.name), Namespace: k.Namespace, Labels: commonLabels(k),
			Annotations: annotations,
		},
		Spec: batchv1.JobSpec{
			BackoffLimit:          ptr.To(t.retries),
			PodFailurePolicy:      t.failure,
			ActiveDeadlineSeconds: ptr.To(taskDeadlineSeconds),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: taskLabels(k, t.name), Annotations: t.annotations},
				Spec:       pod,
			},
		},
	}, nil
}

// onRequest adds what a user has asked for to the run key of a task.
func onRequest(k *keystonev1alpha1.Keystone, runKey any) any {
	if request := k.Annotations[keystonev1alpha1.AnnotationRunAgain]; request != "" {
		return []any{runKey, request}
	}
	return runKey
}

// taskCPULimit is what one tool can use, which runs on one CPU at a time.
var taskCPULimit = resource.MustParse("1")

// taskResources are those of the API pods, so that a ResourceQuota admits either.
// Only the default of the CPU limit is raised: a tool that runs for two seconds of
// CPU time would be made slower by it, and Ready with it.
func taskResources(api *corev1.ResourceRequirements) corev1.ResourceRequirements {
	resources := ptr.Deref(api, corev1.ResourceRequirements{})
	if limit, set := resources.Limits[corev1.ResourceCPU]; set && limit.Cmp(commonv1.DefaultCPULimit) == 0 {
		resources.Limits = maps.Clone(resources.Limits)
		resources.Limits[corev1.ResourceCPU] = taskCPULimit
	}
	return resources
}

// manage is a keystone-manage command line.
func manage(arguments ...string) []string {
	return slices.Concat([]string{"keystone-manage", "--config-dir=" + configDir}, arguments)
}
