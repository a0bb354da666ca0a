package conformance

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/children"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Instance is a resource of a service in its own namespace, with an operator for that namespace.
type Instance[T service.Resource] struct {
	object[T]
	suite[T]
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
	trial := s.trial(t, m)
	trial.Inputs = func(namespace string) []client.Object {
		return slices.DeleteFunc(s.inputs(namespace, m), func(input client.Object) bool { return slices.Contains(without, input.GetName()) })
	}
	return &Instance[T]{*trial.prepared(t), s}
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

// in returns the instance for a subtest.
func (i *Instance[T]) in(t *testing.T) *Instance[T] { return &Instance[T]{*i.with(t), i.suite} }

func (i *Instance[T]) change(change func(*commonv1.ServiceSpec)) {
	i.Helper()
	objects.Change(i.T, i.Admin, i.Resource, func(r T) { change(r.ServiceSpec()) })
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

func (i *Instance[T]) gone() {
	i.Helper()
	expect.Gone(i.T, i.Admin, client.Object(i.copied()))
}

// announced fails the test unless the operator has emitted the event that many times.
func (i *Instance[T]) announced(event string, times int) {
	i.Helper()
	if got := i.Operator.Announced(i.Resource)[event]; got != times {
		i.Errorf("%d times the event %s, expected %d", got, event, times)
	}
}
