package controller

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/keyring"
	"github.com/c5c3/forge/internal/common/kit"
	"github.com/c5c3/forge/internal/common/release"
	"github.com/c5c3/forge/internal/common/scheduled"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/serviceconfig"
	"github.com/c5c3/forge/internal/common/serviceuser"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
)

const (
	configDir = "/etc/barbican/barbican.conf.d/"
	// healthPath needs no token. The root of the API answers 300.
	healthPath = "/healthcheck"
)

// definition describes the Barbican service.
var definition = service.Definition{
	Kind: barbicanv1alpha1.Kind, CodeName: barbicanv1alpha1.AppName, CatalogType: barbicanv1alpha1.CatalogType,
	Port: barbicanv1alpha1.APIPort, UserID: 42424, ConfigDir: configDir,
	Environment: []corev1.EnvVar{{Name: "PYTHONPATH", Value: configDir}},
	Application: service.Application{
		Distribution: "barbican", Script: "/var/lib/openstack/bin/barbican-wsgi-api", Module: "barbican.wsgi.api:application",
		Majors: release.Majors{First: release.Release{Year: 2022, Minor: 2}, Major: 15},
	},
}

// barbicanDatabase declares the database of a Barbican.
var barbicanDatabase = database.Database{Section: "DATABASE"}

// barbicanSchema declares the schema of Barbican's database. Its migrations only add to it, so
// that the old release can serve on the schema of the next one, and there is no data to move.
var barbicanSchema = schema.Schema{
	Database: barbicanDatabase,
	Sync:     manage("db", "upgrade"),
	Check:    shell(checkScript),
	// The schema has another revision than the image.
	CheckResults: []int32{2},
	Login:        shell(loginScript),
	Reach:        shell(reachScript),
	Expand:       manage("db", "upgrade"),
	SLURP:        barbicanv1alpha1.SLURP,
	RunAgain:     barbicanv1alpha1.AnnotationRunAgain,
	First:        inspection.First,
}

// Alembic prints the revision of the database, with " (head)" if it is the one of the image,
// and nothing for a database without a schema. It fails for a revision that the image does not
// know, which does not matter where only the login does.
const (
	currentScript = "output=$(barbican-manage db current)\nprintf '%s\\n' \"$output\" >&2\n"
	reachScript   = currentScript + `printf '%s\n' "$output" | grep -Eq '^[0-9a-f]{12}'`
	checkScript   = currentScript + `case $output in *"(head)"*) ;; *) exit 2 ;; esac`
	loginScript   = `code=0
output=$(barbican-manage db current 2>&1) || code=$?
printf '%s\n' "$output" >&2
case $output in *"Can't locate revision"*) exit 0 ;; esac
[ "$code" -eq 0 ] && printf '%s\n' "$output" | grep -Eq '^[0-9a-f]{12}'`
)

// cleanUp is the CronJob that removes what was deleted.
var cleanUp = scheduled.CleanUp{
	What: "secrets", Database: barbicanDatabase,
	Command: func(days string) []string {
		return manage("db", "clean", "--min-days", days, "--clean-unassociated-projects")
	},
}

// steps are those that every service has.
var steps = kit.Steps[*scope]{Schema: barbicanSchema}

func manage(arguments ...string) []string { return append([]string{"barbican-manage"}, arguments...) }

func shell(script string) []string { return []string{"/bin/sh", "-eu", "-c", script} }

// settings declares the configuration of a Barbican.
var settings = serviceconfig.Settings[*scope]{
	File:    "barbican.conf",
	Options: defaultOptions,
	Parts:   []serviceconfig.Part{serviceuser.Configuration, stores.Part()},
	Files:   files,
	Refused: barbicanv1alpha1.CheckSecretOptions,
	Check: serviceconfig.Check{Lists: []string{
		"barbican.common.config:list_opts", "barbican.plugin.crypto.manager:list_opts", "barbican.plugin.crypto.p11_crypto:list_opts",
		"barbican.plugin.crypto.simple_crypto:list_opts", "barbican.plugin.interface.secret_store:list_opts",
		"barbican.plugin.vault_secret_store:list_opts", "oslo_db.opts:list_opts", "oslo_policy.opts:list_opts",
		"oslo_middleware.opts:list_opts",
	}},
}

func files(s *scope) (map[string]string, error) {
	all := map[string]string{
		deployment.ReadyFile: api.ReadyScript(s.Definition), database.StartFile: barbicanDatabase.StartScript(s.Pass, corrections),
		keyCheckFile: keyCheckScript, vaultModule + ".py": vaultScript, storesModule + ".py": storesScript,
	}
	for _, a := range stores.Accepted.Value(s.Slots) {
		if bundle := a.Resource.Spec.Vault.CABundle; bundle != "" {
			all[vaultCA] = bundle
		}
	}
	return all, nil
}

// api declares the API pods of a Barbican.
var api = withStores(steps.Pods(deployment.API[*scope]{
	HealthPath: healthPath,
	Table:      "projects",
	Tables: []string{
		"container_acl_users", "container_acls", "container_consumer_metadata", "container_secret", "containers", "encrypted_data",
		"kek_data", "order_barbican_metadata", "order_plugin_metadata", "order_retry_tasks", "orders", "project_quotas", "projects",
		"secret_acl_users", "secret_acls", "secret_consumer_metadata", "secret_store_metadata", "secret_user_metadata", "secrets",
	},
	Endpoint: endpoint,
	Options: func(s *scope) []corev1.VolumeProjection {
		return []corev1.VolumeProjection{format.Projection(keys.Of(s.Pass))}
	},
	Annotations: func(s *scope) map[string]string { return keyring.Annotations(s.Pass) },
}))

// withStores replaces the pods when the secret stores change.
func withStores(api deployment.API[*scope]) deployment.API[*scope] {
	api.Backing.Annotations = stores.Annotate(api.Backing.Annotations)
	return api
}
