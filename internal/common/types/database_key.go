package types

import (
	"net"
	"strconv"
	"strings"

	"github.com/c5c3/forge/internal/common/cluster"
)

// Key tells databases apart: resources with the same key keep their data in the same
// tables. The names that the DNS of Kubernetes has for one Service count as one server, and
// so does the Service of a MariaDB. namespace is that of the resource. Example:
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
