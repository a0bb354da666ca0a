package world

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
func populate(ctx context.Context, w *World, keys []client.ObjectKey, pods int) error {
	if err := w.run(ctx, keys, pods); err != nil {
		return err
	}
	return Each(ctx, len(keys), func(ctx context.Context, i int) error {
		return Poll(ctx, "wait for the Jobs of "+keys[i].String(), func(ctx context.Context) (bool, error) {
			var jobs batchv1.JobList
			err := w.Client.List(ctx, &jobs, instance(keys[i])...)
			running := slices.ContainsFunc(jobs.Items, func(job batchv1.Job) bool { return job.Status.CompletionTime == nil })
			return !running, err
		})
	})
}

func (w *World) run(ctx context.Context, keys []client.ObjectKey, pods int) error {
	return Each(ctx, len(keys), func(ctx context.Context, i int) error {
		if err := w.runCronJobs(ctx, keys[i]); err != nil {
			return err
		}
		// This includes the Jobs of the installation.
		var jobs batchv1.JobList
		if err := w.Client.List(ctx, &jobs, instance(keys[i])...); err != nil {
			return err
		}
		return w.runDeployment(ctx, keys[i], max(1, pods-len(jobs.Items)))
	})
}

func instance(key client.ObjectKey) []client.ListOption {
	return []client.ListOption{client.InNamespace(key.Namespace), client.MatchingLabels{"app.kubernetes.io/instance": key.Name}}
}

// runCronJobs creates the Jobs of a Keystone's CronJobs. The stand-in runs them and
// creates their Pods.
func (w *World) runCronJobs(ctx context.Context, key client.ObjectKey) error {
	var cronJobs batchv1.CronJobList
	if err := w.Client.List(ctx, &cronJobs, instance(key)...); err != nil {
		return err
	}
	for _, cronJob := range cronJobs.Items {
		for run := range history {
			job := &batchv1.Job{ObjectMeta: *cronJob.Spec.JobTemplate.ObjectMeta.DeepCopy(), Spec: cronJob.Spec.JobTemplate.Spec}
			job.Namespace, job.Name = key.Namespace, cronJob.Name+"-"+strconv.Itoa(29_000_000+run)
			job.OwnerReferences = []metav1.OwnerReference{
				*metav1.NewControllerRef(&cronJob, batchv1.SchemeGroupVersion.WithKind("CronJob")),
			}
			if err := w.Client.Create(ctx, job, controllerManager); err != nil {
				return fmt.Errorf("create Job %s: %w", job.Name, err)
			}
		}
	}
	return nil
}

// runDeployment creates Pods of a Keystone's Deployment, as the controllers and
// the kubelet do.
func (w *World) runDeployment(ctx context.Context, key client.ObjectKey, pods int) error {
	deployment := &appsv1.Deployment{}
	if err := w.Client.Get(ctx, key, deployment); err != nil {
		return err
	}
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name + "-7d4f9c5b68", Labels: deployment.Spec.Template.Labels,
		OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment")),
		},
	}}
	set.Spec = appsv1.ReplicaSetSpec{Selector: deployment.Spec.Selector, Template: deployment.Spec.Template}
	if err := w.Client.Create(ctx, set, controllerManager); err != nil {
		return fmt.Errorf("create ReplicaSet %s: %w", set.Name, err)
	}
	for i := range pods {
		pod := podOf(set, i)
		if err := w.Client.Create(ctx, pod, controllerManager); err != nil {
			return fmt.Errorf("create Pod %s: %w", pod.Name, err)
		}
		before := pod.DeepCopy()
		setRunning(pod)
		if err := w.Client.Status().Patch(ctx, pod, client.MergeFrom(before), kubelet); err != nil {
			return fmt.Errorf("set the status of Pod %s: %w", pod.Name, err)
		}
	}
	return nil
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
		started := true
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, Ready: true, Started: &started,
			ImageID:     "ghcr.io/c5c3/keystone@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
			ContainerID: "containerd://0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
			State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		})
	}
}

// foreignNamespace holds objects that do not concern the operator.
const foreignNamespace = "somebody-elses"

// foreignSize is how many bytes a foreign Secret has.
const foreignSize = 2048

// CreateForeign creates n Secrets, and as many Pods, that are unrelated
// to any resource.
func (w *World) CreateForeign(ctx context.Context, n int) error {
	if err := w.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: foreignNamespace}}); err != nil {
		return err
	}
	return Each(ctx, n, func(ctx context.Context, i int) error {
		meta := metav1.ObjectMeta{
			Namespace: foreignNamespace, Name: fmt.Sprintf("foreign-%d", i),
			Labels: map[string]string{"app.kubernetes.io/name": "something", "app.kubernetes.io/managed-by": "somebody"},
		}
		secret := &corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"data": make([]byte, foreignSize)}}
		if err := w.Create(ctx, secret); err != nil {
			return err
		}
		return w.Create(ctx, &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "main", Image: "registry.example.com/something:1"}},
		}})
	})
}
