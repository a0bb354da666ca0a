package report

import (
	"cmp"
	"fmt"
	"slices"
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
	service, isService := obj.(inventory.Service)
	server, isForeign := other.(*unstructured.Unstructured)
	if !isService || !isForeign || server.GetKind() != "MariaDB" || metav1.GetControllerOf(service) != nil {
		return false
	}
	ref := service.ServiceSpec().Database.ClusterRef
	return ref != nil && ref.Name == server.GetName()
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
	case inventory.Service:
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
		describeForeign(&node, obj)
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
	case inventory.Service:
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
	return available
}

func describeForeign(node *Node, obj *unstructured.Unstructured) {
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

func (b *builder) describePod(node *Node, pod *corev1.Pod) {
	node.Kind, node.Text = kindPod, podText(pod)
	trouble, _ := poddiag.Problem([]corev1.Pod{*pod})
	switch {
	case pod.DeletionTimestamp != nil:
		node.State, node.Since, node.Text = StateWaiting, pod.DeletionTimestamp, "terminating"
		return
	case pod.Status.Phase == corev1.PodSucceeded || inventory.IsReady(pod):
		return
	case pod.Status.Phase == corev1.PodFailed || trouble != "":
		node.State = StateFailed
	default:
		node.State = StateWaiting
	}
	node.exhibit = &Exhibit{Kind: kindPod, Name: pod.Name, Problem: trouble}
	node.exhibit.Container, node.exhibit.Previous = containerWithLog(pod)
	if event := b.LastWarning(pod.UID); event != nil && node.exhibit.Problem == "" {
		node.exhibit.Problem = fmt.Sprintf("%s: %s", event.Reason, poddiag.Output(event.Message))
	}
	node.exhibit.Problem = cmp.Or(node.exhibit.Problem, node.Text)
}

// podText describes a pod as "kubectl get pods" does.
func podText(pod *corev1.Pod) string {
	restarts, text := int32(0), strings.ToLower(string(pod.Status.Phase))
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		restarts += status.RestartCount
		switch waiting, ended := status.State.Waiting, status.State.Terminated; {
		case waiting != nil && waiting.Reason != "PodInitializing":
			text = cmp.Or(waiting.Reason, text)
		case ended != nil && ended.ExitCode != 0:
			text = fmt.Sprintf("%s, exit code %d", cmp.Or(ended.Reason, "Error"), ended.ExitCode)
		}
	}
	if pod.Status.Phase == corev1.PodRunning && !inventory.IsReady(pod) {
		text += ", not ready"
	}
	if restarts > 0 {
		text += fmt.Sprintf(", %d restarts", restarts)
	}
	return text
}

// Exhibit is an object that explains a cause, such as a pod.
type Exhibit struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Problem says what is wrong with it.
	Problem string `json:"problem"`
	// Log is the last relevant part of its log, when there is one.
	Log string `json:"log,omitempty"`

	// Container is the one with the most relevant log, "" if there is none.
	Container string `json:"container,omitempty"`
	// Previous is set when the log is that of the instance before the last restart.
	Previous bool `json:"previous,omitempty"`

	// group is that of the kind, "" for built-in kinds, and remedy the command that helps, if one does.
	group, remedy string
}

// Kinds of exhibits and nodes.
const (
	kindPod        = "Pod"
	kindJob        = "Job"
	kindCronJob    = "CronJob"
	kindDeployment = "Deployment"
)

const (
	// maxExhibits bounds what is shown: many pods fail for the same reason.
	maxExhibits = 3
	// maxLog is how many lines of a log are shown.
	maxLog = 3
	// maxEvents is how many warnings are shown.
	maxEvents = 10
)

// command returns the one that shows more.
func (e Exhibit) command(namespace string) string {
	switch {
	case e.remedy != "":
		return fmt.Sprintf("kubectl -n %s %s", namespace, e.remedy)
	case e.Previous:
		return fmt.Sprintf("kubectl -n %s logs %s -c %s --previous", namespace, e.Name, e.Container)
	case e.Container != "":
		return fmt.Sprintf("kubectl -n %s logs %s -c %s", namespace, e.Name, e.Container)
	}
	return fmt.Sprintf("kubectl -n %s describe %s %s", namespace, strings.Trim(strings.ToLower(e.Kind)+"."+e.group, "."), e.Name)
}

// exhibits returns the faulty objects in a tree, those that a cause names first.
func exhibits(root Node, causes []Cause) []Exhibit {
	found := faults(root, causes)
	return found[:min(len(found), maxExhibits)]
}

// faults returns the faulty objects in a tree in their order. Of the pods of a Job it is only one.
func faults(node Node, causes []Cause) (found []Exhibit) {
	for _, child := range node.Children {
		found = append(found, faults(child, causes)...)
	}
	if node.exhibit != nil {
		found = append([]Exhibit{*node.exhibit}, found...)
	}
	slices.SortStableFunc(found, func(x, y Exhibit) int { return cmp.Compare(rank(x, causes), rank(y, causes)) })
	if node.Kind == kindJob {
		return found[:min(len(found), 1)]
	}
	return found
}

