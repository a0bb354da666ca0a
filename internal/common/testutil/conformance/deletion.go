package conformance

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/testutil/children"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// nothingLeft returns nil if nothing in the namespace belongs, or belonged, to a resource
// of the service, including Pods. Objects that are meant to outlive it do not count.
func (s suite[T]) nothingLeft(ctx context.Context, namespace string) error {
	found, err := children.Find(ctx, s.Admin, s.Definition, namespace)
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(child children.Child) bool { return child.Outlives() && s.irreplaceable(child) })
	pods := &corev1.PodList{}
	if err := s.Admin.List(ctx, pods, client.InNamespace(namespace)); err != nil {
		return err
	}
	if len(found) > 0 || len(pods.Items) > 0 {
		return fmt.Errorf("there are %v and %d Pods", children.Names(found), len(pods.Items))
	}
	return nil
}

// delete deletes the resource and waits until everything that must go with it is gone.
func (i *Instance[T]) delete(options ...client.DeleteOption) {
	i.Helper()
	objects.Delete(i.T, i.Admin, client.Object(i.copied()), options...)
	i.gone()
	expect.Eventually(i.T, "a namespace without children", func(ctx context.Context) error { return i.nothingLeft(ctx, i.namespace()) })
}

// deletion verifies what is deleted with a resource and what is kept.
func (s suite[T]) deletion(t *testing.T) {
	for _, m := range s.modes() {
		for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
			t.Run(string(policy)+" with "+string(m), func(t *testing.T) { s.removesAll(t, m, policy) })
		}
		t.Run("a new resource of the same name converges with "+string(m), func(t *testing.T) { s.recreated(t, m) })
		if !s.hasData() {
			continue
		}
		t.Run("the Retain policy keeps the data with "+string(m), func(t *testing.T) { s.retained(t, m) })
	}
	t.Run("a resource with an invalid spec can be deleted", func(t *testing.T) {
		t.Parallel()
		i := s.converged(t, brownfield)
		i.change(makeInvalid)
		i.Fails(vocabulary.ConditionReady, vocabulary.ReasonInvalidSpec)
		i.delete()
	})
	s.irreplaceables(t)
	if s.hasData() {
		s.databaseDeletion(t)
	}
}

// databaseDeletion verifies what the deletion of a resource with a database depends on.
func (s suite[T]) databaseDeletion(t *testing.T) {
	t.Run("a resource without its Secrets can be deleted", func(t *testing.T) {
		t.Parallel()
		i := s.converged(t, brownfield)
		for _, input := range s.Inputs(i.namespace()) {
			objects.Delete(t, s.Admin, input)
		}
		i.Fails(vocabulary.ConditionSecretsReady, vocabulary.ReasonWaitingForDBCredentials)
		i.delete()
	})
	t.Run("a resource that never became ready can be deleted", func(t *testing.T) {
		t.Parallel()
		i := s.prepared(t, managed, s.databaseSecret())
		i.Create()
		i.Fails(vocabulary.ConditionSecretsReady, vocabulary.ReasonWaitingForDBCredentials)
		i.delete()
	})
	t.Run("a deletion does not wait for the database", s.hangingDatabase)
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		t.Run("a database without its server counts as retained with "+string(policy), func(t *testing.T) { s.lostServer(t, policy) })
	}
	t.Run("the deletion policy can be changed", s.changedPolicy)
}

// makeInvalid names a logger that would add another one, which no schema refuses.
func makeInvalid(spec *commonv1.ServiceSpec) {
	spec.Logging = &commonv1.LoggingSpec{PerLoggerLevels: map[string]string{"a=DEBUG,b": "INFO"}}
}

func (s suite[T]) removesAll(t *testing.T, m mode, policy metav1.DeletionPropagation) {
	t.Parallel()
	i := s.converged(t, m)
	i.delete(client.PropagationPolicy(policy))
	if !i.keepsData() {
		for _, name := range i.Irreplaceable {
			expect.Gone(t, s.Admin, i.secret(name, nil))
		}
	}
	for _, input := range s.inputs(i.namespace(), m) {
		if err := s.Admin.Get(t.Context(), client.ObjectKeyFromObject(input), input); err != nil {
			t.Errorf("the user's own %T is gone: %v", input, err)
		}
	}
	if !s.hasData() {
		return
	}
	i.event("Normal "+vocabulary.EventDatabaseFinalized, 1)
	i.Operator.Stop()
	// With foreground deletion the garbage collector may be first.
	switch {
	case m == brownfield:
		i.event("Normal "+vocabulary.EventFinalizingDatabase, 0)
	case policy == metav1.DeletePropagationBackground:
		i.event("Normal "+vocabulary.EventFinalizingDatabase, 1)
	}
}

