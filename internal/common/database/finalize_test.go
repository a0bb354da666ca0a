package database

import (
	"context"
	"testing"
	"time"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/database/mariadb"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
)

// sharing is a resource that uses the same database as the others in its namespace.
func sharing(namespace, name string) *instance.Harbour {
	h := managed()
	h.Namespace, h.Name, h.UID = namespace, name, types.UID(namespace+name)
	return h
}

// dropped finalizes a resource among the others, and returns the cleanup policy of its
// Database at the time of deletion.
func dropped(t *testing.T, others ...client.Object) mariadbv1alpha1.CleanupPolicy {
	t.Helper()
	h := sharing("openstack", "one")
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

func TestADatabaseThatAnotherResourceHasIsNotDropped(t *testing.T) {
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
	two.DeletionTimestamp, two.Finalizers = ptr.To(metav1.NewTime(time.Unix(1000, 0))), []string{"test/database"}
	if got := dropped(t, two); got != "" {
		t.Errorf("the database of two resources that are both deleted has the policy %q", got)
	}
}
