package deployment

import (
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// TaskDeadlineSeconds bounds a Job with all its retries. Schema changes of a
// large database take minutes.
const TaskDeadlineSeconds int64 = 3600

// Task describes one run of a service's tool to completion.
type Task struct {
	// Name is the suffix of the Job and the component of its pods.
	Name string
	// Container is the name of the container.
	Container string
	Command   []string
	Retries   int32
	// Failure tells failures apart that no retry mends; it may be nil.
	Failure *batchv1.PodFailurePolicy
	Env     []corev1.EnvVar
	Mounts  []Mount
	// Annotations go on the pod template.
	Annotations map[string]string
	// JobAnnotations go on the Job.
	JobAnnotations map[string]string
	// RunKey is what a completed run depends on; a change runs it again.
	RunKey any
}

// PodsOf is what all pods of the pass's instance have in common.
func PodsOf(p *service.Pass) Pods { return PodsFor(p.Definition, p.Spec) }

// PodsFor is what all pods of an instance of the service have in common.
func PodsFor(d *service.Definition, spec *commonv1.ServiceSpec) Pods {
	return Pods{UserID: d.UserID, ImagePullSecrets: spec.ImagePullSecrets, PriorityClassName: spec.PriorityClassName}
}

// InstanceOf is what the objects of an instance have in common.
func InstanceOf(p *service.Pass) Instance {
	name := p.Resource.GetName()
	return Instance{
		Name: name, Namespace: p.Resource.GetNamespace(), Labels: p.Labels(name), Selector: p.SelectorLabels(name), Port: p.Port,
	}
}

// TaskJob builds the Job of a task. What the template mounts or quotes does
// not belong to the run key by itself: a configuration that cannot affect the
// result must not run a task again.
func TaskJob(p *service.Pass, t Task) (*batchv1.Job, error) {
	key, err := job.Hash(t.RunKey)
	if err != nil {
		return nil, err
	}
	annotations := map[string]string{job.RunKeyAnnotation: key}
	maps.Copy(annotations, t.JobAnnotations)
	pod := PodsOf(p).Spec(corev1.Container{
		Name: t.Container, Image: p.Image(), Command: t.Command, Env: t.Env, Resources: TaskResources(p.Spec.Resources),
	}, t.Mounts...)
	pod.RestartPolicy = corev1.RestartPolicyNever
	// The tools do not act on SIGTERM: waiting longer only delays the run that
	// replaces them.
	pod.TerminationGracePeriodSeconds = ptr.To(int64(5))
	meta := p.Meta(p.Named(t.Name))
	meta.Annotations = annotations
	return &batchv1.Job{
		ObjectMeta: meta,
		Spec: batchv1.JobSpec{
			BackoffLimit:          ptr.To(t.Retries),
			PodFailurePolicy:      t.Failure,
			ActiveDeadlineSeconds: ptr.To(TaskDeadlineSeconds),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: p.TaskLabels(p.Resource.GetName(), t.Name), Annotations: t.Annotations},
				Spec:       pod,
			},
		},
	}, nil
}

// taskCPULimit is what one tool can use, which runs on one CPU at a time.
var taskCPULimit = resource.MustParse("1")

// TaskResources are those of the API pods, so that a ResourceQuota admits either.
// Only the default of the CPU limit is raised: a tool that runs for two seconds of
// CPU time would be made slower by it, and Ready with it.
func TaskResources(api *corev1.ResourceRequirements) corev1.ResourceRequirements {
	resources := ptr.Deref(api, corev1.ResourceRequirements{})
	if limit, set := resources.Limits[corev1.ResourceCPU]; set && limit.Cmp(commonv1.DefaultCPULimit) == 0 {
		resources.Limits = maps.Clone(resources.Limits)
		resources.Limits[corev1.ResourceCPU] = taskCPULimit
	}
	return resources
}
