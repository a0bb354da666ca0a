package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/service"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

func TestPlacementConfigurationIsRenderedFromTheSpec(t *testing.T) {
	p := &placementv1alpha1.Placement{}
	p.Name, p.Namespace = "placement", "openstack"
	p.Spec.Cache.Servers = []string{"one:11211", "two:11211"}
	p.Spec.Identity.AuthURL, p.Spec.Identity.Region = "https://identity.example.com/v3", "RegionOne"
	placementv1alpha1.SetDefaults(p)
	pass := service.NewScope(&service.Tools{}, &definition, p, struct{}{})
	want := ini.File{
		"DEFAULT": {"use_stderr": "true", "debug": "false"},
		"placement_database": {
			"connection": "mysql+pymysql://placeholder", "connection_recycle_time": "600", "max_retries": "-1",
		},
		"keystone_authtoken": {
			"auth_type": "password", "auth_url": "https://identity.example.com/v3",
			"www_authenticate_uri": "https://identity.example.com/v3", "interface": "internal", "region_name": "RegionOne",
			"project_name": "service", "project_domain_name": "Default", "user_domain_name": "Default",
			"service_type": "placement", "service_token_roles": "service", "service_token_roles_required": "true",
			"memcached_servers": "one:11211,two:11211", "memcache_pool_socket_timeout": "1", "memcache_pool_dead_retry": "10",
			"memcache_security_strategy": "MAC",
		},
		"oslo_middleware": {"enable_proxy_headers_parsing": "true"},
	}
	got, _, err := settings.Render(pass, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("placement.conf (-want +got):\n%s", diff)
	}
}
