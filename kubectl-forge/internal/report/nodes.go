package report

import (
	"cmp"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/poddiag"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// node describes an object without what belongs to it.
func (b *builder) node(obj client.Object) Node {
	node := Node{Name: obj.GetName(), State: StateOK, Since: ptr.To(obj.GetCreationTimestamp())}
	switch obj := obj.(type) {
	case *corev1.Pod:
		b.describePod(&node, obj)
	case *appsv1.Deployment:
		describeDeployment(&node, obj)
	case *batchv1.Job:
		b.describeJob(&node, obj)
	case *batchv1.CronJob:
		node.Kind, node.Text = kindCronJob, obj.Spec.Schedule
		if ptr.Deref(obj.Spec.Suspend, false) {
			node.Text += ", suspended"
		}
	case *unstructured.Unstructured:
		node.Kind = obj.GetKind()
		describeThirdParty(&node, obj)
	case inventory.Conditioned:
		node.Kind = kindOf(obj)
		describeConditions(&node, obj, obj.GetConditions())
	}
	return node
}

func kindOf(obj inventory.Conditioned) string {
	switch obj := obj.(type) {
	case *c5c3v1alpha1.ControlPlane:
		return inventory.KindControlPlane
	case *c5c3v1alpha1.CredentialRotation:
		return "CredentialRotation"
	case *c5c3v1alpha1.SecretAggregate:
		return "SecretAggregate"
	case inventory.Instance:
		return obj.Of.Kind
	}
	return ""
}

// describeConditions describes an object whose conditions say whether it can be used, and returns the one that does.
func describeConditions(node *Node, obj client.Object, conditions []metav1.Condition) *metav1.Condition {
	available := inventory.Availability(conditions)
	switch {
	case obj.GetDeletionTimestamp() != nil:
		node.State, node.Text, node.Since = StateWaiting, "being deleted", obj.GetDeletionTimestamp()
	case available == nil:
		node.State, node.Text = StateUnknown, "its operator has not observed it yet"
	case available.Status == metav1.ConditionTrue:
		node.Text, node.Since = cmp.Or(available.Reason, "Ready"), &available.LastTransitionTime
	default:
		node.State, node.Text, node.Since = StateWaiting, cmp.Or(available.Reason, "NotReady"), &available.LastTransitionTime
	}
	if meta.IsStatusConditionTrue(conditions, vocabulary.ConditionStalled) {
		node.State = StateFailed
	}
	if meta.IsStatusConditionTrue(conditions, vocabulary.ConditionPaused) {
		node.Text += ", paused"
	}
	return available
}

func describeThirdParty(node *Node, obj *unstructured.Unstructured) {
	available := describeConditions(node, obj, inventory.Conditions(obj))
	if node.State != StateWaiting || available == nil || available.Message == "" {
		return
	}
	message, _, _ := strings.Cut(strings.TrimSpace(available.Message), "\n")
	node.Text += ": " + message
	node.exhibit = &Exhibit{Kind: node.Kind, Name: node.Name, Problem: node.Text, group: obj.GroupVersionKind().Group}
}

func describeDeployment(node *Node, deployment *appsv1.Deployment) {
	wanted, status := ptr.Deref(deployment.Spec.Replicas, 1), deployment.Status
	node.Kind = kindDeployment
	node.Text = fmt.Sprintf("%d of %d pods available, %d up to date", status.AvailableReplicas, wanted, status.UpdatedReplicas)
	if status.AvailableReplicas < wanted || status.UpdatedReplicas < wanted || status.ObservedGeneration < deployment.Generation {
		node.State = StateWaiting
	}
	for _, condition := range status.Conditions {
		if condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue {
			node.State, node.Since = StateFailed, condition.LastTransitionTime.DeepCopy()
			node.exhibit = &Exhibit{Kind: kindDeployment, Name: node.Name, Problem: poddiag.Refusal(condition.Message)}
		}
	}
}

func (b *builder) describeJob(node *Node, run *batchv1.Job) {
	node.Kind, node.State, node.Text = kindJob, StateWaiting, "running"
	ended, succeeded, at := job.Ended(run)
	switch {
	case succeeded:
		node.State, node.Text, node.Since = StateOK, "succeeded", ptr.To(metav1.NewTime(at))
		return
	case ended:
		node.State, node.Text = StateFailed, "failed"
	case run.Status.Active == 0 && run.Status.Failed > 0:
		node.Text = fmt.Sprintf("waits for the next attempt, %d failed", run.Status.Failed)
	case run.Status.Active == 0:
		node.Text = "has no pod yet"
	}
	node.exhibit = b.jobExhibit(run, ended)
}
