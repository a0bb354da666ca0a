package v1alpha1

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// SLURP reports that upgrades of Glance from one SLURP release to the next are supported:
// they are tested for each of its changes, by the job grenade-skip-level of
// https://opendev.org/openstack/glance/src/branch/master/.zuul.yaml.
const SLURP = true

// APIPort is where the Service and the API pods of a Glance listen.
const APIPort = 9292

// CatalogType is the type of the service in the catalog.
const CatalogType = "image"

// Kind is the name of the kind of services.
const Kind = "Glance"

// KindBackend is the name of the kind of backends.
const KindBackend = "GlanceBackend"

// Values of app.kubernetes.io/name on the API pods and on the pods of Jobs.
const (
	AppName  = "glance"
	TaskName = "glance-task"
)

// InternalEndpoint returns the URL of the API of a Glance inside the cluster.
func InternalEndpoint(c cluster.Settings, namespace, name string) string {
	return fmt.Sprintf("http://%s:%d", c.ServiceHost(name, namespace), APIPort)
}

// GatewayEndpoint returns the URL of the API of a Glance that a Gateway publishes.
func GatewayEndpoint(gateway *commonv1.GatewaySpec) string {
	return "https://" + gateway.Hostname + gateway.Prefix("")
}

// StorePath returns where the secret store keeps something of a Glance or of its
// ControlPlane, relative to its mount, such as "openstack/glance/tenant/cloud/db".
func StorePath(c cluster.Settings, namespace, name string, elements ...string) string {
	return c.StorePath(append([]string{"openstack", AppName, namespace, name}, elements...)...)
}

// SelectorLabels returns the labels that select the API pods of the Glance with the
// given name and no other pod.
func SelectorLabels(name string) map[string]string {
	return map[string]string{"app.kubernetes.io/name": AppName, "app.kubernetes.io/instance": name}
}

// PodSelector returns what selects the pods of all Glances, those of Jobs among them,
// and no other pod.
func PodSelector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: "app.kubernetes.io/name", Operator: metav1.LabelSelectorOpIn, Values: []string{AppName, TaskName},
	}}}
}
