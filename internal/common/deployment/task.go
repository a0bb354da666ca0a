package deployment

import (
	"cmp"
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// TaskDeadlineSeconds bounds a Job including its retries. Schema changes of a large
// database take minutes.
const TaskDeadlineSeconds int64 = 3600

// Task describes one run of a service's tool to completion.
type Task struct {
	// Name is the suffix of the Job and the component of its pods.
	Name string
	// Container is the name of the container.
	Container string
	// Image is the image of the container, "" for that of the spec.
	Image   string
	Command []string
	Retries int32
	// Init runs before the container and reads the configuration; it may be nil.
	Init *corev1.Container
	// Failures are failures that no retry can fix.
	Failures []batchv1.PodFailurePolicyRule
	Env      []corev1.EnvVar
	Mounts   []Mount
	// Annotations are set on the pod template.
	Annotations map[string]string
	// JobAnnotations are set on the Job.
	JobAnnotations map[string]string
	// RunKey is the input of the run; the Job runs again when it changes.
	RunKey any
}

// PodsOf returns what all pods of the pass's instance have in common.
func PodsOf(p *service.Pass) Pods { return PodsFor(p.Definition, p.Spec) }

// PodsFor returns what all pods of an instance of the service have in common.
func PodsFor(d *service.Definition, spec *commonv1.ServiceSpec) Pods {
	return Pods{
		UserID: d.UserID, ImagePullSecrets: spec.ImagePullSecrets, PriorityClassName: spec.PriorityClassName, Settings: spec.PodSettings,
	}
}

// InstanceOf returns what the objects of the pass's instance have in common.
func InstanceOf(p *service.Pass) Instance {
	name := p.Resource.GetName()
	return Instance{
		Name: name, Namespace: p.Resource.GetNamespace(), Labels: p.Labels(name), Selector: p.SelectorLabels(name), Port: p.Port,
		LargeBodies: p.LargeBodies,
	}
}

// TaskJob builds the Job of a task. What the template mounts is not part of the run key
// unless the task adds it: a configuration change that cannot affect the result must not
// run the task again.
func TaskJob(p *service.Pass, t Task) (*batchv1.Job, error) {
	key, err := job.Hash(t.RunKey)
	if err != nil {
		return nil, err
	}
	annotations := map[string]string{job.RunKeyAnnotation: key}
	maps.Copy(annotations, t.JobAnnotations)
	image := cmp.Or(t.Image, p.Spec.Image.Reference())
	pod := PodsOf(p).Spec(corev1.Container{
		Name: t.Container, Image: image, Command: t.Command, Env: t.Env, Resources: TaskResources(p.Spec.Resources),
	}, t.Mounts...)
	if t.Init != nil {
		first := *t.Init
		first.Resources = TaskResources(p.Spec.Resources)
		pod.InitContainers = []corev1.Container{PodsOf(p).Container(first, ConfigMount(p))}
	}
	pod.RestartPolicy = corev1.RestartPolicyNever
	// The tools ignore SIGTERM, so waiting longer would only delay the run that replaces
	// them.
	pod.TerminationGracePeriodSeconds = ptr.To(int64(5))
	meta := p.Meta(p.Named(t.Name))
	meta.Annotations = annotations
	return &batchv1.Job{
		ObjectMeta: meta,
		Spec: batchv1.JobSpec{
			BackoffLimit:          ptr.To(t.Retries),
			PodFailurePolicy:      failurePolicy(t.Failures),
			ActiveDeadlineSeconds: ptr.To(TaskDeadlineSeconds),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: PodsOf(p).TaskMeta(p.Definition, p.Resource.GetName(), t.Name, image, t.Annotations),
				Spec:       pod,
			},
		},
	}, nil
}

// FailsAtOnce is the rule for a container's exit code that no retry can change.
func FailsAtOnce(container string, code int32) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{
		Action: batchv1.PodFailurePolicyActionFailJob,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			ContainerName: &container, Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{code},
		},
	}
}

func failurePolicy(rules []batchv1.PodFailurePolicyRule) *batchv1.PodFailurePolicy {
	if len(rules) == 0 {
		return nil
	}
	return &batchv1.PodFailurePolicy{Rules: rules}
}

// taskCPULimit is the most that a tool can use, as it runs on one CPU at a time.
var taskCPULimit = resource.MustParse("1")

// TaskResources returns the resources of the API pods, so that a ResourceQuota that
// admits those admits the Job as well. Only the default CPU limit is raised: a tool that
// uses two seconds of CPU time would run longer under it and delay Ready.
func TaskResources(api *corev1.ResourceRequirements) corev1.ResourceRequirements {
	resources := ptr.Deref(api, corev1.ResourceRequirements{})
	if limit, set := resources.Limits[corev1.ResourceCPU]; set && limit.Cmp(commonv1.DefaultCPULimit) == 0 {
		resources.Limits = maps.Clone(resources.Limits)
		resources.Limits[corev1.ResourceCPU] = taskCPULimit
	}
	return resources
}
