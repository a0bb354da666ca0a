package standin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Deployments simulates the Deployment controller: it reports every Deployment as
// rolled out. It creates no healthy Pods.
type Deployments struct {
	script *script

	mu sync.Mutex
	// broken are the Deployments for which a Pod was created. When that Pod has to
	// be deleted, the cache may not contain it yet, and no event would trigger
	// another attempt.
	broken map[types.UID]bool
}

// NewDeployments returns a stand-in for [Run].
func NewDeployments() *Deployments {
	return &Deployments{script: newScript(), broken: map[types.UID]bool{}}
}

// Set sets the outcome for a Deployment: [Fail] lets its rollout exceed the
// progress deadline, [NoImage] creates a Pod in ImagePullBackOff, [Refuse] gives it
// no Pods.
func (d *Deployments) Set(namespace, name string, o Outcome) { d.script.set(namespace, name, o) }

func (d *Deployments) setup(mgr manager.Manager) error {
	return watch(mgr, "deployments", func() *appsv1.Deployment { return &appsv1.Deployment{} }, d.script, d.act)
}

func (d *Deployments) act(ctx context.Context, c client.Client, deployment *appsv1.Deployment) error {
	outcome := d.script.outcome(deployment)
	if outcome.kind == hang || deployment.DeletionTimestamp != nil {
		return nil
	}
	if err := d.brokenPod(ctx, c, deployment, outcome); err != nil {
		return err
	}
	before := deployment.DeepCopy()
	setRollout(deployment, outcome)
	return patchStatus(ctx, c, deployment, before)
}

func setRollout(deployment *appsv1.Deployment, outcome Outcome) {
	replicas := int32(1)
	if deployment.Spec.Replicas != nil {
		replicas = *deployment.Spec.Replicas
	}
	status := &deployment.Status
	status.ObservedGeneration = deployment.Generation
	status.Replicas, status.UpdatedReplicas = replicas, replicas
	status.Conditions = slices.DeleteFunc(status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == appsv1.DeploymentReplicaFailure && outcome.kind != refuse
	})
	if outcome.kind == succeed {
		status.ReadyReplicas, status.AvailableReplicas, status.UnavailableReplicas = replicas, replicas, 0
		setDeploymentCondition(status, appsv1.DeploymentAvailable, corev1.ConditionTrue, "MinimumReplicasAvailable", "")
		setDeploymentCondition(status, appsv1.DeploymentProgressing, corev1.ConditionTrue, "NewReplicaSetAvailable", "")
		return
	}
	status.ReadyReplicas, status.AvailableReplicas, status.UnavailableReplicas = 0, 0, replicas
	if outcome.kind == refuse {
		status.Replicas, status.UpdatedReplicas = 0, 0
		setDeploymentCondition(status, appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate",
			fmt.Sprintf("pods %q is forbidden: %s", deployment.Name+"-7d4f9-abcde", outcome.message))
	}
	setDeploymentCondition(status, appsv1.DeploymentAvailable, corev1.ConditionFalse, "MinimumReplicasUnavailable", "")
	if outcome.kind == fail {
		setDeploymentCondition(status, appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded", outcome.message)
		return
	}
	setDeploymentCondition(status, appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", "")
}

func setDeploymentCondition(
	status *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType, value corev1.ConditionStatus, reason, message string,
) {
	next := appsv1.DeploymentCondition{
		Type: kind, Status: value, Reason: reason, Message: message,
		LastUpdateTime: metav1.Now(), LastTransitionTime: metav1.Now(),
	}
	for i, old := range status.Conditions {
		if old.Type != kind {
			continue
		}
		if old.Status != value || old.Reason != reason || old.Message != message {
			status.Conditions[i] = next
		}
		return
	}
	status.Conditions = append(status.Conditions, next)
}

// brokenPod makes sure that a Pod in ImagePullBackOff, owned by a ReplicaSet as in
// a real cluster, exists exactly while the outcome demands it.
func (d *Deployments) brokenPod(ctx context.Context, c client.Client, deployment *appsv1.Deployment, outcome Outcome) error {
	meta := metav1.ObjectMeta{
		Namespace: deployment.Namespace, Name: deployment.Name + "-noimage", Labels: deployment.Spec.Template.Labels,
	}
	set := &appsv1.ReplicaSet{ObjectMeta: *meta.DeepCopy()}
	set.OwnerReferences = []metav1.OwnerReference{
		*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment")),
	}
	set.Spec = appsv1.ReplicaSetSpec{
		Replicas: deployment.Spec.Replicas, Selector: deployment.Spec.Selector, Template: deployment.Spec.Template,
	}
	pod := &corev1.Pod{ObjectMeta: *meta.DeepCopy(), Spec: deployment.Spec.Template.Spec}
	d.mu.Lock()
	defer d.mu.Unlock()
	if outcome.kind != noImage {
		if !d.broken[deployment.UID] {
			return nil
		}
		err := errors.Join(client.IgnoreNotFound(c.Delete(ctx, pod)), client.IgnoreNotFound(c.Delete(ctx, set)))
		d.broken[deployment.UID] = err != nil
		return err
	}
	d.broken[deployment.UID] = true
	if err := create(ctx, c, set); err != nil {
		return err
	}
	pod.OwnerReferences = []metav1.OwnerReference{
		*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet")),
	}
	if err := create(ctx, c, pod); err != nil {
		return err
	}
	return setPodStatus(ctx, c, pod, outcome)
}

// create creates the object, or reads it if it exists.
func create(ctx context.Context, c client.Client, obj client.Object) error {
	err := c.Create(ctx, obj)
	if apierrors.IsAlreadyExists(err) {
		return c.Get(ctx, client.ObjectKeyFromObject(obj), obj)
	}
	return err
}

// Sidecar is the name of a container that never ends. The stand-ins add it to no Pod.
const Sidecar = "sidecar"

func hasSidecar(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == Sidecar })
}

