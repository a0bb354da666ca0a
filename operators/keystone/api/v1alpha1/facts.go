package v1alpha1

import (
	"fmt"

	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// SLURP reports that upgrades of Keystone from one SLURP release to the next are supported:
// they are tested for each of its changes, by the job grenade-skip-level of
// https://opendev.org/openstack/keystone/src/branch/master/.zuul.yaml.
const SLURP = true

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

func apiURL(host string) string { return fmt.Sprintf("http://%s:%d%s", host, APIPort, APIPath) }

// APIPath is where the API begins.
const APIPath = "/v3"

// GatewayEndpoint returns the URL of the API of a Keystone that a Gateway publishes.
func GatewayEndpoint(gateway *commonv1.GatewaySpec) string {
	return "https://" + gateway.Hostname + gateway.Prefix(APIPath) + APIPath
}

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
