// Package conformance verifies the common behaviour of the operators: an operator converges
// and then rests, survives failures, repairs drift, leaves foreign objects alone, explains what
// is wrong, and cleans up when a resource is deleted. The author of a kind describes it and
// calls [RunKind]. A service has more in common with other services, so its author describes it
// as a [Service] and calls [Main] and [Run]. The author's own tests cover what only that kind
// has.
package conformance

import (
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/running"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Service describes the operator of a service. T is a pointer to the Go type of its kind.
type Service[T service.Resource] struct {
	// Program is the operator.
	Program running.Program
	// Definition describes the service.
	Definition *service.Definition
	// Vocabulary lists the conditions, reasons and events of the kind.
	Vocabulary vocabulary.Kind

	// Exemplary marks the service that a short test verifies whole, on behalf of all. Of the
	// others it verifies what differs between services.
	Exemplary bool

	// New returns a valid resource with one replica and an external database and cache.
	// There must be a release before and after that of the resource.
	New func(namespace, name string) T
	// Inputs returns the Secrets that New refers to.
	Inputs func(namespace string) []client.Object
	// Endpoint returns the endpoint in the status of a resource named after the service.
	Endpoint func(namespace string) string
	// Probe answers the health checks and other requests of the operator to the service's
	// API; if it is nil, api does.
	Probe func(api *running.API) probe.Doer

	// Children are what the operator creates for such a resource in addition to what
	// every service has, by kind and name as in "Job keystone-bootstrap".
	Children []string
	// Irreplaceable are the names of Secrets that the operator never creates twice, nor
	// deletes before the database.
	Irreplaceable []string
	// Skips are the tasks of an upgrade, [schema.TaskMigrate] and [schema.TaskContract], that
	// the declaration of the schema leaves out.
	Skips []string
	// SLURP is what the declaration of the schema says.
	SLURP bool
	// MigratesAfterSync marks a service whose offline upgrade runs [schema.TaskMigrate] after
	// [schema.TaskSync].
	MigratesAfterSync bool
	// Drifts are changes to the children of the service's own, which the operator puts right.
	Drifts []Drift
	// Watches are the resources that the operator watches, as in "cronjobs.batch", beside
	// those that it watches for every service.
	Watches []string
	// Events are the reasons of the events on the way to Ready, apart from
	// DatabaseSynced.
	Events []string
	// StatusWrites is the maximum number of status writes until Ready.
	StatusWrites int
	// DeletionWrites are the writes at the end of a resource in addition to those of
	// every service, in the format of [transport.Call].
	DeletionWrites map[string]int
}

// verifies reports whether this run includes a proof. One that is shared only depends on
// the shared library.
func (s Service[T]) verifies(shared bool) bool { return !shared || s.Exemplary || !testing.Short() }

// Drift is a change that somebody else makes to one owned field of a child.
type Drift struct {
	what string
	// empty is an object of the child's kind.
	empty client.Object
	name  string
	// read returns the field, and spoil changes it.
	read  func(client.Object) any
	spoil func(client.Object)
}

// DriftOf gives the field of the named child that at returns a wrong value; field is what a
// failure calls the field.
func DriftOf[O client.Object, V any](empty O, name, field string, at func(O) *V, wrong V) Drift {
	return Drift{
		what: fmt.Sprintf("%T %s", empty, field), empty: empty, name: name,
		read:  func(obj client.Object) any { return *at(obj.(O)) },
		spoil: func(obj client.Object) { *at(obj.(O)) = wrong },
	}
}

// of returns an object with the child's name.
func (d Drift) of(namespace string) client.Object {
	obj := d.empty.DeepCopyObject().(client.Object)
	obj.SetNamespace(namespace)
	obj.SetName(d.name)
	return obj
}
