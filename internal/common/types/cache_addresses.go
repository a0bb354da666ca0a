package types

import (
	"fmt"

	"github.com/c5c3/forge/internal/common/cluster"
)

// Addresses returns the memcached servers as host or host:port. A managed one is fully
// qualified, so that it resolves with any search domains. namespace is that of the resource.
func (c CacheSpec) Addresses(in cluster.Settings, namespace string) []string {
	if c.IsManaged() {
		return []string{fmt.Sprintf("%s:%d", in.ServiceHost(c.ClusterRef.Name, namespace), DefaultCachePort)}
	}
	return c.Servers
}
