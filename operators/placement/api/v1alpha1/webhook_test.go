package v1alpha1

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/testutil/apitest"
)

func TestADatabaseOfAnotherPlacementIsRefused(t *testing.T) {
	older, younger := minimal(), minimal()
	older.Namespace, older.Name, older.Status.InstalledRelease = "other", "older", "2025.1"
	older.Spec.Database.Host = "mariadb.databases"
	younger.Spec.Database.Host = "mariadb.databases.svc.k8s.example.com"
	SetDefaults(younger)
	hook := NewPlacementWebhook(cluster.Settings{Domain: "k8s.example.com"})
	hook.Reader = fake.NewClientBuilder().WithScheme(apitest.Scheme(t, AddToScheme)).WithObjects(older).Build()
	_, err := hook.ValidateCreate(t.Context(), younger)
	if err == nil || !strings.Contains(err.Error(), "Placement older of namespace other has the database") {
		t.Errorf("the same database by its full name: %v", err)
	}
}
