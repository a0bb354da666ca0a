package operators

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/hack/bench/internal/objects"
)

// history is how many successful Jobs a CronJob keeps.
const history = 3

// The managers of fields in a real cluster.
const (
	controllerManager = client.FieldOwner("kube-controller-manager")
	kubelet           = client.FieldOwner("kubelet")
)

// populate gives each Keystone the objects that it has in a real cluster after some
// days: the last Jobs of its CronJobs, and the given number of Pods, including
// those of Jobs. It returns when the Jobs have finished.
func populate(ctx context.Context, c client.Client, keys []client.ObjectKey, pods int) error {
	if err := run(ctx, c, keys, pods); err != nil {
		return err
	}
	return objects.Each(ctx, len(keys), func(ctx context.Context, i int) error {
		return objects.Poll(ctx, "wait for the Jobs of "+keys[i].String(), func(ctx context.Context) (bool, error) {
			var jobs batchv1.JobList
			err := c.List(ctx, &jobs, instance(keys[i])...)
			running := slices.ContainsFunc(jobs.Items, func(job batchv1.Job) bool { return job.Status.CompletionTime == nil })
			return !running, err
		})
	})
}

func run(ctx context.Context, c client.Client, keys []client.ObjectKey, pods int) error {
	return objects.Each(ctx, len(keys), func(ctx context.Context, i int) error {
		if err := runCronJobs(ctx, c, keys[i]); err != nil {
			return err
		}
		// This includes the Jobs of the installation.
		var jobs batchv1.JobList
		if err := c.List(ctx, &jobs, instance(keys[i])...); err != nil {
			return err
		}
		return runDeployment(ctx, c, keys[i], max(1, pods-len(jobs.Items)))
	})
}

func instance(key client.ObjectKey) []client.ListOption {
	return []client.ListOption{client.InNamespace(key.Namespace), client.MatchingLabels{"app.kubernetes.io/instance": key.Name}}
}

// runCronJobs creates the Jobs of a Keystone's CronJobs. The stand-in runs them and
// creates their Pods.
func runCronJobs(ctx context.Context, c client.Client, key client.ObjectKey) error {
	var cronJobs batchv1.CronJobList
	if err := c.List(ctx, &cronJobs, instance(key)...); err != nil {
		return err
	}
	for _, cronJob := range cronJobs.Items {
		for run := range history {
			job := &batchv1.Job{ObjectMeta: *cronJob.Spec.JobTemplate.ObjectMeta.DeepCopy(), Spec: cronJob.Spec.JobTemplate.Spec}
			job.Namespace, job.Name = key.Namespace, cronJob.Name+"-"+strconv.Itoa(29_000_000+run)
			job.OwnerReferences = []metav1.OwnerReference{
				*metav1.NewControllerRef(&cronJob, batchv1.SchemeGroupVersion.WithKind("CronJob")),
			}
			if err := c.Create(ctx, job, controllerManager); err != nil {
				return fmt.Errorf("create Job %s: %w", job.Name, err)
			}
		}
	}
	return nil
}

// runDeployment creates Pods of a Keystone's Deployment, as the controllers and
// the kubelet do.
func runDeployment(ctx context.Context, c client.Client, key client.ObjectKey, pods int) error {
	deployment := &appsv1.Deployment{}
	if err := c.Get(ctx, key, deployment); err != nil {
		return err
	}
	set := replicaSetOf(deployment)
	if err := c.Create(ctx, set, controllerManager); err != nil {
		return fmt.Errorf("create ReplicaSet %s: %w", set.Name, err)
	}
	for i := range pods {
		if err := runPod(ctx, c, podOf(set, i)); err != nil {
			return err
		}
	}
	return nil
}

func runPod(ctx context.Context, c client.Client, pod *corev1.Pod) error {
	if err := c.Create(ctx, pod, controllerManager); err != nil {
		return fmt.Errorf("create Pod %s: %w", pod.Name, err)
	}
	before := pod.DeepCopy()
	setRunning(pod)
	if err := c.Status().Patch(ctx, pod, client.MergeFrom(before), kubelet); err != nil {
		return fmt.Errorf("set the status of Pod %s: %w", pod.Name, err)
	}
	return nil
}

func replicaSetOf(d *appsv1.Deployment) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: d.Namespace, Name: d.Name + "-7d4f9c5b68", Labels: d.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{Selector: d.Spec.Selector, Template: d.Spec.Template},
	}
}

func podOf(set *appsv1.ReplicaSet, i int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: set.Namespace, Name: fmt.Sprintf("%s-%05d", set.Name, i),
			Labels: set.Spec.Template.Labels, Annotations: set.Spec.Template.Annotations,
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet")),
			},
		},
		Spec: set.Spec.Template.Spec,
	}
}

// setRunning sets the status that a kubelet reports for a running Pod.
func setRunning(pod *corev1.Pod) {
	now := metav1.Now()
	pod.Status.Phase = corev1.PodRunning
	pod.Status.HostIP, pod.Status.PodIP = "192.0.2.10", "198.51.100.20"
	pod.Status.HostIPs, pod.Status.PodIPs = []corev1.HostIP{{IP: pod.Status.HostIP}}, []corev1.PodIP{{IP: pod.Status.PodIP}}
	pod.Status.StartTime = &now
	for _, condition := range []corev1.PodConditionType{
		corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled,
	} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: now,
		})
	}
	for _, container := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, runningSince(container, now))
	}
}

func runningSince(container corev1.Container, started metav1.Time) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: container.Name, Image: container.Image, Ready: true, Started: new(true),
		ImageID:     "ghcr.io/c5c3/keystone@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		ContainerID: "containerd://0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}},
	}
}
