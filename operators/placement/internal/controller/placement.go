package controller

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/kit"
	"github.com/c5c3/forge/internal/common/release"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/serviceconfig"
	"github.com/c5c3/forge/internal/common/serviceuser"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

const configDir = "/etc/placement/placement.conf.d/"

// definition describes the Placement service.
var definition = service.Definition{
	Kind: placementv1alpha1.Kind, CodeName: placementv1alpha1.AppName, CatalogType: placementv1alpha1.CatalogType,
	Port: placementv1alpha1.APIPort, UserID: 42424, ConfigDir: configDir,
	Environment: []corev1.EnvVar{{Name: "PYTHONPATH", Value: configDir}},
	Application: service.Application{
		Distribution: "openstack-placement", Script: "/var/lib/openstack/bin/placement-api", Module: "placement.wsgi.api:application",
		Majors: release.Majors{First: release.Release{Year: 2022, Minor: 2}, Major: 8},
	},
}

// placementDatabase declares the database of a Placement.
var placementDatabase = database.Database{Section: "PLACEMENT_DATABASE"}

// placementSchema declares the schema of Placement's database. Its migrations only add to
// it, so the old release can serve on the schema of the next one. Data is migrated again
// once no pod of the old release writes any more.
var placementSchema = schema.Schema{
	Database: placementDatabase,
	Sync:     manage("sync"),
	// Exit code 1 means warnings, which are only advice
	// (https://docs.openstack.org/oslo.upgradecheck/latest/user/usage.html).
	Check:        shell(`code=0; placement-status upgrade check || code=$?; [ "$code" -eq 1 ] || exit "$code"`),
	CheckResults: []int32{2},
	Login:        shell(`version=$(placement-manage db version); echo "the schema has revision $version" >&2; [ "$version" != None ]`),
	Expand:       manage("sync"),
	Migrate:      manage("online_data_migrations"),
	Contract:     manage("online_data_migrations"),
	SLURP:        placementv1alpha1.SLURP,
	RunAgain:     placementv1alpha1.AnnotationRunAgain,
}

// steps are those that every service has.
var steps = kit.Steps[*scope]{Schema: placementSchema}

func manage(command string) []string { return []string{"placement-manage", "db", command} }

func shell(script string) []string { return []string{"/bin/sh", "-eu", "-c", script} }

// settings declares the configuration of a Placement.
var settings = serviceconfig.Settings[*scope]{
	File:    "placement.conf",
	Options: defaultOptions,
	Parts:   []serviceconfig.Part{serviceuser.Configuration},
	Files: func(s *scope) (map[string]string, error) {
		return map[string]string{
			deployment.ReadyFile: api.ReadyScript(s.Definition), database.StartFile: placementDatabase.StartScript(s.Pass, database.Modules{}),
		}, nil
	},
	Check: serviceconfig.Check{Register: "placement.conf:register_opts"},
}

// api declares the API pods of a Placement. The WSGI application has no arguments.
var api = steps.Pods(deployment.API[*scope]{
	HealthPath: "/",
	Table:      "resource_providers",
	Tables: []string{
		"allocations", "consumers", "inventories", "projects", "resource_classes", "resource_provider_aggregates",
		"resource_provider_traits", "resource_providers", "traits", "users",
	},
	Endpoint: endpoint,
})
