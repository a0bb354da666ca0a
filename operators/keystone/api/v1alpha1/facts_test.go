package v1alpha1

import (
	"testing"

	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func TestEndpointsAndStorePathsAreDerivedFromNamespaceAndName(t *testing.T) {
	here := cluster.Settings{Name: "east", Domain: "k8s.example.com"}
	gateway := commonv1.GatewaySpec{Hostname: "identity.example.com"}
	own := commonv1.GatewaySpec{Hostname: "keystone.example.com", Path: "/v3"}
	shared := commonv1.GatewaySpec{Hostname: "cloud.example.com", Path: "identity/"}
	for got, want := range map[string]string{
		InternalEndpoint(cluster.Settings{}, "tenant", "cloud"): "http://cloud.tenant.svc.cluster.local:5000/v3",
		InternalEndpoint(here, "tenant", "cloud"):               "http://cloud.tenant.svc.k8s.example.com:5000/v3",
		LocalEndpoint("tenant", "cloud"):                        "http://cloud.tenant.svc:5000/v3",
		GatewayEndpoint(&gateway):                               "https://identity.example.com/v3",
		GatewayEndpoint(&own):                                   "https://keystone.example.com/v3",
		GatewayEndpoint(&shared):                                "https://cloud.example.com/identity/v3",
		StorePath(here, "tenant", "cloud"):                      "east/openstack/keystone/tenant/cloud",
		StorePath(cluster.Settings{}, "tenant", "cloud", "db"):  "openstack/keystone/tenant/cloud/db",
		AdminPasswordPath(here, "tenant", "cloud"):              "east/bootstrap/tenant/cloud/admin",
		FernetKeysName("cloud"):                                 "cloud-fernet-keys",
		CredentialKeysName("cloud"):                             "cloud-credential-keys",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
