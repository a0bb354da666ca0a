package types

import (
	"net"
	"strconv"
	"strings"

	"github.com/c5c3/forge/internal/common/cluster"
)

// Key identifies a database: resources with the same key store their data in the same
// tables. All DNS names of one Service, and the MariaDB with that Service, count as the
// same server. namespace is that of the resource. Example:
// "mariadb.openstack:3306/keystone".
func (d DatabaseSpec) Key(in cluster.Settings, namespace string) string {
	server := strings.TrimSuffix(strings.ToLower(d.Host), ".")
	if d.IsManaged() {
		server = d.ClusterRef.Name
	}
	server = strings.TrimSuffix(in.TrimDomain(server), ".svc")
	if !strings.ContainsAny(server, ".:") {
		server += "." + namespace
	}
	return net.JoinHostPort(server, strconv.Itoa(int(d.PortOrDefault()))) + "/" + d.Database
}
