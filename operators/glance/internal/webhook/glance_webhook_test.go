package webhook

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/testutil/apitest"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
)

// minimal returns the least a user has to write.
func minimal() *glancev1alpha1.Glance {
	return &glancev1alpha1.Glance{
		ObjectMeta: metav1.ObjectMeta{Name: "glance", Namespace: "openstack"},
		Spec: glancev1alpha1.GlanceSpec{
			ServiceSpec: commonv1.ServiceSpec{
				Image: commonv1.ImageSpec{Repository: "ghcr.io/c5c3/glance", Tag: "2025.2"},
				Cache: commonv1.CacheSpec{Servers: []string{"memcached.example.com:11211"}},
			},
			DataSpec: commonv1.DataSpec{
				Database: commonv1.DatabaseSpec{
					Host: "db.example.com", Database: "glance", SecretRef: commonv1.SecretRefSpec{Name: "glance-db"},
				},
			},
			Identity:             commonv1.IdentitySpec{AuthURL: "http://keystone.openstack.svc:5000/v3"},
			ServiceUserSecretRef: commonv1.SecretRefSpec{Name: "glance-user"},
		},
	}
}

func TestADatabaseOfAnotherGlanceIsRefused(t *testing.T) {
	older, younger := minimal(), minimal()
	older.Namespace, older.Name, older.Status.InstalledRelease = "other", "older", "2025.1"
	older.Spec.Database.Host = "mariadb.databases"
	younger.Spec.Database.Host = "mariadb.databases.svc.k8s.example.com"
	glancev1alpha1.SetDefaults(younger)
	hook := NewGlanceWebhook(cluster.Settings{Domain: "k8s.example.com"})
	hook.Reader = fake.NewClientBuilder().WithScheme(apitest.Scheme(t, glancev1alpha1.AddToScheme)).WithObjects(older).Build()
	_, err := hook.ValidateCreate(t.Context(), younger)
	if err == nil || !strings.Contains(err.Error(), "Glance older of namespace other has the database") {
		t.Errorf("the same database by its full name: %v", err)
	}
}
