// Package inventory holds what has been read from a namespace. It makes no request,
// so that every decision based on it is a pure function.
package inventory

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// Inventory is what has been read from one namespace.
type Inventory struct {
	// Now is when it was read.
	Now       time.Time
	Namespace string

	ControlPlanes []c5c3v1alpha1.ControlPlane
	Rotations     []c5c3v1alpha1.CredentialRotation
	Aggregates    []c5c3v1alpha1.SecretAggregate
	// Services are the instances of API services, in the order of [ServiceKinds].
	Services []Service

	Deployments []appsv1.Deployment
	Jobs        []batchv1.Job
	CronJobs    []batchv1.CronJob
	Pods        []corev1.Pod
	// Unready says why an API pod is not ready, by its UID, as the log of the pod has it.
	Unready map[types.UID]string
	Events  []corev1.Event
	// Foreign are the objects of other projects, such as a MariaDB.
	Foreign []unstructured.Unstructured
	// Store is the ClusterSecretStore that the platform uses, nil when there is
	// none or it was not read.
	Store *unstructured.Unstructured

	// Gaps list what could not be read, and why.
	Gaps []string
}

// ControlPlane returns the ControlPlane with the name, nil when there is none.
func (i *Inventory) ControlPlane(name string) *c5c3v1alpha1.ControlPlane {
	for n := range i.ControlPlanes {
		if i.ControlPlanes[n].Name == name {
			return &i.ControlPlanes[n]
		}
	}
	return nil
}

// Roots returns every ControlPlane and every service that belongs to none of them.
func (i *Inventory) Roots() []Ref {
	var roots []Ref
	for n := range i.ControlPlanes {
		roots = append(roots, Ref{KindControlPlane, i.Namespace, i.ControlPlanes[n].Name})
	}
	for _, service := range i.Services {
		owner := metav1.GetControllerOf(service)
		if owner == nil || owner.Kind != KindControlPlane {
			roots = append(roots, service.Ref())
		}
	}
	return roots
}

// OwnedBy reports whether the object with the UID controls the other.
func OwnedBy(obj metav1.Object, uid types.UID) bool {
	owner := metav1.GetControllerOf(obj)
	return owner != nil && owner.UID == uid
}

// PodsWith returns the pods that have all of the labels.
func (i *Inventory) PodsWith(labels map[string]string) []corev1.Pod {
	return i.pods(func(pod *corev1.Pod) bool {
		for key, value := range labels {
			if pod.Labels[key] != value {
				return false
			}
		}
		return true
	})
}

// PodsOwnedBy returns the pods of a Job.
func (i *Inventory) PodsOwnedBy(uid types.UID) []corev1.Pod {
	return i.pods(func(pod *corev1.Pod) bool { return OwnedBy(pod, uid) })
}

func (i *Inventory) pods(keep func(*corev1.Pod) bool) []corev1.Pod {
	var found []corev1.Pod
	for n := range i.Pods {
		if keep(&i.Pods[n]) {
			found = append(found, i.Pods[n])
		}
	}
	return found
}

// LastEvent returns the latest event about the object with one of the reasons,
// nil when there is none. Without reasons every warning counts.
func (i *Inventory) LastEvent(uid types.UID, reasons ...string) *corev1.Event {
	var last *corev1.Event
	for n := range i.Events {
		event := &i.Events[n]
		wanted := slices.Contains(reasons, event.Reason) || len(reasons) == 0 && event.Type == corev1.EventTypeWarning
		if event.InvolvedObject.UID != uid || !wanted {
			continue
		}
		if last == nil || EventTime(event).After(EventTime(last)) {
			last = event
		}
	}
	return last
}

// EventTime returns when the event was last seen.
func EventTime(event *corev1.Event) time.Time {
	switch {
	case event.Series != nil:
		return event.Series.LastObservedTime.Time
	case !event.LastTimestamp.IsZero():
		return event.LastTimestamp.Time
	case !event.EventTime.IsZero():
		return event.EventTime.Time
	}
	return event.CreationTimestamp.Time
}

// Service returns the service that the reference names, nil when there is none.
func (i *Inventory) Service(ref Ref) *Service {
	for n := range i.Services {
		if found := i.Services[n].Ref(); found.Kind == ref.Kind && found.Name == ref.Name {
			return &i.Services[n]
		}
	}
	return nil
}

// ServicesOf returns the services that the ControlPlane owns.
func (i *Inventory) ServicesOf(cp metav1.Object) []Service {
	var services []Service
	for _, service := range i.Services {
		if OwnedBy(service, cp.GetUID()) {
			services = append(services, service)
		}
	}
	return services
}
