// Package cluster holds the settings of a cluster that no API reveals.
package cluster

import (
	"cmp"
	"slices"
	"strings"
)

// Settings are the settings of one cluster. The zero value suits a cluster that
// has the default domain and does not share its secret store.
type Settings struct {
	// Name prefixes every path in the secret store, so that several clusters
	// can share a store; empty means no prefix.
	Name string
	// Domain is the DNS domain of the cluster's Services; empty means [DefaultDomain].
	Domain string
}

// DefaultDomain is the DNS domain of a cluster unless it is configured
// differently. See
// https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/.
const DefaultDomain = "cluster.local"

// StorePath joins the elements to a path in the secret store, relative to its
// mount. Example: "east/openstack/placement/tenant/cloud/db".
func (s Settings) StorePath(elements ...string) string {
	if s.Name != "" {
		elements = slices.Insert(elements, 0, s.Name)
	}
	return strings.Join(elements, "/")
}

// ServiceHost returns the full DNS name of a Service. Example:
// "placement.openstack.svc.cluster.local".
func (s Settings) ServiceHost(name, namespace string) string {
	return name + "." + namespace + ".svc." + s.domain()
}

// TrimDomain returns the host name without the domain of the cluster.
func (s Settings) TrimDomain(host string) string {
	return strings.TrimSuffix(host, "."+s.domain())
}

func (s Settings) domain() string { return cmp.Or(s.Domain, DefaultDomain) }
