package v1alpha1

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// furtherServices are the services in addition to the Identity service. Defaults and rules
// loop over them.
var furtherServices = []furtherService{
	{
		name: "placement", database: DefaultPlacementDatabaseName, secret: DefaultPlacementDatabaseSecret,
		of: func(cp *ControlPlane) *furtherSettings {
			placement := cp.Spec.Services.Placement
			if placement == nil {
				return nil
			}
			return &furtherSettings{&placement.ServiceSpec, &placement.Database.Database, &placement.Database.SecretRef}
		},
	},
}

// furtherService is a service that needs the Identity service and has a database of its own
// on the same server.
type furtherService struct {
	// name is its field in spec.services, and the second part of the names of its objects.
	name string
	// database and secret are the defaults of its database's name and of the Secret with the
	// credentials.
	database, secret string
	// of returns what a control plane says about it, or nil if the control plane lacks it.
	of func(*ControlPlane) *furtherSettings
}

type furtherSettings struct {
	*ServiceSpec

	database *string
	secret   *commonv1.SecretRefSpec
}

func (s furtherService) path() string { return "spec.services." + s.name }

func (s furtherService) setDefaults(cp *ControlPlane) {
	if settings := s.of(cp); settings != nil {
		commonv1.SetIfZero(settings.database, s.database)
		commonv1.SetIfZero(&settings.secret.Name, s.secret)
	}
}

func (s furtherService) rules() rules.Table[*ControlPlane] {
	return append(serviceRules(s.path(), func(cp *ControlPlane) *ServiceSpec {
		if settings := s.of(cp); settings != nil {
			return settings.ServiceSpec
		}
		return nil
	}), rules.Table[*ControlPlane]{{Path: s.path(), Check: s.checkIdentity}, {Path: s.path() + ".database", Check: s.checkDatabase}}...)
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
	}, at)
	if *settings.database == cp.Spec.Infrastructure.Database.Database {
		errs = append(errs, field.Invalid(at.Child("database"), *settings.database,
			"database must not be that of Keystone: each service has its own"))
	}
	return errs
}

// checkDatabaseName lets a service that is set anew have any name.
func (s furtherService) checkDatabaseName(old, updated *ControlPlane) field.ErrorList {
	before, after := s.of(old), s.of(updated)
	if before == nil || after == nil || *before.database == *after.database {
		return nil
	}
	return field.ErrorList{field.Invalid(rules.Path(s.path()+".database.database"), *after.database, "database name is immutable")}
}

// has reports whether the service has, or will have, a Secret of the name.
func (s furtherService) has(cp *ControlPlane, secret string) bool {
	settings := s.of(cp)
	return settings != nil && (secret == settings.secret.Name || strings.HasPrefix(secret, cp.Name+"-"+s.name+"-"))
}
