// Package service is what the operators of OpenStack API services share: the
// description of a service, the resource that asks for an instance of it, and what
// the steps of a pass work with. The steps themselves are in the packages above it,
// each by what it is about.
package service

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Labels on the objects of an instance (https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/).
const (
	LabelName      = "app.kubernetes.io/name"
	LabelInstance  = "app.kubernetes.io/instance"
	LabelComponent = "app.kubernetes.io/component"
	LabelManagedBy = "app.kubernetes.io/managed-by"
)

// Definition is what tells one API service from another.
type Definition struct {
	// Kind is the kind of the service's resource, such as "Placement".
	Kind string
	// Name is the name of the service, such as "placement": of the API container, of
	// app.kubernetes.io/name on its pods, and of its options and tools.
	Name string
	// Port is the TCP port of the API.
	Port int32
	// UserID is the user and the group of the processes in the service's image.
	UserID int64
	// ConfigDir is the directory of the configuration in the containers. It ends with
	// a slash.
	ConfigDir string
	// Environment is what every container that runs the service's own code has.
	Environment []corev1.EnvVar
	// EgressPorts returns the TCP ports of what the pods of an instance reach beside its
	// database and its cache. It may be nil.
	EgressPorts func(resource Resource) []int32
}

// ManagedBy is the value of app.kubernetes.io/managed-by on everything that the
// operator of the service creates; its caches select Secrets and ConfigMaps by it.
func (d *Definition) ManagedBy() string { return d.Name + "-operator" }

// TaskName is the value of app.kubernetes.io/name on the pods of Jobs and CronJobs.
// It is not Name, so that no Service, PodDisruptionBudget or Deployment selects a
// Job's pod for an API pod.
func (d *Definition) TaskName() string { return d.Name + "-task" }

// Labels are on every object of the instance with the name.
func (d *Definition) Labels(instance string) map[string]string {
	labels := d.SelectorLabels(instance)
	labels[LabelManagedBy] = d.ManagedBy()
	return labels
}

// SelectorLabels select the API pods of the instance with the name and no other pod.
func (d *Definition) SelectorLabels(instance string) map[string]string {
	return map[string]string{LabelName: d.Name, LabelInstance: instance}
}

// AllTasks select the pods of all Jobs and CronJobs of the instance with the name.
func (d *Definition) AllTasks(instance string) map[string]string {
	return map[string]string{LabelName: d.TaskName(), LabelInstance: instance}
}

// TaskLabels are on the pods of a Job or CronJob.
func (d *Definition) TaskLabels(instance, component string) map[string]string {
	labels := maps.Clone(d.AllTasks(instance))
	labels[LabelComponent], labels[LabelManagedBy] = component, d.ManagedBy()
	return labels
}

// Resource is a custom resource that asks for an instance of an API service.
type Resource interface {
	reconcile.Object
	commonv1.Describer
	// ServiceStatus returns the status, which steps write to.
	ServiceStatus() *commonv1.ServiceStatus
}

// ControlledBy reports whether the resource is the controller of the object.
func ControlledBy(obj client.Object, resource Resource) bool {
	return metav1.IsControlledBy(obj, resource)
}
