package apiservice

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/intern"
	"github.com/c5c3/forge/internal/common/sharing"
)

// trim drops fields that no pass reads. A resource has a dozen Jobs and Pods.
func trim(obj client.Object) {
	switch cached := obj.(type) {
	case *corev1.Pod:
		trimPod(cached)
	case *batchv1.Job:
		trimJob(cached)
	case *corev1.ConfigMap:
		cached.ManagedFields = nil
		config.Condense(cached)
	case *unstructured.Unstructured:
		sharing.Trim(cached)
	case *appsv1.Deployment:
		trimDeployment(cached)
	case *batchv1.CronJob:
		template := cached.Spec.JobTemplate.Spec.Template
		cached.Spec = batchv1.CronJobSpec{Schedule: cached.Spec.Schedule, Suspend: cached.Spec.Suspend}
		cached.Spec.JobTemplate.Spec.Template = corev1.PodTemplateSpec{
			ObjectMeta: requestedImage(template.ObjectMeta), Spec: trimTemplate(template.Spec),
		}
	case *rbacv1.Role:
		cached.Rules = nil
	}
}

// trimDeployment keeps the fields that are compared before an apply, and the images of
// the pods.
func trimDeployment(deploy *appsv1.Deployment) {
	spec := deploy.Spec
	deploy.Spec = appsv1.DeploymentSpec{Replicas: spec.Replicas, Selector: spec.Selector}
	deploy.Spec.Template.Annotations = spec.Template.Annotations
	deploy.Spec.Template.Spec = trimTemplate(spec.Template.Spec)
}

// requestedImage keeps the image that the pods of a template ask for.
func requestedImage(template metav1.ObjectMeta) metav1.ObjectMeta {
	image, found := template.Annotations[apply.RequestedImage]
	if !found {
		return metav1.ObjectMeta{}
	}
	return metav1.ObjectMeta{Annotations: map[string]string{apply.RequestedImage: intern.String(image)}}
}

func trimTemplate(pod corev1.PodSpec) corev1.PodSpec {
	return corev1.PodSpec{InitContainers: intern.Images(pod.InitContainers), Containers: intern.Images(pod.Containers)}
}

// trimPod keeps what identifies the pods, what they run, and why they do not run.
func trimPod(pod *corev1.Pod) {
	pod.Spec = corev1.PodSpec{
		InitContainers: intern.Images(pod.Spec.InitContainers),
		Containers:     intern.Images(pod.Spec.Containers),
		Volumes:        those(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == deployment.VolumeConfig }),
	}
	status := pod.Status
	pod.Status = corev1.PodStatus{
		Phase: status.Phase, StartTime: status.StartTime,
		Conditions: those(status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodScheduled && c.Status != corev1.ConditionTrue
		}),
		InitContainerStatuses: states(status.InitContainerStatuses), ContainerStatuses: states(status.ContainerStatuses),
	}
}

// trimJob keeps the images and the result of a Job. For a Job of a CronJob only the
// result matters.
func trimJob(job *batchv1.Job) {
	job.ManagedFields = nil
	template := corev1.PodTemplateSpec{}
	if !ofCronJob(job) {
		template.ObjectMeta, template.Spec = requestedImage(job.Spec.Template.ObjectMeta), trimTemplate(job.Spec.Template.Spec)
	}
	job.Spec = batchv1.JobSpec{Suspend: job.Spec.Suspend, Template: template}
}

// those returns the wanted items in a new slice, so that the others can be collected.
func those[T any](items []T, wanted func(T) bool) []T {
	var kept []T
	for _, item := range items {
		if wanted(item) {
			kept = append(kept, item)
		}
	}
	return kept
}

func states(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	kept := slices.Grow([]corev1.ContainerStatus(nil), len(statuses))
	for _, status := range statuses {
		kept = append(kept, corev1.ContainerStatus{
			Name: intern.String(status.Name), Image: intern.String(status.Image), Ready: status.Ready,
			State: status.State, LastTerminationState: status.LastTerminationState,
		})
	}
	return kept
}
