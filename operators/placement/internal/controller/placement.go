package controller

import (
	"context"
	_ "embed"
	"fmt"
	"net/url"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/configuration"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

const configDir = "/etc/placement/placement.conf.d/"

// serviceUserFile is a Python file that is shipped with the configuration and imported
// from its directory.
const serviceUserFile = "service_user.py"

//go:embed files/service_user.py
var serviceUserScript string

// definition describes the Placement service.
var definition = service.Definition{
	Kind: placementv1alpha1.Kind, Name: placementv1alpha1.AppName, Port: placementv1alpha1.APIPort,
	UserID: 42424, ConfigDir: configDir,
	Environment: []corev1.EnvVar{{Name: "PYTHONPATH", Value: configDir}},
	EgressPorts: func(resource service.Resource) []int32 { return []int32{identityPort(resource)} },
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
	RunAgain:     placementv1alpha1.AnnotationRunAgain,
}

func manage(command string) []string { return []string{"placement-manage", "db", command} }

func shell(script string) []string { return []string{"/bin/sh", "-eu", "-c", script} }

// settings declares the configuration of a Placement.
var settings = configuration.Service{
	File:          "placement.conf",
	Options:       defaultOptions,
	SecretOptions: readUser,
	Files: func(p *service.Pass) (map[string]string, error) {
		return map[string]string{
			deployment.ReadyFile: api.ReadyScript(p.Definition), serviceUserFile: serviceUserScript,
			database.StartFile: placementDatabase.StartScript(p),
		}, nil
	},
	Check: configuration.Check{
		Register: "placement.conf:register_opts",
		Lists:    []string{"keystonemiddleware.auth_token._opts:list_opts"},
	},
}

// api declares the API pods of a Placement. The WSGI application has no arguments.
var api = deployment.API{
	File:       "/var/lib/openstack/bin/placement-api",
	HealthPath: "/",
	Variable:   placementDatabase.Variable(),
	Endpoint:   endpoint,
	Address:    database.Address,
	Env:        func(p *service.Pass) []corev1.EnvVar { return []corev1.EnvVar{placementDatabase.APIEnv(p)} },
	Mounts:     database.TLSMounts,
	Annotations: func(p *service.Pass) map[string]string {
		return map[string]string{database.HashAnnotation(p.Definition): database.Connection.Value(p.Slots).Hash()}
	},
	Prune:    configuration.Prune,
	Complete: placementSchema.CompleteRollout,
}

func internalEndpoint(p *service.Pass) string {
	return placementv1alpha1.InternalEndpoint(p.Cluster, p.Resource.GetNamespace(), p.Resource.GetName())
}

// endpoint returns the URL for users.
func endpoint(p *service.Pass) string {
	if p.Spec.Gateway != nil {
		return placementv1alpha1.GatewayEndpoint(p.Spec.Gateway.Hostname)
	}
	return internalEndpoint(p)
}

// placementOf returns the Placement of the pass.
func placementOf(resource service.Resource) *placementv1alpha1.Placement {
	placement, _ := resource.(*placementv1alpha1.Placement)
	return placement
}

// identityPort returns the TCP port of the Identity service.
func identityPort(resource service.Resource) int32 {
	// Validation has rejected anything that is not a URL.
	address, err := url.Parse(placementOf(resource).Spec.Identity.AuthURL)
	if err == nil {
		if port, err := strconv.ParseInt(address.Port(), 10, 32); err == nil {
			return int32(port)
		}
		if address.Scheme == "https" {
			return 443
		}
	}
	return 80
}

// readUser returns the name and password of the service user from its Secret.
func readUser(ctx context.Context, p *service.Pass) (config.INI, []types.UID, error) {
	ref := placementOf(p.Resource).Spec.ServiceUserSecretRef
	key := ref.KeyOr("password")
	found, err := service.RequireSecrets(ctx, p, service.Requirement{
		Name: ref.Name, Keys: []string{"username", key},
		Field: "spec.serviceUserSecretRef", Reason: placementv1alpha1.ReasonWaitingForServiceUser,
	})
	if err != nil {
		return nil, nil, err
	}
	secret := found[0]
	options := authOptions(string(secret.Data["username"]), string(secret.Data[key]))
	// The name is not secret, and often is that of the service itself.
	p.Hide(string(secret.Data[key]), options[authSection]["password"])
	for option, value := range options[authSection] {
		if err := config.ValidateValue(value); err != nil {
			return nil, nil, reconcile.TerminalError(vocabulary.ReasonSecretInvalid, fmt.Errorf(
				"the %s in Secret %s of spec.serviceUserSecretRef cannot be used: %w", option, ref.Name, err))
		}
	}
	return options, []types.UID{secret.UID}, nil
}
