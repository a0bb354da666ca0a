package v1alpha1

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func ofKeystone(change func(*ServiceSpec)) func(*ControlPlane) {
	return ofService(func(k *ServiceKeystoneSpec) { change(&k.ServiceSpec) })
}

func ofService(change func(*ServiceKeystoneSpec)) func(*ControlPlane) {
	return func(cp *ControlPlane) {
		if cp.Spec.Services.Keystone != nil {
			change(cp.Spec.Services.Keystone)
		}
	}
}

func ofBarbican(change func(*ServiceSpec)) func(*ControlPlane) {
	return func(cp *ControlPlane) {
		if cp.Spec.Services.Barbican != nil {
			change(&cp.Spec.Services.Barbican.ServiceSpec)
		}
	}
}

func ofPlacement(change func(*ServiceSpec)) func(*ControlPlane) {
	return func(cp *ControlPlane) {
		if cp.Spec.Services.Placement != nil {
			change(&cp.Spec.Services.Placement.ServiceSpec)
		}
	}
}

func ofHorizon(change func(*ServiceSpec)) func(*ControlPlane) {
	return func(cp *ControlPlane) {
		if cp.Spec.Services.Horizon != nil {
			change(&cp.Spec.Services.Horizon.ServiceSpec)
		}
	}
}

func ofBarbicanDatabase(change func(*BarbicanDatabaseSpec)) func(*ControlPlane) {
	return func(cp *ControlPlane) {
		if cp.Spec.Services.Barbican != nil {
			change(&cp.Spec.Services.Barbican.Database)
		}
	}
}

func ofPlacementDatabase(change func(*PlacementDatabaseSpec)) func(*ControlPlane) {
	return func(cp *ControlPlane) {
		if cp.Spec.Services.Placement != nil {
			change(&cp.Spec.Services.Placement.Database)
		}
	}
}

func podsOf(of func(func(*ServiceSpec)) func(*ControlPlane)) func(func(*commonv1.PodSettings)) func(*ControlPlane) {
	return func(change func(*commonv1.PodSettings)) func(*ControlPlane) {
		return of(func(s *ServiceSpec) { change(&s.PodSettings) })
	}
}

func pulling(names ...string) func(*ServiceSpec) {
	return func(s *ServiceSpec) {
		for _, name := range names {
			s.ImagePullSecrets = append(s.ImagePullSecrets, *named(name))
		}
	}
}

func interval(d time.Duration) func(*ControlPlane) {
	return ofService(func(k *ServiceKeystoneSpec) { k.RotationInterval = every(d) })
}

// serviceViolations break the rules that each service has.
func serviceViolations(name, path string, of func(func(*ServiceSpec)) func(*ControlPlane)) []violation {
	return []violation{
		{
			name + ": no replicas", of(func(s *ServiceSpec) { s.Replicas = new(int32(0)) }),
			path + ".replicas", "replicas must be at least 1", apitest.TooSmall, "",
		},
		{
			name + ": an image name with a tag", of(func(s *ServiceSpec) {
				s.Image = &commonv1.ImageSpec{Repository: "example.com/keystone:2025.2", Tag: "2025.2"}
			}),
			path + ".image.repository", "must be an image name without a tag", apitest.NoMatch, "",
		},
		{
			name + ": an image without a tag", of(func(s *ServiceSpec) {
				s.Image = &commonv1.ImageSpec{Repository: "example.com/keystone"}
			}),
			path + ".image.tag", "Required value", apitest.NoMatch, "",
		},
		{
			name + ": an image without a name", of(func(s *ServiceSpec) { s.Image = &commonv1.ImageSpec{Tag: "2025.2"} }),
			path + ".image.repository", "name the image, for example ghcr.io/c5c3/" + strings.TrimPrefix(path, "spec.services."),
			apitest.TooShort, "",
		},
		{
			name + ": an image digest of another kind", of(func(s *ServiceSpec) {
				s.Image = &commonv1.ImageSpec{Repository: "example.com/keystone", Tag: "2025.2", Digest: "sha1:0123"}
			}),
			path + ".image.digest", "must be sha256: and 64 hexadecimal digits", apitest.NoMatch, "",
		},
		{
			name + ": an image tag with a slash", of(func(s *ServiceSpec) {
				s.Image = &commonv1.ImageSpec{Repository: "example.com/keystone", Tag: "2025/2"}
			}),
			path + ".image.tag", "must be at most 128", apitest.NoMatch, "",
		},
		{
			name + ": a pull secret without a name", of(pulling("")),
			path + ".imagePullSecrets[0].name", "name the Secret with which the image is pulled",
			"name the Secret with which the image is pulled", path + ".imagePullSecrets",
		},
		{
			name + ": a pull secret twice", of(pulling("registry", "registry")),
			path + ".imagePullSecrets[1]", "Duplicate value", "Duplicate value", "",
		},
		{
			name + ": a Gateway without a host name", of(func(s *ServiceSpec) { s.Gateway = gateway("") }),
			path + ".gateway.hostname", "Required value", apitest.TooShort, "",
		},
		{
			name + ": a Gateway with a wildcard", of(func(s *ServiceSpec) { s.Gateway = gateway("*.example.com") }),
			path + ".gateway.hostname", "must be a lower case host name without a wildcard or port", apitest.NoMatch, "",
		},
		{
			name + ": a path with a space", of(func(s *ServiceSpec) {
				s.Gateway = gateway("keystone.example.com")
				s.Gateway.Path = "/the service"
			}),
			path + ".gateway.path", "must be the path of a URL", apitest.NoMatch, "",
		},
		{
			name + ": a request above its limit", of(func(s *ServiceSpec) {
				s.Resources = &corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1000m")},
					Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")},
				}
			}),
			path + ".resources.requests.cpu", "must not exceed the limit of 500m", "", "",
		},
		{
			name + ": too many replicas", of(func(s *ServiceSpec) { s.Replicas = new(int32(1001)) }),
			path + ".replicas", "replicas must be at most 1000", apitest.TooLarge, "",
		},
	}
}

