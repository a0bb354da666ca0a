package report

import (
	"cmp"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

func (b *builder) controlPlaneTree(cp *c5c3v1alpha1.ControlPlane) Node {
	node := conditionedNode(inventory.KindControlPlane, cp, cp.Status.Conditions)
	node.Children = append(node.Children, b.foreignNodes(cp.UID)...)
	for _, service := range b.ServicesOf(cp) {
		node.Children = append(node.Children, b.serviceTree(service))
	}
	for i := range b.Rotations {
		rotation := &b.Rotations[i]
		node.Children = append(node.Children, conditionedNode("CredentialRotation", rotation, rotation.Status.Conditions))
	}
	for i := range b.Aggregates {
		aggregate := &b.Aggregates[i]
		node.Children = append(node.Children, conditionedNode("SecretAggregate", aggregate, aggregate.Status.Conditions))
	}
	return node
}

func (b *builder) serviceTree(service inventory.Service) Node {
	node := conditionedNode(service.Of.Kind, service, service.GetConditions())
	uid := service.GetUID()
	node.Children = append(node.Children, b.usedServers(service)...)
	node.Children = append(node.Children, b.foreignNodes(uid)...)
	node.Children = append(node.Children, b.apiNodes(service)...)
	node.Children = append(node.Children, b.jobNodes(uid)...)
	for i := range b.CronJobs {
		if cronJob := &b.CronJobs[i]; inventory.OwnedBy(cronJob, uid) {
			node.Children = append(node.Children, b.cronJobNode(cronJob))
		}
	}
	return withPods(node, b.strayPods(service))
}

// usedServers returns the MariaDB that a service only uses. It has no owner, or belongs to a
// ControlPlane above, which shows it.
func (b *builder) usedServers(service inventory.Service) (nodes []Node) {
	ref := service.ServiceSpec().Database.ClusterRef
	if ref == nil || metav1.GetControllerOf(service) != nil {
		return nil
	}
	for i := range b.Foreign {
		obj := &b.Foreign[i]
		if obj.GetKind() == "MariaDB" && obj.GetName() == ref.Name {
			nodes = append(nodes, b.foreignNode(obj))
		}
	}
	return nodes
}

// apiNodes returns the Deployment with its pods, or the pods alone if there is no
// Deployment, as for a user who may not list Deployments.
func (b *builder) apiNodes(service inventory.Service) []Node {
	pods := b.PodsWith(service.Of.SelectorLabels(service.GetName()))
	for i := range b.Deployments {
		if deployment := &b.Deployments[i]; inventory.OwnedBy(deployment, service.GetUID()) {
			return []Node{withPods(deploymentNode(deployment), pods)}
		}
	}
	return withPods(Node{}, pods).Children
}

// strayPods returns the pods of Jobs that no longer exist or, for a user who may not
// list Jobs, are not known. Pods that have succeeded are history.
func (b *builder) strayPods(service inventory.Service) []corev1.Pod {
	pods := b.PodsWith(map[string]string{labelName: service.Of.TaskName, labelInstance: service.GetName()})
	return slices.DeleteFunc(pods, func(pod corev1.Pod) bool {
		owner := metav1.GetControllerOf(&pod)
		known := slices.ContainsFunc(b.Jobs, func(run batchv1.Job) bool { return owner != nil && run.UID == owner.UID })
		return known || pod.Status.Phase == corev1.PodSucceeded
	})
}

// conditionedNode is the node of an object with the condition Ready.
func conditionedNode(kind string, obj metav1.Object, conditions []metav1.Condition) Node {
	ready := meta.FindStatusCondition(conditions, vocabulary.ConditionReady)
	node := availabilityNode(kind, obj, ready)
	if meta.IsStatusConditionTrue(conditions, vocabulary.ConditionStalled) {
		node.State = StateFailed
	}
	return node
}

// availabilityNode is the node of an object with a condition that says whether it
// can be used.
func availabilityNode(kind string, obj metav1.Object, available *metav1.Condition) Node {
	created := obj.GetCreationTimestamp()
	node := Node{Kind: kind, Name: obj.GetName(), State: StateUnknown, Text: "its operator has not observed it yet", Since: &created}
	switch {
	case obj.GetDeletionTimestamp() != nil:
		node.State, node.Text, node.Since = StateWaiting, "being deleted", obj.GetDeletionTimestamp()
	case available == nil:
	case available.Status == metav1.ConditionTrue:
		node.State, node.Text, node.Since = StateOK, cmp.Or(available.Reason, "Ready"), &available.LastTransitionTime
	default:
		node.State, node.Text, node.Since = StateWaiting, cmp.Or(available.Reason, "NotReady"), &available.LastTransitionTime
	}
	return node
}

// foreignNodes returns the objects of other projects that the object controls.
func (b *builder) foreignNodes(uid types.UID) []Node {
	var nodes []Node
	for i := range b.Foreign {
		if obj := &b.Foreign[i]; inventory.OwnedBy(obj, uid) {
			nodes = append(nodes, b.foreignNode(obj))
		}
	}
	return nodes
}

// servers are the name labels of the pods of database and cache.
var servers = map[string]string{"MariaDB": "mariadb", "Memcached": "memcached"}

func (b *builder) foreignNode(obj *unstructured.Unstructured) Node {
	available := inventory.Availability(obj)
	node := availabilityNode(obj.GetKind(), obj, available)
	if available != nil && available.Status != metav1.ConditionTrue && available.Message != "" {
		node.Text += ": " + firstLine(available.Message)
	}
	if app, serves := servers[obj.GetKind()]; serves {
		pods := b.PodsWith(map[string]string{labelName: app, labelInstance: obj.GetName()})
		return withPods(node, pods)
	}
	return node
}

const (
	labelName     = "app.kubernetes.io/name"
	labelInstance = "app.kubernetes.io/instance"
)

func deploymentNode(deployment *appsv1.Deployment) Node {
	wanted, status := ptr.Deref(deployment.Spec.Replicas, 1), deployment.Status
	created := deployment.CreationTimestamp
	node := Node{
		Kind: "Deployment", Name: deployment.Name, State: StateOK, Since: &created,
		Text: fmt.Sprintf("%d of %d pods available, %d up to date", status.AvailableReplicas, wanted, status.UpdatedReplicas),
	}
	if status.AvailableReplicas < wanted || status.UpdatedReplicas < wanted || status.ObservedGeneration < deployment.Generation {
		node.State = StateWaiting
	}
	for _, condition := range status.Conditions {
		if condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue {
			node.State, node.Since = StateFailed, condition.LastTransitionTime.DeepCopy()
		}
	}
	return node
}

// jobNodes returns the Jobs that the object controls, the oldest first, each with its
// pods until it has succeeded.
func (b *builder) jobNodes(uid types.UID) []Node {
	jobs := b.jobsOf(uid)
	nodes := make([]Node, 0, len(jobs))
	for i := range jobs {
		nodes = append(nodes, b.jobNode(&jobs[i]))
	}
	return nodes
}

func (b *builder) jobsOf(uid types.UID) []batchv1.Job {
	var jobs []batchv1.Job
	for i := range b.Jobs {
		if inventory.OwnedBy(&b.Jobs[i], uid) {
			jobs = append(jobs, b.Jobs[i])
		}
	}
	slices.SortStableFunc(jobs, func(x, y batchv1.Job) int {
		return cmp.Or(x.CreationTimestamp.Compare(y.CreationTimestamp.Time), cmp.Compare(x.Name, y.Name))
	})
	return jobs
}

func (b *builder) jobNode(run *batchv1.Job) Node {
	created := run.CreationTimestamp
	node := Node{Kind: "Job", Name: run.Name, State: StateWaiting, Text: "running", Since: &created}
	ended, succeeded, _ := job.Ended(run)
	switch {
	case succeeded:
		node.State, node.Text = StateOK, "succeeded"
		if run.Status.CompletionTime != nil {
			node.Since = run.Status.CompletionTime
		}
		return node
	case ended:
		node.State, node.Text = StateFailed, "failed"
	case run.Status.Active == 0 && run.Status.Failed > 0:
		node.Text = fmt.Sprintf("waits for the next attempt, %d failed", run.Status.Failed)
	case run.Status.Active == 0:
		node.Text = "has no pod yet"
	}
	return withPods(node, b.PodsOwnedBy(run.UID))
}

// cronJobNode shows the latest run; earlier runs are history.
func (b *builder) cronJobNode(cronJob *batchv1.CronJob) Node {
	created := cronJob.CreationTimestamp
	node := Node{Kind: "CronJob", Name: cronJob.Name, State: StateOK, Text: cronJob.Spec.Schedule, Since: &created}
	if ptr.Deref(cronJob.Spec.Suspend, false) {
		node.Text += ", suspended"
	}
	if jobs := b.jobsOf(cronJob.UID); len(jobs) > 0 {
		last := b.jobNode(&jobs[len(jobs)-1])
		if node.Children = []Node{last}; last.State == StateFailed {
			node.State = StateFailed
		}
	}
	return node
}

func withPods(node Node, pods []corev1.Pod) Node {
	for i := range pods {
		node.Children = append(node.Children, podNode(&pods[i]))
	}
	return node
}
