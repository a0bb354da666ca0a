package v1alpha1

import (
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// What SetDefaults fills in for the databases of these services.
const (
	DefaultBarbicanDatabaseName   = "barbican"
	DefaultBarbicanDatabaseSecret = "barbican-db"

	DefaultGlanceDatabaseName   = "glance"
	DefaultGlanceDatabaseSecret = "glance-db"

	DefaultPlacementDatabaseName   = "placement"
	DefaultPlacementDatabaseSecret = "placement-db"
)

// furtherServices are the services in addition to the Identity service. Defaults and rules
// loop over them.
var furtherServices = []furtherService{
	{
		name: "barbican", database: DefaultBarbicanDatabaseName, secret: DefaultBarbicanDatabaseSecret,
		of: func(cp *ControlPlane) *furtherSettings {
			barbican := cp.Spec.Services.Barbican
			if barbican == nil {
				return nil
			}
			return &furtherSettings{
				ServiceSpec: &barbican.ServiceSpec, database: &barbican.Database.Database, secret: &barbican.Database.SecretRef,
			}
		},
		api: barbicanAPI,
	},
	{
		name: "placement", database: DefaultPlacementDatabaseName, secret: DefaultPlacementDatabaseSecret,
		of: func(cp *ControlPlane) *furtherSettings {
			placement := cp.Spec.Services.Placement
			if placement == nil {
				return nil
			}
			return &furtherSettings{
				ServiceSpec: &placement.ServiceSpec, database: &placement.Database.Database, secret: &placement.Database.SecretRef,
			}
		},
		api: placementAPI,
	},
	{
		name: "glance", database: DefaultGlanceDatabaseName, secret: DefaultGlanceDatabaseSecret,
		of: func(cp *ControlPlane) *furtherSettings {
			glance := cp.Spec.Services.Glance
			if glance == nil {
				return nil
			}
			return &furtherSettings{
				ServiceSpec: &glance.ServiceSpec, database: &glance.Database.Database, secret: &glance.Database.SecretRef,
			}
		},
		api: glanceAPI,
	},
	{
		name: "horizon",
		of: func(cp *ControlPlane) *furtherSettings {
			if cp.Spec.Services.Horizon == nil {
				return nil
			}
			return &furtherSettings{ServiceSpec: &cp.Spec.Services.Horizon.ServiceSpec}
		},
	},
}

// furtherService is a service that needs the Identity service.
type furtherService struct {
	// name is its field in spec.services, and the second part of the names of its objects.
	name string
	// database and secret are the defaults of its database's name on the server of the control
	// plane and of the Secret with the credentials, "" for a service without a database.
	database, secret string
	// of returns what a control plane says about it, or nil if the control plane lacks it.
	of func(*ControlPlane) *furtherSettings
	// api returns the settings of its API. It is nil for a service without one.
	api func(*ControlPlane) *ServiceAPISpec
}

// furtherSettings are nil where the service has no database.
type furtherSettings struct {
	*ServiceSpec

	database *string
	secret   *commonv1.SecretRefSpec
}

func servicePath(name string) string { return "spec.services." + name }

func (s furtherService) path() string { return servicePath(s.name) }

func (s furtherService) setDefaults(cp *ControlPlane) {
	if settings := s.of(cp); settings != nil && s.database != "" {
		commonv1.SetIfZero(settings.database, s.database)
		commonv1.SetIfZero(&settings.secret.Name, s.secret)
	}
}
