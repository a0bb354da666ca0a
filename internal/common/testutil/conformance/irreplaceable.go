package conformance

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	settings "github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// identity identifies the database of the instance.
func (i *Instance[T]) identity() commonv1.DatabaseIdentity {
	return service.DatabaseOf(i.Resource, settings.Settings{})
}

// irreplaceables verifies that Secrets which cannot be made again go only together with
// the database that needs them.
func (s suite[T]) irreplaceables(t *testing.T) {
	if len(s.Irreplaceable) == 0 || !s.hasData() {
		return
	}
	for _, m := range s.modes() {
		t.Run("irreplaceable Secrets of an earlier version are kept with "+string(m), func(t *testing.T) { s.earlier(t, m) })
	}
	t.Run("irreplaceable Secrets restored before their resource are kept", s.broughtBack)
	t.Run("irreplaceable Secrets of another database are neither used nor deleted", s.ofOtherDatabase)
}

// asEarlier makes the irreplaceable Secrets look like those of an earlier version, which
// had a controller and did not name their database.
func (i *Instance[T]) asEarlier(owner metav1.OwnerReference) {
	i.Helper()
	for _, name := range i.Irreplaceable {
		objects.Change(i.T, i.Admin, i.secret(name, nil), func(s *corev1.Secret) {
			s.OwnerReferences = []metav1.OwnerReference{owner}
			delete(s.Annotations, commonv1.AnnotationDatabase)
			delete(s.Annotations, service.AnnotationClaimedBy)
		})
	}
}

// marked waits until the irreplaceable Secrets have no controller and name the database.
func (i *Instance[T]) marked() {
	i.Helper()
	for _, name := range i.Irreplaceable {
		secret := i.secret(name, nil)
		expect.Object(i.T, i.Admin, secret, func() error {
			if len(secret.OwnerReferences) > 0 || secret.Annotations[commonv1.AnnotationDatabase] != i.identity().String() {
				return errors.New("it has the controller or the annotations of an earlier version")
			}
			return nil
		})
	}
}

func (s suite[T]) earlier(t *testing.T, m mode) {
	t.Parallel()
	i := s.converged(t, m)
	before := i.kept()
	i.Operator.Stop()
	i.asEarlier(i.controller())
	i.start()
	i.marked()
	i.Ready()
	if !cmp.Equal(before, i.kept()) {
		t.Error("what cannot be replaced has changed")
	}
}

// broughtBack restores the Secrets as a backup tool does: before the resource, and with
// everything that they had.
func (s suite[T]) broughtBack(t *testing.T) {
	t.Parallel()
	i := s.converged(t, managed)
	before := i.kept()
	copies := make([]*corev1.Secret, 0, len(i.Irreplaceable))
	for _, name := range i.Irreplaceable {
		secret := i.secret(name, nil)
		expect.Exists(t, s.Admin, secret)
		copies = append(copies, secret)
	}
	i.delete()
	for _, secret := range copies {
		expect.Gone(t, s.Admin, secret.DeepCopy())
		secret.ResourceVersion, secret.UID = "", ""
		objects.Create(t, s.Admin, secret)
	}
	// The garbage collector acts on a new object at once, and on this one after them.
	probe := i.secret("owned-by-nobody", nil)
	probe.OwnerReferences = []metav1.OwnerReference{i.controller()}
	objects.Create(t, s.Admin, probe)
	expect.Gone(t, s.Admin, probe)
	i.Resource = s.make(i.namespace(), managed)
	i.Create()
	i.Ready()
	if !cmp.Equal(before, i.kept()) {
		t.Error("what cannot be replaced is not what was brought back")
	}
}

// ofOtherDatabase creates a resource of the same name on another database than the one
// whose keys were kept.
func (s suite[T]) ofOtherDatabase(t *testing.T) {
	t.Parallel()
	i := s.prepared(t, managed)
	i.data().DeletionPolicy = commonv1.DeletionPolicyRetain
	i.Create()
	i.Ready()
	before, mark := i.kept(), i.identity().String()
	i.delete()
	i.Resource = s.make(i.namespace(), managed)
	i.data().Database.Database += "_two"
	i.Create()
	expect.Eventually(t, "a condition that names the Secret and the database that it belongs to", func(ctx context.Context) error {
		if err := s.Admin.Get(ctx, client.ObjectKeyFromObject(i.Resource), i.Resource); err != nil {
			return err
		}
		for _, condition := range i.Resource.GetConditions() {
			if condition.Status == metav1.ConditionFalse && strings.Contains(condition.Message, "of database "+mark) {
				return nil
			}
		}
		return errors.New(expect.State(t, s.Admin, i.Resource))
	})
	i.delete()
	if !cmp.Equal(before, i.kept()) {
		t.Error("what belongs to another database has changed")
	}
	for _, name := range i.Irreplaceable {
		secret := i.secret(name, nil)
		expect.Exists(t, s.Admin, secret)
		if got := secret.Annotations[commonv1.AnnotationDatabase]; got != mark {
			t.Errorf("Secret %s now belongs to database %q, want %q", name, got, mark)
		}
	}
}
