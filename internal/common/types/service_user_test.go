package types

import "testing"

func TestThePortOfAnIdentityServiceIsThatOfItsURL(t *testing.T) {
	for address, want := range map[string]int32{
		"http://keystone.openstack.svc:5000/v3": 5000, "https://identity.example.com/v3": 443, "http://identity.example.com": 80,
		"https://[2001:db8::1]:8443/v3": 8443,
	} {
		if got := PortOf(address); got != want {
			t.Errorf("port %d of %s, want %d", got, address, want)
		}
	}
}

func TestIdentityDefaultsDoNotOverwriteGivenValues(t *testing.T) {
	for got, want := range map[IdentitySpec]IdentitySpec{
		{}:                                     {Project: "service", ProjectDomain: "Default", UserDomain: "Default"},
		{Project: "a", ProjectDomain: "b"}:     {Project: "a", ProjectDomain: "b", UserDomain: "Default"},
		{UserDomain: "c", Region: "RegionOne"}: {Project: "service", ProjectDomain: "Default", UserDomain: "c", Region: "RegionOne"},
	} {
		if got.SetDefaults(); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestAResourceWithoutAServiceUserReportsNone(t *testing.T) {
	if user, has := ServiceUserOf(&ServiceSpec{}); has || user != (ServiceUser{}) {
		t.Errorf("a resource without a service user has %+v", user)
	}
}
