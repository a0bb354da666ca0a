package v1alpha1

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// SLURP reports whether upgrades of Barbican from one SLURP release to the next are supported:
// only those from one release to the next are tested, by the job barbican-grenade of
// https://opendev.org/openstack/barbican/src/branch/master/.zuul.yaml.
const SLURP = false

// APIPort is where the Service and the API pods of a Barbican listen.
const APIPort = 9311

// CatalogType is the type of the service in the catalog.
const CatalogType = "key-manager"

// Kind is the name of the kind of services.
const Kind = "Barbican"

// KindStore is the name of the kind of secret stores.
const KindStore = "BarbicanSecretStore"

// Values of app.kubernetes.io/name on the API pods and on the pods of Jobs.
const (
	AppName  = "barbican"
	TaskName = "barbican-task"
)

// KeySecret is what the name of the Secret with the key-encryption key has after that of the
// Barbican.
const KeySecret = "key-encryption-key"

// KeySecretName returns the name of the Secret with the key-encryption key.
func KeySecretName(name string) string { return name + "-" + KeySecret }

// Where the key-encryption key stands in the configuration of the plugin simple_crypto.
const (
	KeySection = "simple_crypto_plugin"
	KeyOption  = "kek"
)

// InternalEndpoint returns the URL of the API of a Barbican inside the cluster.
func InternalEndpoint(c cluster.Settings, namespace, name string) string {
	return fmt.Sprintf("http://%s:%d", c.ServiceHost(name, namespace), APIPort)
}

// GatewayEndpoint returns the URL of the API of a Barbican that a Gateway publishes.
func GatewayEndpoint(gateway *commonv1.GatewaySpec) string {
	return "https://" + gateway.Hostname + gateway.Prefix("")
}

// StorePath returns where the secret store keeps something of a Barbican or of its
// ControlPlane, relative to its mount, such as "openstack/barbican/tenant/cloud/db".
func StorePath(c cluster.Settings, namespace, name string, elements ...string) string {
	return c.StorePath(append([]string{"openstack", AppName, namespace, name}, elements...)...)
}

// SelectorLabels returns the labels that select the API pods of the Barbican with the
// given name and no other pod.
func SelectorLabels(name string) map[string]string {
	return map[string]string{"app.kubernetes.io/name": AppName, "app.kubernetes.io/instance": name}
}

// PodSelector returns what selects the pods of all Barbicans, those of Jobs among them,
// and no other pod.
func PodSelector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: "app.kubernetes.io/name", Operator: metav1.LabelSelectorOpIn, Values: []string{AppName, TaskName},
	}}}
}
