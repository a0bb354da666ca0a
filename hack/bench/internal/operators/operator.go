// Package operators declares what the bench needs to know about each operator that it can
// measure.
package operators

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/standin"
)

// Resource is a resource of an operator, with the state that it reports.
type Resource interface {
	client.Object
	GetConditions() []metav1.Condition
}

// Operator declares an operator: the cluster that it needs, and the resources that are
// created there. What its resources do not have is nil, which leaves out the scenarios
// about it.
type Operator struct {
	// Name is the folder of its module, and the first part of the name of its program.
	Name string
	// Kind and Plural name its resource in what users read.
	Kind, Plural string
	// Controller is the name of its controller in the metrics; "" stands for all controllers.
	Controller string
	// Operators is how many operators its program runs, each with its own watches; zero stands
	// for one.
	Operators int
	// Flags are what its program needs beside the flags of every operator.
	Flags []string
	// Rules is a pattern for the files with its permissions, in its chart.
	Rules string
	// CRDs are patterns for the files and folders with the definitions that the World
	// serves in addition to those of other projects, relative to the top of the checkout.
	CRDs []string
	// AddToScheme registers the resource.
	AddToScheme func(*runtime.Scheme) error
	// Alone is true if no two resources may share a namespace.
	Alone bool

	// Empty returns an empty resource, New a small valid one.
	Empty func() Resource
	New   func(client.ObjectKey) Resource
	// Prepare creates what a resource refers to, in a namespace that exists.
	Prepare func(context.Context, client.Client, *Standins, client.ObjectKey) error
	// Controllers are the stand-ins for the other controllers in its cluster.
	Controllers func(*Standins) []standin.Standin
	// Beside returns further resources that are created next to a resource. The argument is
	// the top of the checkout. It may be nil.
	Beside func(root string, key client.ObjectKey) ([]client.Object, error)
	// Hosts are the host names of the services of a resource, and Answer serves the APIs of
	// all of them, at all Ports.
	Hosts  func(client.ObjectKey) []string
	Ports  []string
	Answer func(*Standins) http.Handler

	// Grow adds a replica.
	Grow func(Resource)
	// Spoil makes a resource invalid in a way that the schema does not notice, and Mend valid
	// again.
	Spoil, Mend func(Resource)
	// Break makes a resource fail forever once it is created.
	Break func(*Standins, client.ObjectKey)
	// Slow keeps the secret store from accepting the copies of a resource's keys.
	Slow func(*Standins, client.ObjectKey)
	// Populate gives resources the Pods and Jobs that they have in a real cluster.
	Populate func(ctx context.Context, c client.Client, keys []client.ObjectKey, pods int) error
}

// rules is where the permissions of an operator are that is a program of its own.
const rules = "files/rbac-rules.yaml"

// keystonePort is the port of a Keystone's Service.
const keystonePort = "5000"

// Program is the name of the operator's program and chart, of its user at the API server,
// and the value of its label on everything it makes.
func (o *Operator) Program() string { return o.Name + "-operator" }

// Namespace is where the operator runs, and has its Lease.
func (o *Operator) Namespace() string { return o.Name + "-system" }

// Keys names n resources, with a fixed number per namespace unless they have to be alone.
// Batches with another prefix have separate namespaces.
func (o *Operator) Keys(prefix string, n, perNamespace int) []client.ObjectKey {
	if o.Alone {
		perNamespace = 1
	}
	keys := make([]client.ObjectKey, n)
	for i := range keys {
		keys[i] = client.ObjectKey{
			Namespace: fmt.Sprintf("%s-%d", prefix, i/perNamespace),
			Name:      fmt.Sprintf("%s-%d", strings.ToLower(o.Kind), i%perNamespace),
		}
	}
	return keys
}

// change adapts a change of one kind of resource to all.
func change[T Resource](edit func(T)) func(Resource) {
	return func(r Resource) {
		if typed, its := r.(T); its {
			edit(typed)
		}
	}
}
