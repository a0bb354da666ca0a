package controller

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
)

// pass is a pass over a Glance with backends.
func pass(change func(*glancev1alpha1.Glance), all ...*glancev1alpha1.GlanceBackend) *scope {
	p := &glancev1alpha1.Glance{}
	p.Name, p.Namespace = "glance", "openstack"
	p.Spec.Cache.Servers = []string{"one:11211", "two:11211"}
	p.Spec.Identity.AuthURL, p.Spec.Identity.Region = "https://identity.example.com/v3", "RegionOne"
	if change != nil {
		change(p)
	}
	glancev1alpha1.SetDefaults(p)
	s := service.NewScope(&service.Tools{}, &definition, p, struct{}{})
	found := make([]accepted, 0, len(all))
	for _, b := range all {
		found = append(found, accepted{Resource: b, Credentials: &corev1.Secret{Data: map[string][]byte{
			"accessKey": []byte("a"), "secretKey": []byte("s"),
		}}})
	}
	backends.Accepted.Put(s.Slots, found)
	return s
}

func named(name string, age int64, spec glancev1alpha1.BackendSpec) *glancev1alpha1.GlanceBackend {
	return &glancev1alpha1.GlanceBackend{
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Unix(1000-age, 0)},
		Spec:       glancev1alpha1.GlanceBackendSpec{BackendSpec: spec},
	}
}

func bucket() *glancev1alpha1.GlanceBackend {
	return named("bucket", 1, glancev1alpha1.BackendSpec{
		Type: glancev1alpha1.BackendS3, S3: &glancev1alpha1.S3Spec{Host: "s3.example.com:9000", Bucket: "images", Region: "eu-1"},
	})
}

func volume() *glancev1alpha1.GlanceBackend {
	return named("volume", 9, glancev1alpha1.BackendSpec{
		Type: glancev1alpha1.BackendFile, File: &glancev1alpha1.FileSpec{Claim: "images"},
	})
}