// setPodStatus sets the status that a kubelet would report.
func setPodStatus(ctx context.Context, c client.Client, pod *corev1.Pod, outcome Outcome) error {
	before := pod.DeepCopy()
	if sets.New(corev1.PodSucceeded, corev1.PodFailed).Has(pod.Status.Phase) {
		return nil
	}
	if outcome.kind == succeed && hasSidecar(pod) {
		outcome.kind = exit
	}
	var state, last corev1.ContainerState
	switch outcome.kind {
	case succeed:
		pod.Status.Phase = corev1.PodSucceeded
		state.Terminated = &corev1.ContainerStateTerminated{Reason: "Completed"}
	case fail:
		pod.Status.Phase = corev1.PodFailed
		state.Terminated = &corev1.ContainerStateTerminated{ExitCode: outcome.exitCode, Reason: "Error", Message: outcome.message}
	case noImage:
		pod.Status.Phase = corev1.PodPending
		state.Waiting = &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: outcome.message}
	case exit:
		pod.Status.Phase = corev1.PodRunning
		state.Terminated = &corev1.ContainerStateTerminated{Reason: "Completed"}
	case hang:
		pod.Status.Phase = corev1.PodRunning
		state.Running = &corev1.ContainerStateRunning{}
	case retry:
		pod.Status.Phase = corev1.PodRunning
		state.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
		last.Terminated = &corev1.ContainerStateTerminated{ExitCode: outcome.exitCode, Reason: "Error", Message: outcome.message}
	case refuse:
	}
	pod.Status.InitContainerStatuses = nil
	for _, container := range pod.Spec.InitContainers {
		var state corev1.ContainerState
		if outcome.kind != noImage {
			state.Terminated = &corev1.ContainerStateTerminated{Reason: "Completed", Message: outcome.finding}
		}
		pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, State: state,
		})
	}
	pod.Status.ContainerStatuses = nil
	for _, container := range pod.Spec.Containers {
		state := state
		if container.Name == Sidecar {
			state = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
		}
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, State: state, LastTerminationState: last,
		})
	}
	return patchStatus(ctx, c, pod, before)
}
