package controller

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/apitest"
	"github.com/c5c3/forge/internal/common/testutil/permission"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	horizonv1alpha1 "github.com/c5c3/forge/operators/horizon/api/v1alpha1"
)

func TestEveryDocumentedReasonIsUsed(t *testing.T) {
	apitest.NothingIsDocumentedThatNothingSays(t, []string{"."}, "../../api/v1alpha1/conditions.go")
}

func TestTheMarkersPermitWhatTheControllerWatchesAndWrites(t *testing.T) {
	permission.Check(t, Controller.Scheme(), Controller.Watched(), "horizon_controller.go")
}

func TestThePipelineIsValid(t *testing.T) {
	if err := pipeline.Validate(); err != nil {
		t.Error(err)
	}
}

// rendered returns the lines of local_settings.py for a Horizon after a change.
func rendered(t *testing.T, change func(*horizonv1alpha1.Horizon)) []string {
	t.Helper()
	h := &horizonv1alpha1.Horizon{}
	h.Name, h.Namespace, h.UID = "horizon", "openstack", "uid-1"
	h.Spec.Cache.Servers = []string{"one:11211", "two:11211"}
	h.Spec.Identity.AuthURL = "http://keystone.openstack.svc:5000/v3"
	change(h)
	horizonv1alpha1.SetDefaults(h)
	script, err := localSettings(service.NewScope(&service.Tools{}, &definition, h, struct{}{}))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(script, "\n")
}

// has fails the test unless the script has each of the lines once.
func has(t *testing.T, script []string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		count := 0
		for _, other := range script {
			if other == line {
				count++
			}
		}
		if count != 1 {
			t.Errorf("the settings have %d times %s", count, line)
		}
	}
}

func TestSettingsFollowFromTheSpec(t *testing.T) {
	has(t, rendered(t, func(*horizonv1alpha1.Horizon) {}),
		`HOSTS = ["localhost","127.0.0.1","horizon","horizon.openstack","horizon.openstack.svc","horizon.openstack.svc.cluster.local"]`,
		`CACHE_SERVERS = ["one:11211","two:11211"]`, `CACHE_PREFIX = "uid-1"`, `BEHIND_TLS = False`, `LOG_JSON = False`,
		`LOG_LEVEL = "INFO"`, `LOG_LEVELS = "{}"`, `GIVEN = "{}"`, `USER_DOMAIN = "Default"`, `MULTI_DOMAIN = False`,
		`SECRET_KEY_FILE = "/var/lib/openstack-dashboard/secret-key/secret-key"`, `IDENTITY_URL = "http://keystone.openstack.svc:5000/v3"`)
}

func TestDomainsAndProvidersAreOnTheLoginPage(t *testing.T) {
	has(t, rendered(t, func(*horizonv1alpha1.Horizon) {}),
		`DOMAINS = []`, `PROVIDERS = []`, `PUBLIC_IDENTITY_URL = "http://keystone.openstack.svc:5000/v3"`)
	has(t, rendered(t, func(h *horizonv1alpha1.Horizon) {
		h.Spec.Identity.Domains, h.Spec.Identity.PublicURL = []string{"staff"}, "https://keystone.example.com/v3"
		h.Spec.Identity.Providers = []horizonv1alpha1.HorizonIdentityProvider{{Name: "company", Protocol: "openid"}}
	}), `DOMAINS = ["staff"]`, `PROVIDERS = [["company","openid"]]`, `PUBLIC_IDENTITY_URL = "https://keystone.example.com/v3"`)
}

func TestAGatewayIsATrustedHostBehindTLS(t *testing.T) {
	script := rendered(t, func(h *horizonv1alpha1.Horizon) {
		h.Spec.Gateway = &commonv1.GatewaySpec{Hostname: "dashboard.example.com"}
	})
	has(t, script, `BEHIND_TLS = True`)
	if hosts := script[lineOf(script, "HOSTS = ")]; !strings.Contains(hosts, `"dashboard.example.com"`) {
		t.Errorf("got %s", hosts)
	}
}

func lineOf(script []string, prefix string) int {
	for i, line := range script {
		if strings.HasPrefix(line, prefix) {
			return i
		}
	}
	return 0
}

func TestDebuggingLogsMoreAndShowsUsersNothing(t *testing.T) {
	script := rendered(t, func(h *horizonv1alpha1.Horizon) { h.Spec.Logging = &commonv1.LoggingSpec{Debug: true} })
	has(t, script, `DEBUG = False`, `LOG_LEVEL = "DEBUG"`)
}

func TestNoGivenSettingIsRunAsPython(t *testing.T) {
	script := rendered(t, func(h *horizonv1alpha1.Horizon) {
		h.Spec.Settings = map[string]apiextensionsv1.JSON{"SITE_BRANDING": {Raw: []byte(`"\"\nimport os"`)}}
	})
	has(t, script, `GIVEN = "{\"SITE_BRANDING\":\"\\\"\\nimport os\"}"`)
	if lineOf(script, "import os") != 0 {
		t.Error("a given value is a line of the script")
	}
}
