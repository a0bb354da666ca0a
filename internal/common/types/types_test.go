package types

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestReferenceKeysAndPortsHaveDefaults(t *testing.T) {
	for _, c := range []struct{ name, want, got string }{
		{"a Secret's default key", "password", SecretRefSpec{Name: "a"}.KeyOr("password")},
		{"a Secret's chosen key", "pw", SecretRefSpec{Name: "a", Key: "pw"}.KeyOr("password")},
		{"an image", "example.com/keystone:2025.2", ImageSpec{Repository: "example.com/keystone", Tag: "2025.2"}.Reference()},
	} {
		if c.got != c.want {
			t.Errorf("%s: want %q, got %q", c.name, c.want, c.got)
		}
	}
	if port := (DatabaseSpec{}).PortOrDefault(); port != 3306 {
		t.Errorf("want port 3306, got %d", port)
	}
	if port := (DatabaseSpec{Port: 3307}).PortOrDefault(); port != 3307 {
		t.Errorf("want port 3307, got %d", port)
	}
}

func TestTheModeFollowsFromTheClusterReference(t *testing.T) {
	cluster := &corev1.LocalObjectReference{Name: "a"}
	if !(DatabaseSpec{ClusterRef: cluster}).IsManaged() || (DatabaseSpec{Host: "a"}).IsManaged() {
		t.Error("the database's mode is wrong")
	}
	if !(CacheSpec{ClusterRef: cluster}).IsManaged() || (CacheSpec{Servers: []string{"a"}}).IsManaged() {
		t.Error("the cache's mode is wrong")
	}
}

func TestTLSIsOnOnlyWhenEnabled(t *testing.T) {
	for want, specs := range map[bool][]*DatabaseTLSSpec{
		false: {nil, {}, {Mode: DatabaseTLSVerifyFull}},
		true:  {{Enabled: true}},
	} {
		for _, spec := range specs {
			if got := (DatabaseSpec{TLS: spec}).TLSEnabled(); got != want {
				t.Errorf("%+v: want %t, got %t", spec, want, got)
			}
		}
	}
}

// The operators' tests against an API server compare this pattern with the schema's.
func TestAnImageNameFollowsTheDistributionGrammar(t *testing.T) {
	for name, valid := range map[string]bool{
		"keystone": true, "c5c3/keystone": true, "ghcr.io/c5c3/keystone": true, "localhost:5000/keystone": true,
		"Registry.Example.com/keystone": true, "[2001:db8::1]:5000/keystone": true, "a.b_c__d--e": true,
		"": false, "keystone:latest": false, "keystone@sha256:abc": false, "/keystone": false, "keystone/": false,
		"c5c3//keystone": false, "c5c3/Keystone": false, "a___b": false, "a..b": false, "-a": false, "key stone": false,
		strings.Repeat("a", 255): true, strings.Repeat("a", 256): false,
	} {
		errs := ValidateImage(ImageSpec{Repository: name, Tag: "1"}, "harbour", field.NewPath("image"))
		if (len(errs) == 0) != valid {
			t.Errorf("%q: want valid %t, got %v", name, valid, errs)
		}
	}
}

func TestAnImageTagFollowsTheDistributionGrammar(t *testing.T) {
	for tag, valid := range map[string]bool{
		"2025.2": true, "latest": true, "_a": true, strings.Repeat("a", 128): true,
		"": false, ".a": false, "-a": false, "a b": false, "a:b": false, strings.Repeat("a", 129): false,
	} {
		errs := ValidateImage(ImageSpec{Repository: "a", Tag: tag}, "harbour", field.NewPath("image"))
		if (len(errs) == 0) != valid {
			t.Errorf("%q: want valid %t, got %v", tag, valid, errs)
		}
	}
}

func TestADatabaseHostCannotChangeTheConnectionURL(t *testing.T) {
	for host, valid := range map[string]bool{
		"db": true, "db.example.com": true, "DB-1.example.com": true, "192.0.2.1": true, "2001:db8::1": true,
		"db:3306": false, "user@db": false, "db/other": false, "db?ssl_ca=x": false, "db#": false, "db example": false, "-db": false,
		"[2001:db8::1]": false, "fe80::1%eth0": false, "a:b:c": false,
	} {
		db := DatabaseSpec{Host: host, Database: "keystone", SecretRef: SecretRefSpec{Name: "a"}}
		errs := ValidateDatabase(db, "harbour", field.NewPath("database"))
		if (len(errs) == 0) != valid {
			t.Errorf("%q: want valid %t, got %v", host, valid, errs)
		}
	}
}

func TestAGatewayReferenceIsChecked(t *testing.T) {
	valid := GatewaySpec{
		Hostname: "keystone.example.com", ParentRef: GatewayParentRefSpec{Name: "public", Namespace: "gateways", SectionName: "https"},
		Annotations: map[string]string{"example.com/limit": "10"},
	}
	for path, change := range map[string]func(*GatewaySpec){
		"":                              func(*GatewaySpec) {},
		"gateway.parentRef.name":        func(g *GatewaySpec) { g.ParentRef.Name = "Public" },
		"gateway.parentRef.namespace":   func(g *GatewaySpec) { g.ParentRef.Namespace = "a.b" },
		"gateway.parentRef.sectionName": func(g *GatewaySpec) { g.ParentRef.SectionName = "HTTPS" },
		"gateway.annotations":           func(g *GatewaySpec) { g.Annotations = map[string]string{"not a name": ""} },
	} {
		gateway := valid
		change(&gateway)
		errs := ValidateGateway(&gateway, "harbour", field.NewPath("gateway"))
		if path == "" && len(errs) > 0 || path != "" && !slices.ContainsFunc(errs, func(err *field.Error) bool { return err.Field == path }) {
			t.Errorf("want an error at %q, got %v", path, errs)
		}
	}
}

func TestExamplesInErrorsNameTheService(t *testing.T) {
	at := field.NewPath("spec")
	for example, errs := range map[string]field.ErrorList{
		"ghcr.io/c5c3/harbour":        ValidateImage(ImageSpec{}, "harbour", at),
		"for example harbour":         ValidateDatabase(DatabaseSpec{}, "harbour", at),
		"for example harbour.example": ValidateGateway(&GatewaySpec{}, "harbour", at),
	} {
		if err := errs.ToAggregate(); err == nil || !strings.Contains(err.Error(), example) {
			t.Errorf("want %q, got %v", example, err)
		}
	}
}
