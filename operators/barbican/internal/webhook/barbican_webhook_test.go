package webhook

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/testutil/apitest"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
)

// minimal returns the least a user has to write.
func minimal() *barbicanv1alpha1.Barbican {
	return &barbicanv1alpha1.Barbican{
		ObjectMeta: metav1.ObjectMeta{Name: "barbican", Namespace: "openstack"},
		Spec: barbicanv1alpha1.BarbicanSpec{
			ServiceSpec: commonv1.ServiceSpec{
				Image: commonv1.ImageSpec{Repository: "ghcr.io/c5c3/barbican", Tag: "2025.2"},
				Cache: commonv1.CacheSpec{Servers: []string{"memcached.example.com:11211"}},
			},
			DataSpec: commonv1.DataSpec{
				Database: commonv1.DatabaseSpec{
					Host: "db.example.com", Database: "barbican", SecretRef: commonv1.SecretRefSpec{Name: "barbican-db"},
				},
			},
			Identity:             commonv1.IdentitySpec{AuthURL: "http://keystone.openstack.svc:5000/v3"},
			ServiceUserSecretRef: commonv1.SecretRefSpec{Name: "barbican-user"},
		},
	}
}

func TestADatabaseOfAnotherBarbicanIsRefused(t *testing.T) {
	older, younger := minimal(), minimal()
	older.Namespace, older.Name, older.Status.InstalledRelease = "other", "older", "2025.1"
	older.Spec.Database.Host = "mariadb.databases"
	younger.Spec.Database.Host = "mariadb.databases.svc.k8s.example.com"
	barbicanv1alpha1.SetDefaults(younger)
	hook := NewBarbicanWebhook(cluster.Settings{Domain: "k8s.example.com"})
	hook.Reader = fake.NewClientBuilder().WithScheme(apitest.Scheme(t, barbicanv1alpha1.AddToScheme)).WithObjects(older).Build()
	_, err := hook.ValidateCreate(t.Context(), younger)
	if err == nil || !strings.Contains(err.Error(), "Barbican older of namespace other has the database") {
		t.Errorf("the same database by its full name: %v", err)
	}
}
