package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/service"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
)

func TestBarbicanConfigurationIsRenderedFromTheSpec(t *testing.T) {
	b := &barbicanv1alpha1.Barbican{}
	b.Name, b.Namespace = "barbican", "openstack"
	b.Spec.Cache.Servers = []string{"one:11211", "two:11211"}
	b.Spec.Identity.AuthURL, b.Spec.Identity.Region = "https://identity.example.com/v3", "RegionOne"
	barbicanv1alpha1.SetDefaults(b)
	pass := service.NewScope(&service.Tools{}, &definition, b, struct{}{})
	want := ini.File{
		"DEFAULT": {"use_stderr": "true", "debug": "false", "host_href": "", "db_auto_create": "false"},
		"database": {
			"connection": "mysql+pymysql://placeholder", "connection_recycle_time": "600", "max_retries": "-1",
		},
		"keystone_authtoken": {
			"auth_type": "password", "auth_url": "https://identity.example.com/v3",
			"www_authenticate_uri": "https://identity.example.com/v3", "interface": "internal", "region_name": "RegionOne",
			"project_name": "service", "project_domain_name": "Default", "user_domain_name": "Default",
			"service_type": "key-manager", "service_token_roles": "service", "service_token_roles_required": "true",
			"memcached_servers": "one:11211,two:11211", "memcache_pool_socket_timeout": "1", "memcache_pool_dead_retry": "10",
			"memcache_security_strategy": "MAC",
		},
		"secretstore":     {"enabled_secretstore_plugins": "store_crypto"},
		"crypto":          {"enabled_crypto_plugins": "simple_crypto"},
		"oslo_middleware": {"enable_proxy_headers_parsing": "true"},
	}
	got, _, err := settings.Render(pass, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("barbican.conf (-want +got):\n%s", diff)
	}
}
