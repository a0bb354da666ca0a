package types

import (
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/c5c3/forge/internal/common/cluster"
)

// AnnotationDatabase on an object that must not outlive a database or must not be lost as
// long as there is one is the [DatabaseIdentity] of that database.
const AnnotationDatabase = "forge.c5c3.io/database"

// DatabaseIdentity identifies a database, whatever the kind and the namespace of the
// resource whose spec names it.
//
// +kubebuilder:object:generate=false
type DatabaseIdentity struct {
	// server is the name of a MariaDB with its namespace, such as "mariadb.openstack", or
	// the address of another server. alias is the Service that the spec names if it may be
	// one of that MariaDB, or the main one of a MariaDB with that longer name.
	server, alias string
	// namespace is that of the Service, "" if the server is not known to be one.
	namespace string
	// port is 0 for the MariaDB of a clusterRef: it is one server, whatever the port.
	port     int32
	database string
}

// serviceSuffixes are what mariadb-operator appends to the name of a MariaDB for its
// further Services, and for those of its MaxScale.
var serviceSuffixes = []string{"-internal", "-primary", "-secondary", "-maxscale"}

// member matches the name of a server of a MariaDB, which is that of a Pod.
var member = regexp.MustCompile(`^(.+)-[0-9]+$`)

// Identity identifies the database. namespace is that of the resource.
func (d DatabaseSpec) Identity(in cluster.Settings, namespace string) DatabaseIdentity {
	if d.IsManaged() {
		return DatabaseIdentity{server: d.ClusterRef.Name + "." + namespace, namespace: namespace, database: d.Database}
	}
	host := strings.TrimSuffix(strings.ToLower(strings.Trim(d.Host, "[]")), ".")
	i := DatabaseIdentity{server: host, port: d.PortOrDefault(), database: d.Database}
	if address, err := netip.ParseAddr(host); err == nil {
		i.server = address.Unmap().String()
		return i
	}
	name, of, found := serviceOf(in, host, namespace)
	if !found {
		return i
	}
	i.server, i.namespace = name+"."+of, of
	if shorter := mariaDBOf(name); shorter != name {
		i.alias, i.server = i.server, shorter+"."+of
	}
	return i
}

// serviceOf returns the Service that a name in DNS stands for in the namespace.
func serviceOf(in cluster.Settings, host, namespace string) (name, of string, found bool) {
	short, full := strings.CutSuffix(in.TrimDomain(host), ".svc")
	labels := strings.Split(short, ".")
	switch len(labels) {
	case 1:
		return short, namespace, true
	case 2:
		return labels[0], labels[1], true
	case 3:
		pod := member.FindStringSubmatch(labels[0])
		if full && pod != nil && pod[1] == mariaDBOf(labels[1]) {
			return labels[1], labels[2], true
		}
	}
	return "", "", false
}

// mariaDBOf returns the name of the MariaDB that has the Service.
func mariaDBOf(service string) string {
	for _, suffix := range serviceSuffixes {
		if name, has := strings.CutSuffix(service, suffix); has && name != "" {
			service = name
		}
	}
	return service
}

// String returns what the identity is known by in annotations and messages. Examples:
// "mariadb.openstack/keystone", "db.example.com:3306/keystone".
func (i DatabaseIdentity) String() string {
	if i.port == 0 {
		return i.server + "/" + i.database
	}
	return net.JoinHostPort(i.server, strconv.Itoa(int(i.port))) + "/" + i.database
}

// ParseDatabaseIdentity is the reverse of String; ok is false for any other text.
func ParseDatabaseIdentity(text string) (i DatabaseIdentity, ok bool) {
	server, database, found := strings.Cut(text, "/")
	if !found || server == "" || database == "" {
		return DatabaseIdentity{}, false
	}
	host, port, err := net.SplitHostPort(server)
	if err != nil {
		return DatabaseIdentity{server: server, database: database}, true
	}
	number, err := strconv.ParseInt(port, 10, 32)
	return DatabaseIdentity{server: host, port: int32(number), database: database}, err == nil
}

// Keys are values for an index: databases that are the same have one in common.
func (i DatabaseIdentity) Keys() []string {
	keys := []string{i.server + "/" + i.database}
	if i.alias != "" {
		keys = append(keys, i.alias+"/"+i.database)
	}
	return keys
}

// Same reports whether both are the same database. All names in DNS of one Service, and
// the Services of one MariaDB, are the same server.
func (i DatabaseIdentity) Same(other DatabaseIdentity) bool {
	if i.port != other.port && i.port != 0 && other.port != 0 {
		return false
	}
	return slices.ContainsFunc(i.Keys(), func(key string) bool { return slices.Contains(other.Keys(), key) })
}

// IsAtHome reports whether the server is a Service of the namespace.
func (i DatabaseIdentity) IsAtHome(namespace string) bool {
	return i.namespace != "" && i.namespace == namespace
}
