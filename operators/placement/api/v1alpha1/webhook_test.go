package v1alpha1

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/cluster"
)

func testScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{AddToScheme, scheme.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestADatabaseOfAnotherPlacementIsRefused(t *testing.T) {
	older, younger := minimal(), minimal()
	older.Namespace, older.Name = "other", "older"
	older.Spec.Database.Host = "mariadb.databases"
	younger.Spec.Database.Host = "mariadb.databases.svc.k8s.example.com"
	SetDefaults(younger)
	hook := NewPlacementWebhook(cluster.Settings{Domain: "k8s.example.com"})
	hook.Reader = fake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(older).Build()
	_, err := hook.ValidateCreate(t.Context(), younger)
	if err == nil || !strings.Contains(err.Error(), "Placement older of namespace other has the database") {
		t.Errorf("the same database by its full name: %v", err)
	}
}