// apiViolations break the rules of a service with an API.
func apiViolations(
	name, path string, of func(func(*ServiceSpec)) func(*ControlPlane), api func(*ControlPlane) *ServiceAPISpec,
) []violation {
	overridden := func(with commonv1.PolicySpec) func(*ControlPlane) {
		return func(cp *ControlPlane) {
			if service := api(cp); service != nil {
				service.PolicyOverrides = &with
			}
		}
	}
	at := func(endpoint string) func(*ControlPlane) {
		return func(cp *ControlPlane) {
			if service := api(cp); service != nil {
				service.PublicEndpoint = endpoint
			}
		}
	}
	return []violation{
		{
			name + ": an endpoint of another protocol", at("ftp://keystone.example.com"),
			path + ".publicEndpoint", "must be a URL", apitest.NoMatch, "",
		},
		{
			name + ": an endpoint with a space", at("https://keystone.example.com/v 3"),
			path + ".publicEndpoint", "must not contain spaces or control characters", apitest.NoMatch, "",
		},
		{
			name + ": an endpoint without a host", at("https:///v3"),
			path + ".publicEndpoint", "must be a URL", "", "",
		},
		{
			name + ": an endpoint with another host than the Gateway's", func(cp *ControlPlane) {
				of(func(s *ServiceSpec) { s.Gateway = gateway("keystone.example.com") })(cp)
				at("https://identity.example.com/v3")(cp)
			},
			path + ".publicEndpoint", "publicEndpoint must be an https URL with the host of gateway.hostname",
			"publicEndpoint must be an https URL with the host of gateway.hostname", "",
		},
		{
			name + ": policy overrides without any", overridden(commonv1.PolicySpec{}),
			path + ".policyOverrides", "at least one of rules or configMapRef must be set", "", "",
		},
		{
			name + ": a rule without a definition", overridden(commonv1.PolicySpec{Rules: map[string]string{"a": ""}}),
			path + ".policyOverrides.rules[a]", "policy rule value must not be empty",
			"policy rule value must not be empty", path + ".policyOverrides",
		},
	}
}

func keystoneViolations() []violation {
	return []violation{
		{
			"an interval that is no whole day", interval(36 * time.Hour),
			keystonePath + ".rotationInterval", wholeDays, wholeDays, "",
		},
		{
			"an interval with a rest of a second", interval(24*time.Hour + time.Second),
			keystonePath + ".rotationInterval", wholeDays, wholeDays, "",
		},
		{
			"no interval at all", interval(0),
			keystonePath + ".rotationInterval", wholeDays, wholeDays, "",
		},
		{
			"an interval into the past", interval(-24 * time.Hour),
			keystonePath + ".rotationInterval", wholeDays, wholeDays, "",
		},
	}
}

const ofAnother = "database must not be that of another service"

// without removes Keystone, and every service that needs it but those that keep sets again.
func without(keep func(from, to *ServicesSpec)) func(*ControlPlane) {
	return func(cp *ControlPlane) {
		all := cp.Spec.Services
		cp.Spec.Services = ServicesSpec{}
		keep(&all, &cp.Spec.Services)
	}
}

func barbicanViolations() []violation {
	const needsKeystone = "barbican needs the Identity service"
	return []violation{
		{
			"a Barbican without Keystone", without(func(from, to *ServicesSpec) { to.Barbican = from.Barbican }),
			barbicanPath, needsKeystone, needsKeystone, "",
		},
		{
			"Barbican's database with a dash", ofBarbicanDatabase(func(d *BarbicanDatabaseSpec) { d.Database = "bar-bican" }),
			barbicanPath + ".database.database", "must be 1 to 64 letters", apitest.NoMatch, "",
		},
		{
			"the database of Keystone for Barbican", ofBarbicanDatabase(func(d *BarbicanDatabaseSpec) { d.Database = "keystone" }),
			barbicanPath + ".database.database", ofAnother, ofAnother, "",
		},
		{
			"Barbican's credentials in a Secret that cannot exist",
			ofBarbicanDatabase(func(d *BarbicanDatabaseSpec) { d.SecretRef.Name = "Barbican_DB" }),
			barbicanPath + ".database.secretRef.name", "RFC 1123 subdomain", apitest.NoMatch, "",
		},
		{
			"Barbican's password under an impossible key", ofBarbicanDatabase(func(d *BarbicanDatabaseSpec) { d.SecretRef.Key = "pass word" }),
			barbicanPath + ".database.secretRef.key", "a valid config key must consist of", apitest.NoMatch, "",
		},
	}
}