// rank is lower for what a cause names, and lowest for what it names itself: a name may
// be the beginning of another one, as that of a Job is of its pod's.
func rank(exhibit Exhibit, causes []Cause) int {
	lowest := 2
	for _, cause := range causes {
		for word := range strings.FieldsSeq(cause.Message) {
			word = strings.Trim(word, `:;,."()`)
			switch {
			case word == exhibit.Name:
				return 0
			case exhibit.Kind == kindPod && word != "" && strings.HasPrefix(exhibit.Name, word+"-"):
				lowest = 1
			}
		}
	}
	return lowest
}

// containerWithLog returns the container that failed, or else the one that runs
// without being ready.
func containerWithLog(pod *corev1.Pod) (name string, previous bool) {
	statuses := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
	for _, status := range statuses {
		switch {
		case status.State.Terminated != nil && status.State.Terminated.ExitCode != 0:
			return status.Name, false
		case status.State.Waiting != nil && status.LastTerminationState.Terminated != nil:
			return status.Name, true
		}
	}
	for _, status := range statuses {
		if status.State.Running != nil && !status.Ready {
			return status.Name, false
		}
	}
	return "", false
}

// jobExhibit describes a Job that has no pod to look at, either because none could be
// created or because it no longer exists.
func (b *builder) jobExhibit(run *batchv1.Job, ended bool) *Exhibit {
	exhibit := &Exhibit{Kind: kindJob, Name: run.Name, Problem: run.Annotations[job.LastWordsAnnotation]}
	event := b.LastWarning(run.UID)
	switch {
	case len(b.PodsOwnedBy(run.UID)) > 0:
		return nil
	case exhibit.Problem != "":
	case event != nil && event.Reason == "FailedCreate":
		exhibit.Problem = poddiag.Refusal(event.Message)
	case event != nil:
		exhibit.Problem = event.Reason + ": " + poddiag.Output(event.Message)
	case !ended:
		return nil
	default:
		exhibit.Problem = "it failed and its pod no longer exists"
		for _, condition := range run.Status.Conditions {
			if condition.Type == batchv1.JobFailed && condition.Message != "" {
				exhibit.Problem = condition.Message
			}
		}
	}
	return exhibit
}

// Quote returns the part of a log that shows the cause: why an API pod is not ready, or else at most three lines,
// without the prefix that oslo.log writes and without credentials in URLs.
func Quote(log string) string {
	if reason := poddiag.UnreadyReason(log); reason != "" {
		return reason
	}
	lines := strings.Split(poddiag.Output(log), "\n")
	return strings.Join(lines[max(0, len(lines)-maxLog):], "\n")
}

// Workloads describe all pods, Jobs and Deployments of a namespace, regardless of their
// owners.
type Workloads struct {
	Namespace string `json:"namespace"`
	// LookAt are the faulty ones.
	LookAt []Exhibit `json:"lookAt,omitempty"`
	Next   []string  `json:"next,omitempty"`
	// Events are the latest warnings, the newest last.
	Events []Event  `json:"events,omitempty"`
	Gaps   []string `json:"gaps,omitempty"`
}

// Event is a warning about an object.
type Event struct {
	At      metav1.Time `json:"at"`
	Object  string      `json:"object"`
	Reason  string      `json:"reason"`
	Message string      `json:"message"`
}

// BuildWorkloads describes the namespace.
func BuildWorkloads(found *inventory.Inventory) Workloads {
	b := &builder{found}
	w := Workloads{Namespace: found.Namespace, Gaps: texts(found.Gaps)}
	for _, obj := range slices.Concat(inventory.Pointers(b.Deployments), inventory.Pointers(b.Jobs), inventory.Pointers(b.Pods)) {
		node := b.node(obj)
		if deployment, is := obj.(*appsv1.Deployment); is && deployment.Spec.Replicas != nil && *deployment.Spec.Replicas == 0 {
			node.exhibit = &Exhibit{
				Kind: node.Kind, Name: node.Name, Problem: "it is scaled to 0, so that it has no pods",
				remedy: "scale deployment " + node.Name + " --replicas=1",
			}
		}
		if node.exhibit != nil {
			w.LookAt = append(w.LookAt, *node.exhibit)
			w.Next = append(w.Next, node.exhibit.command(found.Namespace))
		}
	}
	w.Next = w.Next[:min(len(w.Next), 2*maxExhibits)]
	for _, event := range inventory.ByTime(b.Events) {
		if event.Type == corev1.EventTypeWarning {
			w.Events = append(w.Events, Event{
				At: metav1.NewTime(inventory.EventTime(&event)), Object: event.InvolvedObject.Kind + "/" + event.InvolvedObject.Name,
				Reason: event.Reason, Message: strings.Join(strings.Fields(event.Message), " "),
			})
		}
	}
	w.Events = w.Events[max(0, len(w.Events)-maxEvents):]
	return w
}
