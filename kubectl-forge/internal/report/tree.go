package report

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/job"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// State is the state of an object.
type State string

// The states.
const (
	StateOK      State = "OK"
	StateWaiting State = "Waiting"
	StateFailed  State = "Failed"
	// StateUnknown is that of an object that its operator has not observed yet.
	StateUnknown State = "Unknown"
)

// Node is an object in the tree of a target's parts.
type Node struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	State State  `json:"state"`
	// Text describes the state in a few words.
	Text string `json:"text,omitempty"`
	// Since is when the object entered its state, or when it was created.
	Since    *metav1.Time `json:"since,omitempty"`
	Children []Node       `json:"children,omitempty"`

	// exhibit says what is wrong with it, nil if nothing is.
	exhibit *Exhibit
}

// tree returns the node of an object with all that belongs to it.
func (b *builder) tree(obj client.Object) Node {
	node := b.node(obj)
	for _, child := range b.children(obj) {
		node.Children = append(node.Children, b.tree(child))
	}
	for _, pod := range b.podsOf(obj) {
		node.Children = append(node.Children, b.node(&pod))
	}
	if node.Kind == kindCronJob && slices.ContainsFunc(node.Children, func(run Node) bool { return run.State == StateFailed }) {
		node.State = StateFailed
	}
	return node
}

// children returns what an object controls and uses, except for its pods. Of a CronJob only the latest run counts:
// earlier ones are history.
func (b *builder) children(obj client.Object) (found []client.Object) {
	_, isPlane := obj.(*c5c3v1alpha1.ControlPlane)
	for _, other := range b.Objects() {
		_, isRotation := other.(*c5c3v1alpha1.CredentialRotation)
		_, isAggregate := other.(*c5c3v1alpha1.SecretAggregate)
		if inventory.OwnedBy(other, obj.GetUID()) || uses(obj, other) || isPlane && (isRotation || isAggregate) {
			found = append(found, other)
		}
	}
	if _, isCronJob := obj.(*batchv1.CronJob); isCronJob {
		return found[max(0, len(found)-1):]
	}
	return found
}

// uses reports whether the object is the MariaDB of a service, and of no ControlPlane, which would show it.
func uses(obj, other client.Object) bool {
	service, isService := obj.(inventory.Instance)
	server, isThirdParty := other.(*unstructured.Unstructured)
	if !isService || !isThirdParty || server.GetKind() != "MariaDB" || metav1.GetControllerOf(service) != nil {
		return false
	}
	data := commonv1.DataOf(service.Resource)
	return data != nil && data.Database.IsManaged() && data.Database.ClusterRef.Name == server.GetName()
}

const (
	labelName     = "app.kubernetes.io/name"
	labelInstance = "app.kubernetes.io/instance"
)

// podsOf returns the pods of an object, those of Jobs until they have succeeded. A service has those whose
// Deployment or Job is not known, as for a user who may not list these.
func (b *builder) podsOf(obj client.Object) []corev1.Pod {
	switch obj := obj.(type) {
	case *unstructured.Unstructured:
		return b.PodsWith(map[string]string{labelName: strings.ToLower(obj.GetKind()), labelInstance: obj.GetName()})
	case *appsv1.Deployment:
		return b.PodsWith(obj.Spec.Selector.MatchLabels)
	case *batchv1.Job:
		if _, succeeded, _ := job.Ended(obj); succeeded {
			return nil
		}
		pods := b.PodsOwnedBy(obj.UID)
		// A Job that is tried again fails for the same reason: the newest pod comes first.
		slices.SortStableFunc(pods, func(x, y corev1.Pod) int { return y.CreationTimestamp.Compare(x.CreationTimestamp.Time) })
		return pods
	case inventory.Instance:
		pods := slices.Concat(b.PodsWith(obj.Of.SelectorLabels(obj.GetName())),
			b.PodsWith(map[string]string{labelName: obj.Of.TaskName, labelInstance: obj.GetName()}))
		return slices.DeleteFunc(pods, func(pod corev1.Pod) bool { return pod.Status.Phase == corev1.PodSucceeded || b.hasKnownOwner(&pod) })
	}
	return nil
}

func (b *builder) hasKnownOwner(pod *corev1.Pod) bool {
	return slices.ContainsFunc(b.Jobs, func(run batchv1.Job) bool { return inventory.OwnedBy(pod, run.UID) }) ||
		slices.ContainsFunc(b.Deployments, func(d appsv1.Deployment) bool { return inventory.HasLabels(pod, d.Spec.Selector.MatchLabels) })
}