func placementViolations() []violation {
	const needsKeystone = "placement needs the Identity service"
	return []violation{
		{
			"a Placement without Keystone", without(func(from, to *ServicesSpec) { to.Placement = from.Placement }),
			placementPath, needsKeystone, needsKeystone, "",
		},
		{
			"Placement's database with a dash", ofPlacementDatabase(func(d *PlacementDatabaseSpec) { d.Database = "place-ment" }),
			placementPath + ".database.database", "must be 1 to 64 letters", apitest.NoMatch, "",
		},
		{
			"the database of Keystone", ofPlacementDatabase(func(d *PlacementDatabaseSpec) { d.Database = "keystone" }),
			placementPath + ".database.database", ofAnother, ofAnother, "",
		},
		{
			"the database of Barbican for Placement", func(cp *ControlPlane) {
				if cp.Spec.Services.Placement != nil && cp.Spec.Services.Barbican != nil {
					cp.Spec.Services.Placement.Database.Database = cp.Spec.Services.Barbican.Database.Database
				}
			},
			placementPath + ".database.database", ofAnother, ofAnother, "",
		},
		{
			"Placement's credentials in a Secret that cannot exist",
			ofPlacementDatabase(func(d *PlacementDatabaseSpec) { d.SecretRef.Name = "Placement_DB" }),
			placementPath + ".database.secretRef.name", "RFC 1123 subdomain", apitest.NoMatch, "",
		},
		{
			"Placement's password under an impossible key", ofPlacementDatabase(func(d *PlacementDatabaseSpec) { d.SecretRef.Key = "pass word" }),
			placementPath + ".database.secretRef.key", "a valid config key must consist of", apitest.NoMatch, "",
		},
	}
}

func horizonViolations() []violation {
	const needsKeystone = "horizon needs the Identity service"
	key := func(ref commonv1.SecretRefSpec) func(*ControlPlane) {
		return func(cp *ControlPlane) {
			if cp.Spec.Services.Horizon != nil {
				cp.Spec.Services.Horizon.SecretKeyRef = &ref
			}
		}
	}
	return []violation{
		{
			"a Horizon without Keystone", without(func(from, to *ServicesSpec) { to.Horizon = from.Horizon }),
			horizonPath, needsKeystone, needsKeystone, "",
		},
		{
			"Horizon's key in a Secret that cannot exist", key(commonv1.SecretRefSpec{Name: "Secret_Key"}),
			horizonPath + ".secretKeyRef.name", "RFC 1123 subdomain", apitest.NoMatch, "",
		},
		{
			"Horizon's key under an impossible key", key(commonv1.SecretRefSpec{Name: "key", Key: "secret key"}),
			horizonPath + ".secretKeyRef.key", "a valid config key must consist of", apitest.NoMatch, "",
		},
	}
}

func globally(section, option, value string) func(*ControlPlane) {
	return func(cp *ControlPlane) {
		cp.Spec.Global = &GlobalSpec{ExtraConfig: map[string]map[string]string{section: {option: value}}}
	}
}

func globalViolations() []violation {
	return []violation{
		{
			"global settings without any", func(cp *ControlPlane) { cp.Spec.Global = &GlobalSpec{} },
			"spec.global", "at least one of extraConfig, rules or configMapRef must be set", "", "",
		},
		{
			"a global rule without a name", func(cp *ControlPlane) {
				cp.Spec.Global = &GlobalSpec{PolicySpec: commonv1.PolicySpec{Rules: map[string]string{"": "role:admin"}}}
			},
			"spec.global.rules", "policy rule name must not be empty", "policy rule name must not be empty", "spec.global",
		},
		{
			"a global section that closes its header", globally("a]", "b", "c"),
			"spec.global.extraConfig[a]]", "square brackets", "", "",
		},
		{
			"a global option with an equals sign", globally("a", "b=c", "d"),
			"spec.global.extraConfig[a][b=c]", "must not contain '='", "", "",
		},
		{
			"a global value with a line break", globally("a", "b", "c\n[DEFAULT]\ndebug = true"),
			"spec.global.extraConfig[a][b]", "must not contain a line break", "", "",
		},
		{
			"a global option that Keystone reserves", globally("Token", "provider", "jws"),
			"spec.global.extraConfig[Token][provider]", "remove [token] provider", "", "",
		},
	}
}
