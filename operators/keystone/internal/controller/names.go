package controller

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/service"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// definition describes the Keystone service.
var definition = service.Definition{
	Kind: keystonev1alpha1.Kind, Name: keystonev1alpha1.AppName, Port: keystonev1alpha1.APIPort, UserID: 42424, ConfigDir: configDir,
	// It lets Python import what travels with the configuration.
	Environment: []corev1.EnvVar{{Name: "PYTHONPATH", Value: configDir}},
}

// Paths inside the Keystone containers.
const (
	configDir         = "/etc/keystone/keystone.conf.d/"
	fernetKeysDir     = keystonev1alpha1.FernetKeyRepository
	credentialKeysDir = keystonev1alpha1.CredentialKeyRepository
	wsgiFile          = "/var/lib/openstack/bin/keystone-wsgi-public"
)

// Annotations that record what a pod was started with.
const (
	annotationAdminPasswordHash = "forge.c5c3.io/admin-password-hash" //nolint:gosec // The name of an annotation, not a password.
)

func fernetKeysName(k *keystonev1alpha1.Keystone) string {
	return keystonev1alpha1.FernetKeysName(k.Name)
}

func credentialKeysName(k *keystonev1alpha1.Keystone) string {
	return keystonev1alpha1.CredentialKeysName(k.Name)
}

// scheduledImage returns the image of CronJobs: that of the installed release until the
// database schema fits the wanted one. From phase Contracting on, the schema no longer
// fits the old release.
func scheduledImage(k *keystonev1alpha1.Keystone) string {
	tag := cmp.Or(k.Status.InstalledRelease, k.Spec.Image.Tag)
	if k.Status.UpgradePhase == keystonev1alpha1.UpgradePhaseContracting {
		tag = k.Status.TargetRelease
	}
	return k.Spec.Image.Repository + ":" + tag
}

// internalEndpoint returns the URL of the API inside the cluster.
func internalEndpoint(c cluster.Settings, k *keystonev1alpha1.Keystone) string {
	return keystonev1alpha1.InternalEndpoint(c, k.Namespace, k.Name)
}

// publicEndpoint returns the URL for users, as shown in status.endpoint and the catalog.
func publicEndpoint(c cluster.Settings, k *keystonev1alpha1.Keystone) string {
	switch {
	case k.Spec.Gateway == nil:
		return internalEndpoint(c, k)
	case k.Spec.Bootstrap.PublicEndpoint != "":
		return k.Spec.Bootstrap.PublicEndpoint
	}
	return keystonev1alpha1.GatewayEndpoint(k.Spec.Gateway.Hostname)
}
