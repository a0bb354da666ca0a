//go:build integration

package controller_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	horizonv1alpha1 "github.com/c5c3/forge/operators/horizon/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func TestTheLoginPageFollowsFromTheIdentityBackends(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Spec.Services.Horizon = &c5c3v1alpha1.ServiceHorizonSpec{}
		cp.Spec.Services.Horizon.Gateway = &commonv1.GatewaySpec{
			Hostname: "horizon.example.com", ParentRef: commonv1.GatewayParentRefSpec{Name: "public"},
		}
		cp.Spec.Services.Keystone.Gateway = &commonv1.GatewaySpec{
			Hostname: "keystone.example.com", ParentRef: commonv1.GatewayParentRefSpec{Name: "public"},
		}
	})
	horizon := &horizonv1alpha1.Horizon{ObjectMeta: w.meta("controlplane-horizon")}
	offers := func(domains []string, url string, providers ...horizonv1alpha1.HorizonIdentityProvider) {
		t.Helper()
		want := horizonv1alpha1.HorizonIdentitySpec{
			AuthURL: horizon.Spec.Identity.AuthURL, Domains: domains, PublicURL: url, Providers: providers,
		}
		expect.Object(t, w, horizon, func() error {
			want.AuthURL, want.UserDomain = horizon.Spec.Identity.AuthURL, horizon.Spec.Identity.UserDomain
			if diff := cmp.Diff(want, horizon.Spec.Identity); diff != "" {
				return fmt.Errorf("(-want +got):\n%s", diff)
			}
			return nil
		})
	}
	have := func(domains ...keystonev1alpha1.IdentityDomain) {
		objects.ChangeStatus(t, w, w.keystone(t), func(k *keystonev1alpha1.Keystone) { k.Status.IdentityDomains = domains })
	}
	trusts := func(dashboards ...string) {
		t.Helper()
		k := w.keystone(t)
		expect.Object(t, w, k, func() error {
			if !slices.Equal(k.Spec.TrustedDashboards, dashboards) {
				return fmt.Errorf("Keystone trusts %v", k.Spec.TrustedDashboards)
			}
			return nil
		})
		w.report(t, "2025.2", "", true)
	}
	trusts("https://horizon.example.com/auth/websso/")
	offers(nil, "")
	have(keystonev1alpha1.IdentityDomain{Name: "company", IdentityProvider: "login", Protocol: "openid"},
		keystonev1alpha1.IdentityDomain{Name: "staff"})
	offers([]string{"staff"}, "https://keystone.example.com/v3", horizonv1alpha1.HorizonIdentityProvider{Name: "login", Protocol: "openid"})
	// A browser does not come back to a Keystone or a Horizon without a Gateway.
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Spec.Services.Keystone.Gateway, cp.Spec.Services.Keystone.PublicEndpoint = nil, "https://keystone.example.com/v3"
	})
	k := w.keystone(t)
	expect.Object(t, w, k, wanting(func() bool { return k.Spec.Gateway == nil }))
	w.report(t, "2025.2", "", true)
	offers([]string{"staff"}, "")
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Services.Horizon.Gateway = nil })
	trusts()
	offers([]string{"staff"}, "")
	have()
	offers(nil, "")
	w.expect(t, "KeystoneReady", metav1.ConditionTrue, "KeystoneReady")
}
