package apitest

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// serviceViolation is a [Violation] of the fields that the kinds of all API
// services share.
type serviceViolation struct {
	Name               string
	Change             func(*commonv1.ServiceSpec)
	Path, Message      string
	Schema, SchemaPath string
}

func (s Service[T]) convert(rows []serviceViolation) []Violation[T] {
	all := make([]Violation[T], 0, len(rows))
	for _, row := range rows {
		all = append(all, Violation[T]{
			Name: row.Name, Change: s.changing(row.Change), Path: row.Path, Message: row.Message, Schema: row.Schema, SchemaPath: row.SchemaPath,
		})
	}
	return all
}

// serviceUpdates are changes of a stored object that must be refused.
var serviceUpdates = []serviceViolation{
	{
		Name: "database name", Change: func(s *commonv1.ServiceSpec) { s.Database.Database = "other" },
		Path: "spec.database.database", Message: "database name is immutable",
	},
	{
		Name: "database mode", Change: func(s *commonv1.ServiceSpec) {
			s.Database.Host, s.Database.ClusterRef = "", &corev1.LocalObjectReference{Name: "mariadb"}
		},
		Path: "spec.database", Message: "database mode (managed clusterRef vs brownfield host) is immutable",
	},
}

// backingViolations concern the image, the database and the cache.
var backingViolations = []serviceViolation{
	{
		"negative replicas", func(s *commonv1.ServiceSpec) { s.Replicas = -1 },
		"spec.replicas", "replicas must be at least 1", TooSmall, "",
	},
	{
		"no image name", func(s *commonv1.ServiceSpec) { s.Image.Repository = "" },
		"spec.image.repository", "Required value", TooShort, "",
	},
	{
		"an image name with a tag", func(s *commonv1.ServiceSpec) { s.Image.Repository = "example.com/service:2025.2" },
		"spec.image.repository", "must be an image name without a tag", NoMatch, "",
	},
	{
		"an image name in upper case", func(s *commonv1.ServiceSpec) { s.Image.Repository = "example.com/Service" },
		"spec.image.repository", "must be an image name without a tag", NoMatch, "",
	},
	{
		"no image tag", func(s *commonv1.ServiceSpec) { s.Image.Tag = "" },
		"spec.image.tag", "Required value", NoMatch, "",
	},
	{
		"an image digest of another kind", func(s *commonv1.ServiceSpec) { s.Image.Digest = "sha1:0123" },
		"spec.image.digest", "must be sha256: and 64 hexadecimal digits", NoMatch, "",
	},
	{
		"an image tag with a slash", func(s *commonv1.ServiceSpec) { s.Image.Tag = "2025/2" },
		"spec.image.tag", "must be at most 128", NoMatch, "",
	},
	{
		"a database in both modes", func(s *commonv1.ServiceSpec) { s.Database.ClusterRef = &corev1.LocalObjectReference{Name: "mariadb"} },
		"spec.database", "exactly one of clusterRef or host must be set", "exactly one of clusterRef or host must be set", "",
	},
	{
		"a database in no mode", func(s *commonv1.ServiceSpec) { s.Database.Host = "" },
		"spec.database", "exactly one of clusterRef or host must be set", "exactly one of clusterRef or host must be set", "",
	},
	{
		"a database cluster without a name", func(s *commonv1.ServiceSpec) {
			s.Database.Host = ""
			s.Database.ClusterRef = &corev1.LocalObjectReference{}
		},
		"spec.database.clusterRef.name", "clusterRef.name must not be empty", "clusterRef.name must not be empty", "spec.database",
	},
	{
		"a database host with credentials", func(s *commonv1.ServiceSpec) { s.Database.Host = "user:secret@db" },
		"spec.database.host", "must be a host name or an IP address", NoMatch, "",
	},
	{
		"a database host with a port", func(s *commonv1.ServiceSpec) { s.Database.Host = "db:3306" },
		"spec.database.host", "must be a host name or an IP address", NoMatch, "",
	},
	{
		"a database port out of range", func(s *commonv1.ServiceSpec) { s.Database.Port = 65536 },
		"spec.database.port", "must be between 1 and 65535", TooLarge, "",
	},
	{
		"no database name", func(s *commonv1.ServiceSpec) { s.Database.Database = "" },
		"spec.database.database", "Required value", TooShort, "",
	},
	{
		"a database name with a dash", func(s *commonv1.ServiceSpec) { s.Database.Database = "a-database" },
		"spec.database.database", "must be 1 to 64 letters, digits and '_'", NoMatch, "",
	},
	{
		"a database name that is too long", func(s *commonv1.ServiceSpec) { s.Database.Database = strings.Repeat("d", 65) },
		"spec.database.database", "must be 1 to 64 letters, digits and '_'", "Too long", "",
	},
	{
		"no database Secret", func(s *commonv1.ServiceSpec) { s.Database.SecretRef.Name = "" },
		"spec.database.secretRef.name", "Required value", TooShort, "",
	},
	{
		"a database Secret that cannot exist", func(s *commonv1.ServiceSpec) { s.Database.SecretRef.Name = "Service_DB" },
		"spec.database.secretRef.name", "RFC 1123 subdomain", NoMatch, "",
	},
	{
		"a key no Secret can have", func(s *commonv1.ServiceSpec) { s.Database.SecretRef.Key = "pass word" },
		"spec.database.secretRef.key", "a valid config key must consist of", NoMatch, "",
	},
	{
		"an unknown database TLS mode", func(s *commonv1.ServiceSpec) { s.Database.TLS = &commonv1.DatabaseTLSSpec{Mode: "disable"} },
		"spec.database.tls.mode", "Unsupported value", "Unsupported value", "",
	},
	{
		"database TLS without a CA", func(s *commonv1.ServiceSpec) {
			s.Database.TLS = &commonv1.DatabaseTLSSpec{Enabled: true, ClientCertSecretRef: &commonv1.SecretRefSpec{Name: "client"}}
		},
		"spec.database.tls.caBundleSecretRef", "caBundleSecretRef is required when tls is enabled",
		"caBundleSecretRef is required when tls is enabled", "spec.database.tls",
	},
	{
		"database TLS without a client certificate", func(s *commonv1.ServiceSpec) {
			s.Database.TLS = &commonv1.DatabaseTLSSpec{Enabled: true, CABundleSecretRef: &commonv1.SecretRefSpec{Name: "ca"}}
		},
		"spec.database.tls.clientCertSecretRef", "clientCertSecretRef is required when tls is enabled",
		"clientCertSecretRef is required when tls is enabled", "spec.database.tls",
	},
	{
		"a cache in both modes", func(s *commonv1.ServiceSpec) { s.Cache.ClusterRef = &corev1.LocalObjectReference{Name: "memcached"} },
		"spec.cache", "exactly one of clusterRef or servers must be set", "exactly one of clusterRef or servers must be set", "",
	},
	{
		"a cache in no mode", func(s *commonv1.ServiceSpec) { s.Cache.Servers = nil },
		"spec.cache", "exactly one of clusterRef or servers must be set", "exactly one of clusterRef or servers must be set", "",
	},
	{
		"a cache cluster without a name", func(s *commonv1.ServiceSpec) {
			s.Cache = commonv1.CacheSpec{ClusterRef: &corev1.LocalObjectReference{}}
		},
		"spec.cache.clusterRef.name", "clusterRef.name must not be empty", "clusterRef.name must not be empty", "spec.cache",
	},
	{
		"a cache backend with a line break", func(s *commonv1.ServiceSpec) { s.Cache.Backend = "x\n[DEFAULT]" },
		"spec.cache.backend", "must be the name of a dogpile.cache backend", NoMatch, "",
	},
	{
		"two cache servers in one entry", func(s *commonv1.ServiceSpec) { s.Cache.Servers = []string{"a:11211,b:11211"} },
		"spec.cache.servers[0]", "without white space or commas", NoMatch, "",
	},
	{
		"negative cache replicas", func(s *commonv1.ServiceSpec) { s.Cache.Replicas = -1 },
		"spec.cache.replicas", "replicas must be at least 1", TooSmall, "",
	},
	{
		"too many cache replicas", func(s *commonv1.ServiceSpec) { s.Cache.Replicas = 101 },
		"spec.cache.replicas", "replicas must be at most 100", TooLarge, "",
	},
	{
		"too many replicas", func(s *commonv1.ServiceSpec) { s.Replicas = 1001 },
		"spec.replicas", "replicas must be at most 1000", TooLarge, "",
	},
}