func TestGlanceConfigurationIsRenderedFromTheSpec(t *testing.T) {
	want := ini.File{
		"DEFAULT": {
			"use_stderr": "true", "debug": "false", "enabled_import_methods": "[copy-image]", "enabled_backends": "bucket:s3,volume:file",
		},
		"database": {
			"connection": "mysql+pymysql://placeholder", "connection_recycle_time": "600", "max_retries": "-1",
		},
		"keystone_authtoken": {
			"auth_type": "password", "auth_url": "https://identity.example.com/v3",
			"www_authenticate_uri": "https://identity.example.com/v3", "interface": "internal", "region_name": "RegionOne",
			"project_name": "service", "project_domain_name": "Default", "user_domain_name": "Default",
			"service_type": "image", "service_token_roles": "service", "service_token_roles_required": "true",
			"memcached_servers": "one:11211,two:11211", "memcache_pool_socket_timeout": "1", "memcache_pool_dead_retry": "10",
			"memcache_security_strategy": "MAC",
		},
		"oslo_middleware":         {"enable_proxy_headers_parsing": "true"},
		"paste_deploy":            {"flavor": "keystone", "config_file": "/etc/glance/glance.conf.d/glance-api-paste.ini"},
		"os_glance_staging_store": {"filesystem_store_datadir": "/var/lib/glance/work/staging"},
		"os_glance_tasks_store":   {"filesystem_store_datadir": "/var/lib/glance/work/tasks"},
		"task":                    {"work_dir": "/var/lib/glance/work/tasks"},
		"glance_store":            {"default_backend": "volume"},
		"bucket": {
			"s3_store_host": "https://s3.example.com:9000", "s3_store_bucket": "images", "s3_store_region_name": "eu-1",
			"s3_store_bucket_url_format": "path", "s3_store_large_object_size": "-1",
		},
		"volume": {"filesystem_store_datadir": "/var/lib/glance/backends/volume"},
	}
	got, _, err := settings.Render(pass(nil, bucket(), volume()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("glance.conf (-want +got):\n%s", diff)
	}
}

func TestImagesAreDownloadedFromAllowedHostsOnly(t *testing.T) {
	s := pass(func(p *glancev1alpha1.Glance) {
		p.Spec.WebDownload = &glancev1alpha1.WebDownloadSpec{AllowedHosts: []string{"a.example.com", "b.example.com"}}
	})
	got := defaultOptions(s)
	want := map[string]string{"allowed_hosts": "a.example.com,b.example.com", "allowed_schemes": "http,https", "allowed_ports": "80,443"}
	methods := got["DEFAULT"]["enabled_import_methods"]
	if diff := cmp.Diff(want, got["import_filtering_opts"]); diff != "" || methods != "[web-download,copy-image]" {
		t.Errorf("got %v (-want +got):\n%s", got["DEFAULT"], diff)
	}
}

func TestTheDefaultBackendIsThatOfTheSpecOrTheOldestOne(t *testing.T) {
	named := func(p *glancev1alpha1.Glance) { p.Spec.DefaultBackend = "bucket" }
	going := volume()
	going.DeletionTimestamp = new(metav1.Unix(2000, 0))
	for name, c := range map[string]struct {
		scope *scope
		want  string
	}{
		"the oldest one":        {pass(nil, bucket(), volume()), "volume"},
		"the one in the spec":   {pass(named, bucket(), volume()), "bucket"},
		"the one that stays":    {pass(nil, bucket(), going), "bucket"},
		"the one that is there": {pass(nil, going), "volume"},
	} {
		if got := defaultBackend(c.scope.Resource, backends.Accepted.Value(c.scope.Slots)); got != c.want {
			t.Errorf("%s: it is %q, want %q", name, got, c.want)
		}
	}
	s := pass(named, volume())
	got := lacks(s.Resource, backends.Accepted.Value(s.Slots))
	if !strings.Contains(got, "spec.defaultBackend names the GlanceBackend bucket") {
		t.Errorf("got %q", got)
	}
}

func TestEachTypeOfBackendHasItsOptionsAndMounts(t *testing.T) {
	secret := commonv1.CredentialsReference{Name: "credentials"}
	for _, c := range []struct {
		spec            glancev1alpha1.BackendSpec
		options, secret map[string]string
		mount, identity string
	}{
		{
			glancev1alpha1.BackendSpec{
				Type: glancev1alpha1.BackendS3,
				S3:   &glancev1alpha1.S3Spec{Host: "s3", TLS: new(false), Bucket: "images", CredentialsSecretRef: secret},
			},
			map[string]string{
				"s3_store_host": "http://s3", "s3_store_bucket": "images", "s3_store_bucket_url_format": "path", "s3_store_large_object_size": "-1",
			},
			map[string]string{"s3_store_access_key": "a", "s3_store_secret_key": "s"},
			"", "bucket images of s3",
		},
		{
			glancev1alpha1.BackendSpec{Type: glancev1alpha1.BackendFile, File: &glancev1alpha1.FileSpec{Claim: "images"}},
			map[string]string{"filesystem_store_datadir": "/var/lib/glance/backends/store"},
			nil, "/var/lib/glance/backends/store",
			"PersistentVolumeClaim images",
		},
		{
			glancev1alpha1.BackendSpec{
				Type: glancev1alpha1.BackendSwift, Options: map[string]string{"swift_store_container": "images"}, OptionsSecretRef: &secret,
			},
			map[string]string{"swift_store_container": "images"},
			map[string]string{"accessKey": "a", "secretKey": "s"},
			"", "",
		},
		{
			glancev1alpha1.BackendSpec{Type: glancev1alpha1.BackendRBD, Options: map[string]string{"rbd_store_pool": "images"}},
			map[string]string{"rbd_store_pool": "images"},
			nil, "", "",
		},
	} {
		b := named("store", 1, c.spec)
		s := pass(nil, b)
		found := backends.Accepted.Value(s.Slots)[0]
		if diff := cmp.Diff(c.options, storeOptions(b)); diff != "" {
			t.Errorf("%s: options (-want +got):\n%s", c.spec.Type, diff)
		}
		required := credentials(b)
		if (required != nil) != (c.secret != nil) {
			t.Errorf("%s: it requires %+v", c.spec.Type, required)
		}
		if required != nil {
			if diff := cmp.Diff(c.secret, backendSecrets(found)["store"]); diff != "" {
				t.Errorf("%s: secret options (-want +got):\n%s", c.spec.Type, diff)
			}
		}
		if got := identity(b); got != c.identity {
			t.Errorf("%s: it is %q, want %q", c.spec.Type, got, c.identity)
		}
		mounted := ""
		for _, mount := range mounts(s)[1:] {
			mounted += mount.Path
		}
		if mounted != c.mount {
			t.Errorf("%s: pods mount %q, want %q", c.spec.Type, mounted, c.mount)
		}
	}
}
