package webhook

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/testutil/apitest"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

// minimal returns the least a user has to write.
func minimal() *placementv1alpha1.Placement {
	return &placementv1alpha1.Placement{
		ObjectMeta: metav1.ObjectMeta{Name: "placement", Namespace: "openstack"},
		Spec: placementv1alpha1.PlacementSpec{
			ServiceSpec: commonv1.ServiceSpec{
				Image: commonv1.ImageSpec{Repository: "ghcr.io/c5c3/placement", Tag: "2025.2"},
				Cache: commonv1.CacheSpec{Servers: []string{"memcached.example.com:11211"}},
			},
			DataSpec: commonv1.DataSpec{
				Database: commonv1.DatabaseSpec{
					Host: "db.example.com", Database: "placement", SecretRef: commonv1.SecretRefSpec{Name: "placement-db"},
				},
			},
			Identity:             commonv1.IdentitySpec{AuthURL: "http://keystone.openstack.svc:5000/v3"},
			ServiceUserSecretRef: commonv1.SecretRefSpec{Name: "placement-user"},
		},
	}
}

func TestADatabaseOfAnotherPlacementIsRefused(t *testing.T) {
	older, younger := minimal(), minimal()
	older.Namespace, older.Name, older.Status.InstalledRelease = "other", "older", "2025.1"
	older.Spec.Database.Host = "mariadb.databases"
	younger.Spec.Database.Host = "mariadb.databases.svc.k8s.example.com"
	placementv1alpha1.SetDefaults(younger)
	hook := NewPlacementWebhook(cluster.Settings{Domain: "k8s.example.com"})
	hook.Reader = fake.NewClientBuilder().WithScheme(apitest.Scheme(t, placementv1alpha1.AddToScheme)).WithObjects(older).Build()
	_, err := hook.ValidateCreate(t.Context(), younger)
	if err == nil || !strings.Contains(err.Error(), "Placement older of namespace other has the database") {
		t.Errorf("the same database by its full name: %v", err)
	}
}
