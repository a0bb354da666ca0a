package v1alpha1

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func keystoneAPI(cp *ControlPlane) *ServiceAPISpec {
	if cp.Spec.Services.Keystone == nil {
		return nil
	}
	return &cp.Spec.Services.Keystone.ServiceAPISpec
}

func barbicanAPI(cp *ControlPlane) *ServiceAPISpec {
	if cp.Spec.Services.Barbican == nil {
		return nil
	}
	return &cp.Spec.Services.Barbican.ServiceAPISpec
}

func placementAPI(cp *ControlPlane) *ServiceAPISpec {
	if cp.Spec.Services.Placement == nil {
		return nil
	}
	return &cp.Spec.Services.Placement.ServiceAPISpec
}

func glanceAPI(cp *ControlPlane) *ServiceAPISpec {
	if cp.Spec.Services.Glance == nil {
		return nil
	}
	return &cp.Spec.Services.Glance.ServiceAPISpec
}

func keystoneOf(cp *ControlPlane) *ServiceSpec {
	if cp.Spec.Services.Keystone == nil {
		return nil
	}
	return &cp.Spec.Services.Keystone.ServiceSpec
}

// serviceRules are those of each service, named as its field in spec.services. They pass
// over a control plane without it.
func serviceRules(name string, get func(*ControlPlane) *ServiceSpec) rules.Table[*ControlPlane] {
	path := servicePath(name)
	of := func(check rules.Check[*ServiceSpec]) rules.Check[*ControlPlane] {
		return func(cp *ControlPlane, at *field.Path) field.ErrorList {
			if service := get(cp); service != nil {
				return check(service, at)
			}
			return nil
		}
	}
	pods := func(cp *ControlPlane) *commonv1.PodSettings {
		if service := get(cp); service != nil {
			return &service.PodSettings
		}
		return nil
	}
	return append(commonv1.PodRules(path, name, pods), rules.Table[*ControlPlane]{
		{Path: path + ".replicas", Check: of(rules.AtLeast(1, func(s *ServiceSpec) *int32 { return s.Replicas }))},
		{Path: path + ".image", Check: of(func(s *ServiceSpec, at *field.Path) field.ErrorList { return checkImage(s, name, at) })},
		{Path: path + ".imagePullSecrets", Check: of(checkImagePullSecrets)},
		{Path: path + ".resources", Check: of(func(s *ServiceSpec, at *field.Path) field.ErrorList {
			return commonv1.ValidateResources(s.Resources, at)
		})},
		{Path: path + ".gateway", Check: of(func(s *ServiceSpec, at *field.Path) field.ErrorList {
			return commonv1.ValidateGateway(s.Gateway, name, at)
		})},
	}...)
}

func checkImage(service *ServiceSpec, name string, at *field.Path) field.ErrorList {
	if service.Image == nil {
		return nil
	}
	return commonv1.ValidateImage(*service.Image, name, at)
}

func checkImagePullSecrets(service *ServiceSpec, at *field.Path) field.ErrorList {
	return commonv1.ValidateImagePullSecrets(service.ImagePullSecrets, at)
}

// apiRules are those of a service with an API.
func apiRules(name string, service func(*ControlPlane) *ServiceSpec, api func(*ControlPlane) *ServiceAPISpec) rules.Table[*ControlPlane] {
	path := servicePath(name)
	return rules.Table[*ControlPlane]{
		{Path: path + ".policyOverrides", Check: func(cp *ControlPlane, at *field.Path) field.ErrorList {
			if settings := api(cp); settings != nil {
				return commonv1.ValidatePolicy(settings.PolicyOverrides, at)
			}
			return nil
		}},
		{Path: path + ".publicEndpoint", Check: func(cp *ControlPlane, at *field.Path) field.ErrorList {
			if settings := api(cp); settings != nil {
				return commonv1.ValidatePublicEndpoint(settings.PublicEndpoint, service(cp).Gateway, at)
			}
			return nil
		}},
	}
}

