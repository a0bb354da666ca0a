package v1alpha1

import (
	"testing"

	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func TestEndpointsAndStorePathsAreDerivedFromNamespaceAndName(t *testing.T) {
	in := cluster.Settings{Domain: "example.local"}
	if got, want := InternalEndpoint(in, "tenant", "cloud"), "http://cloud.tenant.svc.example.local:9292"; got != want {
		t.Errorf("inside the cluster it is at %s, want %s", got, want)
	}
	if got, want := StorePath(in, "tenant", "cloud", "db"), "openstack/glance/tenant/cloud/db"; got != want {
		t.Errorf("its credentials are stored at %s, want %s", got, want)
	}
	for path, want := range map[string]string{"": "https://cloud.example.com", "/glance": "https://cloud.example.com/glance"} {
		if got := GatewayEndpoint(&commonv1.GatewaySpec{Hostname: "cloud.example.com", Path: path}); got != want {
			t.Errorf("through a Gateway with the path %q it is at %s, want %s", path, got, want)
		}
	}
}
