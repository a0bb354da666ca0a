package controller

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/kit"
	"github.com/c5c3/forge/internal/common/release"
	"github.com/c5c3/forge/internal/common/scheduled"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/serviceconfig"
	"github.com/c5c3/forge/internal/common/serviceuser"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
)

const configDir = "/etc/glance/glance.conf.d/"

// definition describes the Glance service.
var definition = service.Definition{
	Kind: glancev1alpha1.Kind, CodeName: glancev1alpha1.AppName, CatalogType: glancev1alpha1.CatalogType,
	Port: glancev1alpha1.APIPort, UserID: 42424, ConfigDir: configDir,
	Environment: []corev1.EnvVar{{Name: "PYTHONPATH", Value: configDir}},
	Application: service.Application{
		Distribution: "glance", Script: "/var/lib/openstack/bin/glance-wsgi-api", Module: "glance.wsgi.api:application",
		Majors: release.Majors{First: release.Release{Year: 2022, Minor: 2}, Major: 25},
	},
	LargeBodies: true,
}

// glanceDatabase declares the database of a Glance.
var glanceDatabase = database.Database{Section: "DATABASE"}

// glanceSchema declares the schema of Glance's database. The definitions of metadata are loaded
// with the schema; those that exist stay as they are.
var glanceSchema = schema.Schema{
	Database: glanceDatabase,
	Sync:     shell("glance-manage db sync && exec glance-manage db load_metadefs"),
	// The exit codes 3 to 5 say which phase of an upgrade is missing
	// (https://docs.openstack.org/glance/latest/cli/glancemanage.html).
	Check:        manage("check"),
	CheckResults: []int32{3, 4, 5},
	Login:        shell(`version=$(glance-manage db version); echo "the schema has revision $version" >&2; [ -n "$version" ]`),
	Expand:       manage("expand"),
	Migrate:      manage("migrate"),
	Contract:     manage("contract"),
	SLURP:        glancev1alpha1.SLURP,
	SyncMigrates: true,
	RunAgain:     glancev1alpha1.AnnotationRunAgain,
}

// cleanUp is the CronJob that removes what was deleted. It leaves the table of images as it is,
// since nobody may create an image with the identifier of a deleted one
// (https://wiki.openstack.org/wiki/OSSN/OSSN-0075).
var cleanUp = scheduled.CleanUp{
	What: "images", Database: glanceDatabase,
	Command: func(days string) []string { return append(manage("purge"), "--age_in_days", days, "--max_rows", "-1") },
}

// steps are those that every service has.
var steps = kit.Steps[*scope]{Schema: glanceSchema}

func manage(command string) []string { return []string{"glance-manage", "db", command} }

func shell(script string) []string { return []string{"/bin/sh", "-eu", "-c", script} }

// settings declares the configuration of a Glance.
var settings = serviceconfig.Settings[*scope]{
	File:    "glance.conf",
	Options: defaultOptions,
	Parts:   []serviceconfig.Part{serviceuser.Configuration, backends.Part()},
	Files: func(s *scope) (map[string]string, error) {
		return map[string]string{
			deployment.ReadyFile: api.ReadyScript(s.Definition),
			database.StartFile:   glanceDatabase.StartScript(s.Pass, database.Modules{Corrections: map[string]string{s3Driver: storesModule}}),
			pasteFile:            pastePipeline, storesModule + ".py": storesScript,
		}, nil
	},
	Check: serviceconfig.Check{Lists: []string{"glance.opts:list_api_opts", "glance.opts:list_image_import_opts"}},
}

// api declares the API pods of a Glance.
var api = withBackends(steps.Pods(deployment.API[*scope]{
	HealthPath: healthPath,
	Table:      "images",
	Tables:     []string{"image_locations", "image_members", "image_properties", "image_tags", "images", "tasks"},
	Endpoint:   endpoint,
	Mounts:     mounts,
}))

// withBackends replaces the pods when the backends change.
func withBackends(api deployment.API[*scope]) deployment.API[*scope] {
	api.Backing.Annotations = backends.Annotate(api.Backing.Annotations)
	return api
}
