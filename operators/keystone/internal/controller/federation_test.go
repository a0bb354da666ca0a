package controller

import (
	"strings"
	"testing"

	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

func TestFederationConfiguresTheSSOCallbackPage(t *testing.T) {
	for _, enabled := range []bool{true, false} {
		k := fixture.Minimal()
		k.Spec.Federation = &keystonev1alpha1.FederationSpec{Enabled: enabled}
		options, files := rendered(t, fixture.Scope(k), nil)
		page, set := options["federation"]["sso_callback_template"]
		if set != enabled || enabled && page != "/etc/keystone/keystone.conf.d/sso_callback_template.html" {
			t.Errorf("enabled %t: the page is %q", enabled, page)
		}
		if _, trusts := files[dashboardsFile]; trusts != enabled {
			t.Errorf("enabled %t: the file of dashboards is there: %t", enabled, trusts)
		}
		for _, name := range []string{`action="$host"`, `name="token" value="$token"`} {
			if strings.Contains(files["sso_callback_template.html"], name) != enabled {
				t.Errorf("enabled %t: the page is %q", enabled, files["sso_callback_template.html"])
			}
		}
	}
}
