// Package cluster holds what an operator has to be told of its cluster, because no
// API says it.
package cluster

import (
	"cmp"
	"slices"
	"strings"
)

// Settings are those of one cluster. The zero value is right for a cluster with
// a secret store of its own and the default domain.
type Settings struct {
	// Name comes before every path in the secret store, so that several clusters
	// can use one store; empty means that nothing does.
	Name string
	// Domain is the DNS domain of the cluster's Services; empty means [DefaultDomain].
	Domain string
}

// DefaultDomain is the DNS domain of a cluster in which nobody has changed it. See
// https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/.
const DefaultDomain = "cluster.local"

// StorePath returns the path of elements in the secret store, relative to its
// mount. Example: "east/openstack/keystone/openstack/keystone/fernet-keys".
func (s Settings) StorePath(elements ...string) string {
	if s.Name != "" {
		elements = slices.Insert(elements, 0, s.Name)
	}
	return strings.Join(elements, "/")
}

// ServiceHost returns the full DNS name of a Service. Example:
// "keystone.openstack.svc.cluster.local".
func (s Settings) ServiceHost(name, namespace string) string {
	return name + "." + namespace + ".svc." + s.domain()
}

// TrimDomain returns the host name without the domain of the cluster.
func (s Settings) TrimDomain(host string) string {
	return strings.TrimSuffix(host, "."+s.domain())
}

func (s Settings) domain() string { return cmp.Or(s.Domain, DefaultDomain) }