// recreated verifies that a new resource does not collide with objects of the last one
// that the garbage collector has not removed yet.
func (s suite[T]) recreated(t *testing.T, m mode) {
	t.Parallel()
	i := s.converged(t, m)
	before := i.kept()
	left := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace(), Name: i.name()}}
	objects.Change(t, s.Admin, left, func(s *corev1.Service) { s.Finalizers = []string{"example.com/slow"} })
	objects.Delete(t, s.Admin, client.Object(i.copied()))
	i.gone()
	keeps := i.keepsData()
	i.Resource = s.make(i.namespace(), m)
	i.Create()
	i.Fails(vocabulary.ConditionDeploymentReady, vocabulary.ReasonWaitingForDeployment, "Service", apply.ErrPredecessor.Error())
	objects.Change(t, s.Admin, left, func(s *corev1.Service) { s.Finalizers = nil })
	i.Ready()
	for _, child := range i.children() {
		if !child.Outlives() && !metav1.IsControlledBy(&child, i.Resource) {
			t.Errorf("%s of the old resource is left", child)
		}
	}
	if same := cmp.Equal(before, i.kept()); len(before) > 0 && same != keeps {
		t.Errorf("the new resource has what cannot be replaced of the old one: %t, expected %t", same, keeps)
	}
}

// keepsData reports whether the database stays when the resource is deleted.
func (i *Instance[T]) keepsData() bool { return i.hasData() && i.data().KeepsData() }

// kept returns the content of the irreplaceable Secrets.
func (i *Instance[T]) kept() []map[string][]byte {
	i.Helper()
	found := make([]map[string][]byte, 0, len(i.Irreplaceable))
	for _, name := range i.Irreplaceable {
		secret := i.secret(name, nil)
		expect.Exists(i.T, i.Admin, secret)
		found = append(found, secret.Data)
	}
	return found
}

// stays fails the test if the database is dropped, or if what it depends on has changed.
func (i *Instance[T]) stays(before []map[string][]byte) {
	i.Helper()
	if !cmp.Equal(before, i.kept()) {
		i.Error("what cannot be replaced is not what it was before")
	}
	if dropped := i.MariaDB.Dropped(i.namespace()); len(dropped) > 0 {
		i.Errorf("dropped from the MariaDB: %v", dropped)
	}
}

func (s suite[T]) retained(t *testing.T, m mode) {
	t.Parallel()
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			i := s.prepared(t, m)
			i.data().DeletionPolicy = commonv1.DeletionPolicyRetain
			i.Create()
			i.Ready()
			before := i.kept()
			i.delete(client.PropagationPolicy(policy))
			i.stays(before)
		})
	}
}

// hangingDatabase verifies that the operator does not wait for the Database. Pods keep
// their connections until garbage collection stops them, and DROP DATABASE waits for
// connections.
func (s suite[T]) hangingDatabase(t *testing.T) {
	t.Parallel()
	i := s.converged(t, managed)
	s.MariaDB.Set("Database", i.namespace(), i.name(), standin.Hang())
	objects.Delete(t, s.Admin, client.Object(i.copied()))
	i.gone()
	s.MariaDB.Set("Database", i.namespace(), i.name(), standin.Succeed())
	expect.Eventually(t, "a namespace without children", func(ctx context.Context) error { return s.nothingLeft(ctx, i.namespace()) })
}

// lostServer deletes the MariaDB first; mariadb-operator keeps its volume.
func (s suite[T]) lostServer(t *testing.T, policy metav1.DeletionPropagation) {
	t.Parallel()
	i := s.converged(t, managed)
	before := i.kept()
	objects.Delete(t, s.Admin, mariaDB(i.namespace()))
	i.delete(client.PropagationPolicy(policy))
	if !cmp.Equal(before, i.kept()) {
		t.Error("what cannot be replaced is not what it was before")
	}
}

func (s suite[T]) changedPolicy(t *testing.T) {
	t.Parallel()
	i := s.converged(t, managed)
	before := i.kept()
	const keep, drop = commonv1.DeletionPolicyRetain, commonv1.DeletionPolicyDelete
	for _, policy := range []commonv1.DeletionPolicy{keep, drop, keep} {
		i.changeData(func(spec *commonv1.DataSpec) { spec.DeletionPolicy = policy })
		i.Ready()
		i.settle()
		for _, child := range i.children() {
			if s.irreplaceable(child) && !child.Outlives() {
				t.Errorf("%s is left to garbage collection, with policy %s", child, policy)
			}
		}
	}
	i.delete()
	i.stays(before)
}
