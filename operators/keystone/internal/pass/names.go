package pass

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/release"
	"github.com/c5c3/forge/internal/common/scheduled"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// ConfigDir is the path of the configuration in the Keystone containers.
const ConfigDir = "/etc/keystone/keystone.conf.d/"

// Definition describes the Keystone service.
var Definition = service.Definition{
	Kind: keystonev1alpha1.Kind, CodeName: keystonev1alpha1.AppName, Port: keystonev1alpha1.APIPort, Path: keystonev1alpha1.APIPath,
	UserID: 42424, ConfigDir: ConfigDir,
	// It lets Python import what travels with the configuration.
	Environment: []corev1.EnvVar{{Name: "PYTHONPATH", Value: ConfigDir}},
	Application: service.Application{
		Distribution: "keystone", Script: "/var/lib/openstack/bin/keystone-wsgi-public", Module: "keystone.wsgi.api:application",
		Majors: release.Majors{First: release.Release{Year: 2022, Minor: 2}, Major: 22},
	},
}

// FernetKeysName returns the name of the Secret with the keys that sign tokens.
func FernetKeysName(k *keystonev1alpha1.Keystone) string {
	return keystonev1alpha1.FernetKeysName(k.Name)
}

// CredentialKeysName returns the name of the Secret with the keys that encrypt
// credentials.
func CredentialKeysName(k *keystonev1alpha1.Keystone) string {
	return keystonev1alpha1.CredentialKeysName(k.Name)
}

// AdminPasswordKey returns the key of the administrator's password in its Secret.
func AdminPasswordKey(k *keystonev1alpha1.Keystone) string {
	return k.Spec.Bootstrap.AdminPasswordSecretRef.KeyOr(commonv1.PasswordKey)
}

// ScheduledImage returns the image of CronJobs.
func ScheduledImage(k *keystonev1alpha1.Keystone) string {
	return scheduled.Image(&k.Spec.ServiceSpec, &k.Status.ServiceStatus)
}

// Manage returns a keystone-manage command line.
func Manage(arguments ...string) []string {
	return slices.Concat([]string{"keystone-manage", "--config-dir=" + ConfigDir}, arguments)
}

// InternalEndpoint returns the URL of the API inside the cluster.
func InternalEndpoint(c cluster.Settings, k *keystonev1alpha1.Keystone) string {
	return keystonev1alpha1.InternalEndpoint(c, k.Namespace, k.Name)
}

// PublicEndpoint returns the URL for users, as shown in status.endpoint and the catalog.
func PublicEndpoint(c cluster.Settings, k *keystonev1alpha1.Keystone) string {
	switch {
	case k.Spec.Gateway == nil:
		return InternalEndpoint(c, k)
	case k.Spec.Bootstrap.PublicEndpoint != "":
		return k.Spec.Bootstrap.PublicEndpoint
	}
	return keystonev1alpha1.GatewayEndpoint(k.Spec.Gateway)
}
