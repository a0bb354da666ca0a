package conformance

import (
	"os"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/sharing"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/outside"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// sharer creates a resource of another service, from the sample of its operator, with the
// database of the instance on the named MariaDB. It has installed its schema.
func (i *Instance[T]) sharer(kind schema.GroupVersionKind, server string) *unstructured.Unstructured {
	i.Helper()
	data, err := os.ReadFile(outside.File(folderOf(kind) + "/samples/minimal.yaml"))
	if err != nil {
		i.Fatal(err)
	}
	other := sharing.Object(kind)
	if err := yaml.Unmarshal(data, &other.Object); err != nil {
		i.Fatal(err)
	}
	other.SetNamespace(i.namespace())
	// Of two resources of the same second, the one with the first name has the database.
	other.SetName("a-" + other.GetName())
	for value, field := range map[string][]string{
		server: {"spec", "database", "clusterRef", "name"}, i.data().Database.Database: {"spec", "database", "database"},
	} {
		if err := unstructured.SetNestedField(other.Object, value, field...); err != nil {
			i.Fatal(err)
		}
	}
	objects.Create(i.T, i.Admin, other)
	objects.ChangeStatus(i.T, i.Admin, other, func(o *unstructured.Unstructured) {
		o.Object["status"] = map[string]any{"installedRelease": "2025.2"}
	})
	return other
}

// otherKind verifies that a database belongs to one resource, whatever the kind of the
// others that name it.
func (s suite[T]) otherKind(t *testing.T, kind schema.GroupVersionKind) {
	t.Run("before the database is installed", func(t *testing.T) {
		t.Parallel()
		i := s.prepared(t, managed)
		other := i.sharer(kind, cluster)
		i.Create()
		i.Fails(vocabulary.ConditionReady, vocabulary.ReasonDatabaseInUse, kind.Kind+" "+other.GetName()+" of namespace "+i.namespace())
		if found := i.versions(); len(found) > 0 {
			t.Errorf("the refused resource has %v", found)
		}
		objects.Delete(t, s.Admin, other)
		i.Ready()
	})
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		t.Run("once both use the database with "+string(policy), func(t *testing.T) {
			t.Parallel()
			i := s.prepared(t, managed)
			other := i.sharer(kind, "another")
			i.Create()
			i.Ready()
			objects.Change(t, s.Admin, other, func(o *unstructured.Unstructured) {
				if err := unstructured.SetNestedField(o.Object, cluster, "spec", "database", "clusterRef", "name"); err != nil {
					t.Fatal(err)
				}
			})
			i.Fails(vocabulary.ConditionReady, vocabulary.ReasonDatabaseInUse, kind.Kind+" "+other.GetName())
			i.delete(client.PropagationPolicy(policy))
			if dropped := i.MariaDB.Dropped(i.namespace()); slices.Contains(dropped, "Database "+i.name()) {
				t.Errorf("dropped from the MariaDB: %v", dropped)
			}
		})
	}
}
