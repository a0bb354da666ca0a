// Package service has the common model of the operators of OpenStack API services: the
// definition of a service, the resource that declares an instance of it, and the data and
// tools for the steps of a pass. The steps themselves live in the packages that build on
// this one, grouped by subject.
package service

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/release"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Labels on the objects of an instance (https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/).
const (
	LabelName      = "app.kubernetes.io/name"
	LabelInstance  = "app.kubernetes.io/instance"
	LabelComponent = "app.kubernetes.io/component"
	LabelManagedBy = "app.kubernetes.io/managed-by"
)

// Definition describes one API service.
type Definition struct {
	// Kind is the kind of the service's resource, such as "Placement".
	Kind string
	// CodeName is the name of the service in OpenStack, such as "placement". The API
	// container, the label app.kubernetes.io/name of its pods, its options and its tools are
	// named after it.
	CodeName string
	// CatalogType is the type of the service in the catalog, such as "placement". The
	// middleware that validates tokens compares it with the access rules of a token, and
	// refuses a token with rules if it is empty.
	CatalogType string
	// Port is the TCP port of the API.
	Port int32
	// Path is where the API begins, such as "/v3"; empty for the root.
	Path string
	// UserID is the UID and GID of the processes in the service's image.
	UserID int64
	// ConfigDir is the directory of the configuration in the containers, with a trailing
	// slash.
	ConfigDir string
	// Environment is set in every container that runs the service's own code.
	Environment []corev1.EnvVar
	// Application is what the service's images hold.
	Application Application
	// LargeBodies marks a service whose requests and answers may have bodies of any length, and
	// take as long as these need. It reads a body of unknown length itself.
	LargeBodies bool
}

// Application describes the software of a service, as its images hold it.
type Application struct {
	// Distribution is the name of its Python distribution, such as "openstack-placement".
	Distribution string
	// Script is the path of the WSGI script that serves the API in images of releases that
	// have one. An image may have a script of that name anywhere in its PATH.
	Script string
	// Module is the module and the name of the WSGI application in images without the
	// script, such as "placement.wsgi.api:application".
	Module string
	// Majors tells the release from the version.
	Majors release.Majors
}

// ManagedBy is the value of app.kubernetes.io/managed-by on everything that the service's
// operator creates. Its caches select Secrets and ConfigMaps by this label.
func (d *Definition) ManagedBy() string { return d.CodeName + "-operator" }

// TaskName is the value of app.kubernetes.io/name on the pods of Jobs and CronJobs. It
// differs from CodeName so that no Service, PodDisruptionBudget or Deployment selects them
// as API pods.
func (d *Definition) TaskName() string { return d.CodeName + "-task" }

// Labels returns the labels of every object of the instance.
func (d *Definition) Labels(instance string) map[string]string {
	labels := d.SelectorLabels(instance)
	labels[LabelManagedBy] = d.ManagedBy()
	return labels
}

// SelectorLabels returns labels that match the API pods of the instance and no other
// pods.
func (d *Definition) SelectorLabels(instance string) map[string]string {
	return map[string]string{LabelName: d.CodeName, LabelInstance: instance}
}

// AllTasks returns labels that match the pods of all Jobs and CronJobs of the instance.
func (d *Definition) AllTasks(instance string) map[string]string {
	return map[string]string{LabelName: d.TaskName(), LabelInstance: instance}
}

// TaskLabels returns the labels of the pods of a Job or CronJob.
func (d *Definition) TaskLabels(instance, component string) map[string]string {
	labels := maps.Clone(d.AllTasks(instance))
	labels[LabelComponent], labels[LabelManagedBy] = component, d.ManagedBy()
	return labels
}

// Resource is a custom resource that declares an instance of an API service.
type Resource interface {
	reconcile.Object
	commonv1.Describer
	// ServiceStatus returns the status for steps to modify.
	ServiceStatus() *commonv1.ServiceStatus
}

// ControlledBy reports whether the resource is the controller of the object.
func ControlledBy(obj client.Object, resource Resource) bool {
	return metav1.IsControlledBy(obj, resource)
}