func checkRotationInterval(cp *ControlPlane, at *field.Path) field.ErrorList {
	keystone := cp.Spec.Services.Keystone
	if keystone == nil || keystone.RotationInterval == nil {
		return nil
	}
	if _, ok := RotationDays(*keystone.RotationInterval); ok {
		return nil
	}
	return field.ErrorList{field.Invalid(at, keystone.RotationInterval.Duration.String(),
		"rotationInterval must be a positive multiple of 24h, for example 168h")}
}

func checkProxyImage(cp *ControlPlane, at *field.Path) field.ErrorList {
	if keystone := cp.Spec.Services.Keystone; keystone != nil && keystone.ProxyImage != nil {
		return commonv1.ValidateImage(*keystone.ProxyImage, "keystone-proxy", at)
	}
	return nil
}

func checkHorizonSecretKey(cp *ControlPlane, at *field.Path) field.ErrorList {
	if horizon := cp.Spec.Services.Horizon; horizon != nil && horizon.SecretKeyRef != nil {
		return commonv1.ValidateSecretRef(*horizon.SecretKeyRef, at)
	}
	return nil
}

func (s furtherService) rules() rules.Table[*ControlPlane] {
	all := append(serviceRules(s.name, s.spec), rules.Rule[*ControlPlane]{Path: s.path(), Check: s.checkIdentity})
	if s.database != "" {
		all = append(all, rules.Rule[*ControlPlane]{Path: s.path() + ".database", Check: s.checkDatabase})
	}
	if s.api != nil {
		all = append(all, apiRules(s.name, s.spec, s.api)...)
	}
	return all
}

// spec returns the settings that every service has, nil for a control plane without it.
func (s furtherService) spec(cp *ControlPlane) *ServiceSpec {
	if settings := s.of(cp); settings != nil {
		return settings.ServiceSpec
	}
	return nil
}

func (s furtherService) checkIdentity(cp *ControlPlane, at *field.Path) field.ErrorList {
	if s.of(cp) == nil || cp.Spec.Services.Keystone != nil {
		return nil
	}
	return field.ErrorList{field.Invalid(at, field.OmitValueType{}, s.name+" needs the Identity service: set services.keystone, too")}
}

// checkDatabase looks at what the service replaces in infrastructure.database.
func (s furtherService) checkDatabase(cp *ControlPlane, at *field.Path) field.ErrorList {
	settings := s.of(cp)
	if settings == nil {
		return nil
	}
	errs := commonv1.ValidateDatabase(commonv1.DatabaseSpec{
		Host: "database", Database: *settings.database, SecretRef: *settings.secret,
	}, s.name, at)
	if s.sharesDatabase(cp, *settings.database) {
		errs = append(errs, field.Invalid(at.Child("database"), *settings.database,
			"database must not be that of another service: each has its own"))
	}
	return errs
}

// sharesDatabase reports whether a database of the name belongs to the Identity service, or to a
// service that comes first in the list.
func (s furtherService) sharesDatabase(cp *ControlPlane, name string) bool {
	if name == cp.Spec.Infrastructure.Database.Database {
		return true
	}
	for _, other := range furtherServices {
		if other.name == s.name {
			break
		}
		if settings := other.of(cp); settings != nil && settings.database != nil && *settings.database == name {
			return true
		}
	}
	return false
}

// checkDatabaseName lets a service that is set anew have any name.
func (s furtherService) checkDatabaseName(old, updated *ControlPlane) field.ErrorList {
	before, after := s.of(old), s.of(updated)
	if s.database == "" || before == nil || after == nil || *before.database == *after.database {
		return nil
	}
	return field.ErrorList{field.Invalid(rules.Path(s.path()+".database.database"), *after.database, "database name is immutable")}
}

// has reports whether the service has, or will have, a Secret of the name.
func (s furtherService) has(cp *ControlPlane, secret string) bool {
	settings := s.of(cp)
	return settings != nil && (settings.secret != nil && secret == settings.secret.Name || strings.HasPrefix(secret, cp.Name+"-"+s.name+"-"))
}
