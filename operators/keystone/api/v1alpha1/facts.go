package v1alpha1

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// APIPort is where the Service and the API pods of a Keystone listen.
const APIPort = 5000

// InternalEndpoint returns the URL of the API of a Keystone inside the cluster.
func InternalEndpoint(c cluster.Settings, namespace, name string) string {
	return apiURL(c.ServiceHost(name, namespace))
}

// LocalEndpoint returns the URL of the API of a Keystone for pods of its cluster. It works whatever the domain of the cluster is.
func LocalEndpoint(namespace, name string) string {
	return apiURL(name + "." + namespace + ".svc")
}

func apiURL(host string) string { return fmt.Sprintf("http://%s:%d/v3", host, APIPort) }

// GatewayEndpoint returns the URL of the API of a Keystone that a Gateway publishes under
// a host name.
func GatewayEndpoint(hostname string) string { return "https://" + hostname + "/v3" }

// StorePath returns where the secret store keeps something of a Keystone or of its
// ControlPlane, relative to its mount, such as "openstack/keystone/tenant/cloud/db".
func StorePath(c cluster.Settings, namespace, name string, elements ...string) string {
	return c.StorePath(append([]string{"openstack", "keystone", namespace, name}, elements...)...)
}

// AdminPasswordPath returns where the secret store keeps the password of a Keystone's
// administrator, relative to its mount.
func AdminPasswordPath(c cluster.Settings, namespace, name string) string {
	return c.StorePath("bootstrap", namespace, name, "admin")
}

// FernetKeysName returns the name of the Secret with the token keys of a Keystone.
func FernetKeysName(name string) string { return name + "-fernet-keys" }

// CredentialKeysName returns the name of the Secret with the keys that encrypt the
// credentials of a Keystone.
func CredentialKeysName(name string) string { return name + "-credential-keys" }

// ClientsPolicyName returns the name of the NetworkPolicy with which another owner, in
// addition to the Keystone, admits more clients to the API of a Keystone that restricts
// access. It is deleted together with spec.networkPolicy: on its own it would isolate
// the API. The name contains a dot, which the name of a Keystone cannot.
func ClientsPolicyName(name string) string { return name + ".clients" }

// AsksForImageTag reports whether Ready says that the Keystone needs another image tag,
// or could go back to the previous one. Whoever derives the tag from another field can
// then name that field.
func (k *Keystone) AsksForImageTag() bool {
	ready := meta.FindStatusCondition(k.Status.Conditions, ConditionReady)
	return ready != nil && ready.Status != metav1.ConditionTrue && strings.Contains(ready.Message, commonv1.ImageTagField)
}

// WantedRelease returns the release that the spec asks for: the tag of the image.
func (k *Keystone) WantedRelease() string { return k.Spec.Image.Tag }

// InstalledRelease returns the release of the schema, "" before the first installation.
func (k *Keystone) InstalledRelease() string { return k.Status.InstalledRelease }

// TargetRelease returns the release of the upgrade in progress, "" when there is none.
func (k *Keystone) TargetRelease() string { return k.Status.TargetRelease }

// RefusesRollBack reports whether an upgrade was reverted too late: the schema has lost
// what the installed release uses.
func (k *Keystone) RefusesRollBack() bool {
	if k.Status.TargetRelease == "" || k.Spec.Image.Tag != k.Status.InstalledRelease {
		return false
	}
	database := meta.FindStatusCondition(k.Status.Conditions, ConditionDatabaseReady)
	return k.Status.UpgradePhase == UpgradePhaseContracting ||
		database != nil && database.Reason == ReasonUpgradeAbortRefused && database.ObservedGeneration == k.Generation
}

// RestrictsClients reports whether the Keystone has its own NetworkPolicy that restricts who reaches its API.
func (k *Keystone) RestrictsClients() bool { return k.Spec.NetworkPolicy != nil }
