package controller

import (
	"context"
	"testing"
	"time"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// dropped lets the finalizer of the first Keystone look at its Database and
// returns how mariadb-operator finds that when it is to go.
func dropped(t *testing.T, keystones ...*keystonev1alpha1.Keystone) mariadbv1alpha1.CleanupPolicy {
	t.Helper()
	k := keystones[0]
	dropping := database.MariaDatabase(scopeOf(k).Pass)
	dropping.OwnerReferences = []metav1.OwnerReference{
		*metav1.NewControllerRef(k, keystonev1alpha1.GroupVersion.WithKind("Keystone")),
	}
	server := &mariadbv1alpha1.MariaDB{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: "openstack-db"}}
	var policy *mariadbv1alpha1.CleanupPolicy
	deleted := false
	builder := fake.NewClientBuilder().WithScheme(Scheme()).WithObjects(dropping, server).
		WithIndex(&keystonev1alpha1.Keystone{}, indexDatabase, func(obj client.Object) []string {
			return databaseKey(cluster.Settings{})(obj.(*keystonev1alpha1.Keystone))
		}).
		WithInterceptorFuncs(interceptor.Funcs{Delete: func(
			ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption,
		) error {
			found := &mariadbv1alpha1.Database{}
			if err := c.Get(ctx, client.ObjectKeyFromObject(obj), found); err != nil {
				return err
			}
			policy, deleted = found.Spec.CleanupPolicy, true
			return c.Delete(ctx, obj, opts...)
		}})
	for _, k := range keystones {
		builder = builder.WithObjects(k)
	}
	c := builder.Build()
	s := scopeOf(k)
	s.Client, s.ThirdParty = c, c
	s.APIReader, s.Kinds = c, instance.AllKinds{}
	if outcome := keystoneDatabase.Finalize(t.Context(), s.Pass); !outcome.IsDone() || !deleted {
		t.Fatalf("deleted %t, %s: %s", deleted, outcome.Reason(), outcome.Message())
	}
	return ptr.Deref(policy, "")
}

func TestADatabaseThatAnotherKeystoneHasIsNotDropped(t *testing.T) {
	named := func(namespace, name string) *keystonev1alpha1.Keystone {
		k := managed()
		k.Namespace, k.Name, k.UID = namespace, name, types.UID(namespace+name)
		return k
	}
	one := named("openstack", "one")
	if got := dropped(t, one, named("elsewhere", "two")); got != "" {
		t.Errorf("the database of one Keystone is deleted with the policy %q", got)
	}
	two := named("openstack", "two")
	if got := dropped(t, one, two); got != "" {
		t.Errorf("the database that another Keystone waits for is deleted with the policy %q", got)
	}
	two.Status.InstalledRelease = "2025.2"
	if got := dropped(t, one, two); got != mariadbv1alpha1.CleanupPolicySkip {
		t.Errorf("the database of two Keystones is deleted with the policy %q, want it to be kept", got)
	}
	two.DeletionTimestamp, two.Finalizers = ptr.To(metav1.NewTime(time.Unix(1000, 0))), []string{databaseFinalizer}
	if got := dropped(t, one, two); got != "" {
		t.Errorf("the database of two Keystones that are both deleted has the policy %q", got)
	}
}
