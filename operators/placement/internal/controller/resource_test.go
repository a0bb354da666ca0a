package controller

import (
	"testing"

	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

func TestAPlacementMayReachThePortOfItsIdentityService(t *testing.T) {
	for address, want := range map[string]int32{
		"http://keystone.openstack.svc:5000/v3": 5000, "https://identity.example.com/v3": 443, "http://identity.example.com": 80,
		"https://[2001:db8::1]:8443/v3": 8443,
	} {
		p := &placementv1alpha1.Placement{}
		p.Spec.Identity.AuthURL = address
		if got := identityPort(p); got != want {
			t.Errorf("port %d of %s, want %d", got, address, want)
		}
	}
}
