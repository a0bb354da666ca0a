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
	// the address of another server. The name of a Service may be that of several MariaDBs
	// with one of their suffixes: aliases are the others, separated by spaces.
	server, aliases string
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
	if address, is := addressOf(host); is {
		i.server = address.Unmap().String()
		return i
	}
	in.Domain = strings.ToLower(in.Domain)
	readings := servicesOf(in, host, namespace)
	if len(readings) == 0 {
		return i
	}
	var names []string
	for _, r := range slices.Backward(readings) {
		for _, name := range mariaDBsOf(r.name) {
			names = append(names, name+"."+r.namespace)
		}
	}
	last := len(names) - 1
	i.server, i.aliases, i.namespace = names[last], strings.Join(names[:last], " "), readings[0].namespace
	return i
}

// namedService is the name of a Service, with its namespace.
type namedService struct{ name, namespace string }

// servicesOf returns the Services that a name in DNS may stand for in the namespace, the
// most likely one first, none for a name outside the cluster. The resolver of a pod
// completes short names with the namespace, "svc" and the domain, in this order.
func servicesOf(in cluster.Settings, host, namespace string) []namedService {
	short, full := strings.CutSuffix(in.TrimDomain(host), ".svc")
	labels := strings.Split(short, ".")
	switch {
	case len(labels) == 1 && full:
		return []namedService{{labels[0], "svc"}}
	case len(labels) == 1:
		return []namedService{{labels[0], namespace}}
	case len(labels) == 2 && !full && isMember(labels[0], labels[1]):
		return []namedService{{labels[1], namespace}, {labels[0], labels[1]}}
	case len(labels) == 2:
		return []namedService{{labels[0], labels[1]}}
	case len(labels) == 3 && isMember(labels[0], labels[1]):
		return []namedService{{labels[1], labels[2]}}
	}
	return nil
}

// isMember reports whether a Pod is a server of a MariaDB that has the Service.
func isMember(pod, service string) bool {
	server := member.FindStringSubmatch(pod)
	return server != nil && service != server[1] && slices.Contains(mariaDBsOf(service), server[1])
}

// mariaDBsOf returns the names of the MariaDBs that may have the Service, the shortest
// last.
func mariaDBsOf(service string) []string {
	names := []string{service}
	for _, suffix := range serviceSuffixes {
		if name, has := strings.CutSuffix(names[len(names)-1], suffix); has && name != "" {
			names = append(names, name)
		}
	}
	return names
}

// addressPart matches a part of an IPv4 address as the resolver takes it: decimal, octal with a
// leading zero, or hexadecimal.
var addressPart = regexp.MustCompile(`^(0x[0-9a-f]+|[0-9]+)$`)

// addressOf parses an address in every form that the resolver takes, such as 10.0.0.1,
// 10.1 and 167772161 for the same one. No Service has such a name.
func addressOf(host string) (netip.Addr, bool) {
	if address, err := netip.ParseAddr(host); err == nil {
		return address, true
	}
	parts := strings.Split(host, ".")
	var value uint32
	for i, part := range parts {
		// The last part stands for all bytes that are left.
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (4 - i)
		}
		parsed, err := strconv.ParseUint(part, 0, max(bits, 1))
		if i > 3 || err != nil || !addressPart.MatchString(part) {
			return netip.Addr{}, false
		}
		value = value<<bits | uint32(parsed)
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

// String returns what the identity is known by in annotations and messages. Examples:
// "mariadb.openstack/nova", "db.example.com:3306/nova".
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
	keys := append([]string{i.server}, strings.Fields(i.aliases)...)
	for n := range keys {
		keys[n] += "/" + i.database
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
