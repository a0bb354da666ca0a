// Package inventory holds what has been read from a namespace. It makes no request,
// so that every decision based on it is a pure function.
package inventory

import (
	"cmp"
	"slices"
	"time"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	Services []Instance

	Deployments []appsv1.Deployment
	Jobs        []batchv1.Job
	CronJobs    []batchv1.CronJob
	Pods        []corev1.Pod
	// Unready says why an API pod is not ready, by its UID, as the log of the pod has it.
	Unready map[types.UID]string
	Events  []corev1.Event
	// ThirdParty are the objects of other projects, such as a MariaDB.
	ThirdParty []unstructured.Unstructured
	// Store is the ClusterSecretStore that the platform uses, nil when there is
	// none or it was not read.
	Store *esov1.ClusterSecretStore

	// Gaps list what could not be read, and why.
	Gaps []error
}

// Objects returns all objects but the pods and the store, in the order in which they are shown: Jobs by age.
func (i *Inventory) Objects() []client.Object {
	objects := slices.Concat(Pointers(i.ControlPlanes), Pointers(i.ThirdParty))
	for _, service := range i.Services {
		objects = append(objects, service)
	}
	jobs := Pointers(i.Jobs)
	slices.SortStableFunc(jobs, func(x, y client.Object) int {
		created, before := x.GetCreationTimestamp(), y.GetCreationTimestamp()
		return cmp.Or(created.Compare(before.Time), cmp.Compare(x.GetName(), y.GetName()))
	})
	return slices.Concat(objects, Pointers(i.Rotations), Pointers(i.Aggregates), Pointers(i.Deployments), jobs, Pointers(i.CronJobs))
}

// Pointers returns the elements as objects.
func Pointers[T any, P interface {
	*T
	client.Object
}](list []T) []client.Object {
	objects := make([]client.Object, 0, len(list))
	for i := range list {
		objects = append(objects, P(&list[i]))
	}
	return objects
}

// All returns every ControlPlane and every service, the former first.
func (i *Inventory) All() []Ref {
	all := make([]Ref, 0, len(i.ControlPlanes)+len(i.Services))
	for n := range i.ControlPlanes {
		all = append(all, PlaneRef(&i.ControlPlanes[n]))
	}
	for _, service := range i.Services {
		all = append(all, service.Ref())
	}
	return all
}

// Roots returns every ControlPlane and every service that belongs to none of them.
func (i *Inventory) Roots() []Ref {
	return slices.DeleteFunc(i.All(), func(ref Ref) bool {
		service, isService := i.Find(ref).(Instance)
		return isService && PlaneOf(service) != nil
	})
}

// PlaneOf returns the ControlPlane that a service belongs to, nil when there is none.
func PlaneOf(service Instance) *Ref {
	if owner := metav1.GetControllerOf(service); owner != nil && owner.Kind == KindControlPlane {
		return &Ref{KindControlPlane, service.GetNamespace(), owner.Name}
	}
	return nil
}

// OwnedBy reports whether the object with the UID controls the other.
func OwnedBy(obj metav1.Object, uid types.UID) bool {
	owner := metav1.GetControllerOf(obj)
	return owner != nil && owner.UID == uid
}

// Find returns the ControlPlane or the service that the reference names, nil when there is none.
func (i *Inventory) Find(ref Ref) Conditioned {
	for n := range i.ControlPlanes {
		if PlaneRef(&i.ControlPlanes[n]) == ref {
			return &i.ControlPlanes[n]
		}
	}
	for _, service := range i.Services {
		if service.Ref() == ref {
			return service
		}
	}
	return nil
}

// ServicesOf returns the services that the ControlPlane owns.
func (i *Inventory) ServicesOf(cp metav1.Object) []Instance {
	return slices.DeleteFunc(slices.Clone(i.Services), func(s Instance) bool { return !OwnedBy(s, cp.GetUID()) })
}
