package v1alpha1

import (
	"testing"

	"github.com/c5c3/forge/internal/common/cluster"
)

func TestAPlacementIsFoundWhereItServes(t *testing.T) {
	in := cluster.Settings{Domain: "example.local"}
	if got, want := InternalEndpoint(in, "tenant", "cloud"), "http://cloud.tenant.svc.example.local:8778"; got != want {
		t.Errorf("inside the cluster it is at %s, want %s", got, want)
	}
	if got, want := GatewayEndpoint("placement.example.com"), "https://placement.example.com"; got != want {
		t.Errorf("through a Gateway it is at %s, want %s", got, want)
	}
	if got, want := StorePath(in, "tenant", "cloud", "db"), "openstack/placement/tenant/cloud/db"; got != want {
		t.Errorf("its credentials are stored at %s, want %s", got, want)
	}
}
