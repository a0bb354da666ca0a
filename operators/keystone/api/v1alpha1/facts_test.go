package v1alpha1

import (
	"testing"

	"github.com/c5c3/forge/internal/common/cluster"
)

func TestOthersFindWhatBelongsToAKeystone(t *testing.T) {
	here := cluster.Settings{Name: "east", Domain: "k8s.example.com"}
	for got, want := range map[string]string{
		InternalEndpoint(cluster.Settings{}, "tenant", "cloud"): "http://cloud.tenant.svc.cluster.local:5000/v3",
		InternalEndpoint(here, "tenant", "cloud"):               "http://cloud.tenant.svc.k8s.example.com:5000/v3",
		LocalEndpoint("tenant", "cloud"):                        "http://cloud.tenant.svc:5000/v3",
		GatewayEndpoint("identity.example.com"):                 "https://identity.example.com/v3",
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
