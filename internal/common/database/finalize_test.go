package database

import (
	"context"
	"strings"
	"testing"
	"time"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/database/mariadb"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// sharing is a resource that uses the same database as the others in its namespace.
func sharing(namespace, name string) *instance.Harbour {
	h := managed()
	h.Namespace, h.Name, h.UID = namespace, name, types.UID(namespace+name)
	return h
}

// dropped finalizes a resource that has installed its schema among the others, and returns
// the cleanup policy of its Database at the time of deletion.
func dropped(t *testing.T, others ...client.Object) mariadbv1alpha1.CleanupPolicy {
	t.Helper()
	h := sharing("openstack", "one")
	h.Status.InstalledRelease = "2025.2"
	return droppedBy(t, h, others...)
}

func droppedBy(t *testing.T, h *instance.Harbour, others ...client.Object) mariadbv1alpha1.CleanupPolicy {
	t.Helper()
	dropping := mariadb.Database(service.NewPass(&service.Tools{}, &instance.Definition, h))
	dropping.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(h, instance.Kind)}
	server := &mariadbv1alpha1.MariaDB{ObjectMeta: metav1.ObjectMeta{Namespace: h.Namespace, Name: "openstack-db"}}
	var policy *mariadbv1alpha1.CleanupPolicy
	deleted := false
	p := instance.Pass(t, h, interceptor.Funcs{Delete: func(
		ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption,
	) error {
		found := &mariadbv1alpha1.Database{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(obj), found); err != nil {
			return err
		}
		policy, deleted = found.Spec.CleanupPolicy, true
		return c.Delete(ctx, obj, opts...)
	}}, append(others, dropping, server)...)
	if outcome := Finalize(t.Context(), p); !outcome.IsDone() || !deleted {
		t.Fatalf("deleted %t, %s: %s", deleted, outcome.Reason(), outcome.Message())
	}
	return ptr.Deref(policy, "")
}

func TestADatabaseInUseByAnotherResourceIsNotDropped(t *testing.T) {
	if got := dropped(t, sharing("elsewhere", "two")); got != "" {
		t.Errorf("the database of one resource is deleted with the policy %q", got)
	}
	two := sharing("openstack", "two")
	if got := dropped(t, two); got != "" {
		t.Errorf("the database that another resource waits for is deleted with the policy %q", got)
	}
	two.Status.InstalledRelease = "2025.2"
	if got := dropped(t, two); got != mariadbv1alpha1.CleanupPolicySkip {
		t.Errorf("the database of two resources is deleted with the policy %q, want it to be kept", got)
	}
	two.Spec.DeletionPolicy = commonv1.DeletionPolicyRetain
	two.DeletionTimestamp, two.Finalizers = ptr.To(metav1.NewTime(time.Unix(1000, 0))), []string{"test/database"}
	if got := dropped(t, two); got != mariadbv1alpha1.CleanupPolicySkip {
		t.Errorf("the database that one of two deleted resources keeps has the policy %q", got)
	}
	two.Spec.DeletionPolicy = commonv1.DeletionPolicyDelete
	two.DeletionTimestamp, two.Finalizers = ptr.To(metav1.NewTime(time.Unix(1000, 0))), []string{"test/database"}
	if got := dropped(t, two); got != "" {
		t.Errorf("the database of two resources that are both deleted has the policy %q", got)
	}
}

func TestADatabaseInUseByAnotherKindIsNotDropped(t *testing.T) {
	keystone := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "keystone.openstack.c5c3.io/v1alpha1", "kind": "Keystone",
		"metadata": map[string]any{"namespace": "openstack", "name": "keystone"},
		"spec":     map[string]any{"database": map[string]any{"clusterRef": map[string]any{"name": "openstack-db"}, "database": "harbour"}},
	}}
	if got := droppedBy(t, sharing("openstack", "one"), keystone.DeepCopy()); got != mariadbv1alpha1.CleanupPolicySkip {
		t.Errorf("the database that an older Keystone waits for is deleted with the policy %q, want it to be kept", got)
	}
	keystone.SetCreationTimestamp(metav1.Now())
	keystone.Object["status"] = map[string]any{"installedRelease": "2025.2"}
	if got := dropped(t, keystone); got != mariadbv1alpha1.CleanupPolicySkip {
		t.Errorf("the database of a Keystone is deleted with the policy %q, want it to be kept", got)
	}
}

func TestADatabaseThatIsBeingDroppedIsNotAdopted(t *testing.T) {
	ending := &mariadbv1alpha1.Database{ObjectMeta: metav1.ObjectMeta{
		Namespace: "openstack", Name: "predecessor",
		DeletionTimestamp: ptr.To(metav1.NewTime(time.Unix(1000, 0))), Finalizers: []string{"test/database"},
	}}
	ending.Spec.MariaDBRef.Name, ending.Spec.Name = "openstack-db", "harbour"
	kept, other := ending.DeepCopy(), ending.DeepCopy()
	kept.Spec.CleanupPolicy, other.Spec.Name = ptr.To(mariadbv1alpha1.CleanupPolicySkip), "another"
	external := instance.Brownfield()
	external.Spec.Database.Host = "openstack-db-primary.openstack.svc"
	for name, c := range map[string]struct {
		resource *instance.Harbour
		database *mariadbv1alpha1.Database
		waits    bool
	}{
		"by clusterRef":            {managed(), ending, true},
		"by host":                  {external, ending, true},
		"but the data stays":       {external, kept, false},
		"but it is another one":    {external, other, false},
		"but it is another server": {instance.Brownfield(), ending, false},
	} {
		p := instance.Pass(t, c.resource, interceptor.Funcs{}, c.database)
		err := Database{}.EnsureManaged(t.Context(), p)
		if waits := err != nil && strings.Contains(err.Error(), "Database predecessor of namespace openstack is being"); waits != c.waits {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
