package controller

import (
	"reflect"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/deployment"
)

// Trim returns what drops from objects on their way into the cache what nothing reads
// there. A resource has a dozen Jobs and Pods, and several times as many records of who
// wrote which field.
func (c Controller[R, S]) Trim() cache.TransformFunc {
	// Nobody asks who wrote what the operator does not apply.
	foreign := map[reflect.Type]bool{reflect.TypeOf(c.New()): true}
	for _, kind := range c.kinds() {
		foreign[reflect.TypeOf(kind.Object)] = kind.Relation != Owned
	}
	return func(obj any) (any, error) {
		switch cached := obj.(type) {
		case *corev1.Secret:
			// Secrets are updated as a whole: what is not there would be taken away.
		case *corev1.Pod:
			trimPod(cached)
		case *batchv1.Job:
			trimJob(cached)
		case *corev1.ConfigMap:
			cached.ManagedFields = nil
			c.shareFiles(cached.Data)
		case client.Object:
			if foreign[reflect.TypeOf(obj)] {
				cached.SetManagedFields(nil)
			} else {
				keepOwnFields(cached)
			}
		}
		return obj, nil
	}
}

// keepOwnFields drops the records of everybody but the operator, which looks at
// its own to find out whether an object has to be applied.
func keepOwnFields(obj client.Object) {
	own := slices.DeleteFunc(obj.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager != apply.FieldManager
	})
	if len(own) == 0 {
		own = nil
	}
	obj.SetManagedFields(own)
}

// trimPod keeps what tells which pods there are, what they run, and why they do
// not.
func trimPod(pod *corev1.Pod) {
	pod.ManagedFields = nil
	pod.Spec = corev1.PodSpec{
		InitContainers: images(pod.Spec.InitContainers),
		Containers:     images(pod.Spec.Containers),
		Volumes:        slices.DeleteFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name != deployment.VolumeConfig }),
	}
	status := pod.Status
	pod.Status = corev1.PodStatus{
		Phase: status.Phase, StartTime: status.StartTime,
		Conditions: slices.DeleteFunc(status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type != corev1.PodScheduled || c.Status == corev1.ConditionTrue
		}),
		InitContainerStatuses: states(status.InitContainerStatuses), ContainerStatuses: states(status.ContainerStatuses),
	}
}

// trimJob keeps what a Job is to run and how it has ended. Of those that a CronJob
// keeps only the end is of interest.
func trimJob(job *batchv1.Job) {
	job.ManagedFields = nil
	template := corev1.PodTemplateSpec{}
	if !ofCronJob(job) {
		template.Spec.Containers = images(job.Spec.Template.Spec.Containers)
	}
	job.Spec = batchv1.JobSpec{Suspend: job.Spec.Suspend, Template: template}
}

func images(containers []corev1.Container) []corev1.Container {
	kept := slices.Grow([]corev1.Container(nil), len(containers))
	for _, container := range containers {
		kept = append(kept, corev1.Container{Name: container.Name, Image: container.Image})
	}
	return kept
}

func states(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	kept := slices.Grow([]corev1.ContainerStatus(nil), len(statuses))
	for _, status := range statuses {
		kept = append(kept, corev1.ContainerStatus{
			Name: status.Name, Image: status.Image, Ready: status.Ready, State: status.State, LastTerminationState: status.LastTerminationState,
		})
	}
	return kept
}

// shareFiles lets a file that comes with the operator, and is the same in the
// ConfigMaps of all resources, be in memory once.
func (c Controller[R, S]) shareFiles(data map[string]string) {
	for name, content := range data {
		if own := c.Files[name]; own == content {
			data[name] = own
		}
	}
}
