package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/children"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/running"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Instance is a resource in its own namespace, with an operator for that namespace.
type Instance[T service.Resource] struct {
	*testing.T
	suite[T]
	// Resource is the resource as it was last read.
	Resource T
	// Operator is the operator of the namespace, API the API that it probes.
	Operator *running.Operator
	API      *running.API
}

// Prepared returns a resource with an external database that is not created yet. Its
// namespace has an operator and the objects that the resource refers to, except the named
// ones.
func Prepared[T service.Resource](t *testing.T, s Service[T], w *World, without ...string) *Instance[T] {
	t.Helper()
	return suite[T]{s, w}.prepared(t, brownfield, without...)
}

// prepared creates a namespace with an operator and the objects that a resource of the
// mode refers to, except the named ones. The resource is not created.
func (s suite[T]) prepared(t *testing.T, m mode, without ...string) *Instance[T] {
	t.Helper()
	namespace := s.Env.Namespace(t)
	for _, input := range s.inputs(namespace, m) {
		if !slices.Contains(without, input.GetName()) {
			objects.Create(t, s.Admin, input)
		}
	}
	i := &Instance[T]{T: t, suite: s, Resource: s.make(namespace, m)}
	i.start()
	return i
}

// converged returns a converged instance.
func (s suite[T]) converged(t *testing.T, m mode) *Instance[T] {
	t.Helper()
	i := s.prepared(t, m)
	if m == managed {
		expect.Condition(t, s.Admin, mariaDB(i.namespace()), "Ready", metav1.ConditionTrue, "Created")
	}
	i.Create()
	i.Ready()
	return i
}

// start starts a new operator.
func (i *Instance[T]) start() {
	i.Helper()
	i.API = &running.API{}
	i.Operator = running.Start(i.T, i.Program, i.AsOperator, i.namespace(), controller.Options{Probe: i.probe(i.API)})
}

// in returns the instance for a subtest.
func (i *Instance[T]) in(t *testing.T) *Instance[T] {
	inner := *i
	inner.T = t
	return &inner
}

func (i *Instance[T]) namespace() string { return i.Resource.GetNamespace() }

func (i *Instance[T]) name() string { return i.Resource.GetName() }

// Create creates the resource in the cluster.
func (i *Instance[T]) Create() {
	i.Helper()
	objects.Create(i.T, i.Admin, client.Object(i.Resource))
}

func (i *Instance[T]) change(change func(*commonv1.ServiceSpec)) {
	i.Helper()
	objects.Change(i.T, i.Admin, i.Resource, func(r T) { change(r.ServiceSpec()) })
}

// Condition waits for a condition of the resource.
func (i *Instance[T]) Condition(conditionType string, status metav1.ConditionStatus, reason string, says ...string) {
	i.Helper()
	expect.Condition(i.T, i.Admin, i.Resource, conditionType, status, reason, says...)
}

// Fails waits until a condition is False.
func (i *Instance[T]) Fails(conditionType, reason string, says ...string) {
	i.Helper()
	i.Condition(conditionType, metav1.ConditionFalse, reason, says...)
}

// Ready waits until every condition of the resource is True, including those on which
// Ready does not depend: after that nothing is in progress any more.
func (i *Instance[T]) Ready() {
	i.Helper()
	expect.Object(i.T, i.Admin, i.Resource, func() error { return i.readyNow(i.Resource) })
	i.Condition(vocabulary.ConditionReady, metav1.ConditionTrue, vocabulary.ReasonAllReady)
}

// children returns the children of the instance, including those of earlier resources.
func (i *Instance[T]) children() []children.Child {
	i.Helper()
	found, err := children.Find(i.Context(), i.Admin, i.Definition, i.namespace())
	if err != nil {
		i.Fatal(err)
	}
	return found
}

func (i *Instance[T]) connection() *corev1.Secret {
	return i.secret(i.name()+"-db-connection", nil)
}

func (i *Instance[T]) secret(name string, data map[string]string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace(), Name: name}, StringData: data}
}

// pass triggers a pass over the resource by a change of its connection Secret that does
// not matter to the operator, and returns the requests of that pass. Discovery is left
// out, and so are events: they are written asynchronously, so those of an earlier pass
// may come late.
func (i *Instance[T]) pass() transport.Requests {
	i.Helper()
	before, connection := i.Operator.Requests.Snapshot(), i.connection()
	objects.Change(i.T, i.Admin, connection, func(s *corev1.Secret) {
		metav1.SetMetaDataAnnotation(&s.ObjectMeta, "example.com/touched", s.ResourceVersion)
	})
	i.Operator.Passed(i.T, client.ObjectKeyFromObject(i.Resource), connection)
	return i.Operator.Requests.Since(before).Filter(func(r transport.Request) bool { return r.Resource != "" && !r.Event() })
}

// settle triggers passes until one makes no request, when everything in progress at the
// time the resource became ready has finished.
func (i *Instance[T]) settle() {
	i.Helper()
	expect.Eventually(i.T, "a pass without a request", func(context.Context) error {
		if requests := i.pass(); len(requests) > 0 {
			return fmt.Errorf("the last pass took %d:\n%s", len(requests), requests)
		}
		return nil
	})
}

// restart restarts the operator, and waits until the new one has reconciled the resource
// and probed its API.
func (i *Instance[T]) restart() {
	i.Helper()
	i.Operator.Stop()
	i.start()
	expect.Eventually(i.T, "a pass and a health check by the restarted operator", func(context.Context) error {
		if i.Operator.Passes() == 0 || len(i.API.Asked()) == 0 {
			return errors.New("there was none")
		}
		return nil
	})
}

// versions maps the children of the resource to their versions.
func (i *Instance[T]) versions() map[string]string {
	i.Helper()
	versions := map[string]string{}
	for _, child := range i.children() {
		if metav1.IsControlledBy(&child, i.Resource) {
			versions[child.String()] = child.ResourceVersion
		}
	}
	return versions
}

// unchanged fails the test if the children of the resource differ from before.
func (i *Instance[T]) unchanged(before map[string]string) {
	i.Helper()
	if diff := cmp.Diff(before, i.versions()); diff != "" {
		i.Errorf("children by version (-before +after):\n%s", diff)
	}
}

// setSecret changes values of a Secret.
func (i *Instance[T]) setSecret(name string, data map[string]string) {
	i.Helper()
	objects.Change(i.T, i.Admin, i.secret(name, nil), func(s *corev1.Secret) { s.StringData = data })
}

// setJob sets the outcome of a Job of the resource.
func (i *Instance[T]) setJob(name string, o standin.Outcome) {
	i.Jobs.Set(i.namespace(), i.name()+"-"+name, o)
}

func (i *Instance[T]) setDeployment(o standin.Outcome) {
	i.Deployments.Set(i.namespace(), i.name(), o)
}

// correct makes the Job succeed when it runs again, which another password causes.
func (i *Instance[T]) correct(job, password string) {
	i.Helper()
	i.setJob(job, standin.Succeed())
	i.setSecret(i.databaseSecret(), map[string]string{"password": password})
}

func (i *Instance[T]) copied() T { return i.Resource.DeepCopyObject().(T) }

func (i *Instance[T]) gone() {
	i.Helper()
	expect.Gone(i.T, i.Admin, client.Object(i.copied()))
}
