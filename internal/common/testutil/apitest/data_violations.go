package apitest

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// dataUpdates are changes of a stored object that must be refused.
var dataUpdates = []dataViolation{
	{
		Name: "database name", Change: func(s *commonv1.DataSpec) { s.Database.Database = "other" },
		Path: "spec.database.database", Message: "database name is immutable",
	},
	{
		Name: "database mode", Change: func(s *commonv1.DataSpec) {
			s.Database.Host, s.Database.ClusterRef = "", &corev1.LocalObjectReference{Name: "mariadb"}
		},
		Path: "spec.database", Message: "database mode (managed clusterRef vs brownfield host) is immutable",
	},
}

// dataViolations concern the database.
var dataViolations = []dataViolation{
	{
		"a database in both modes", func(s *commonv1.DataSpec) { s.Database.ClusterRef = &corev1.LocalObjectReference{Name: "mariadb"} },
		"spec.database", "exactly one of clusterRef or host must be set", "exactly one of clusterRef or host must be set", "",
	},
	{
		"a database in no mode", func(s *commonv1.DataSpec) { s.Database.Host = "" },
		"spec.database", "exactly one of clusterRef or host must be set", "exactly one of clusterRef or host must be set", "",
	},
	{
		"a database cluster without a name", func(s *commonv1.DataSpec) {
			s.Database.Host = ""
			s.Database.ClusterRef = &corev1.LocalObjectReference{}
		},
		"spec.database.clusterRef.name", "clusterRef.name must not be empty", "clusterRef.name must not be empty", "spec.database",
	},
	{
		"a database host with credentials", func(s *commonv1.DataSpec) { s.Database.Host = "user:secret@db" },
		"spec.database.host", "must be a host name or an IP address", NoMatch, "",
	},
	{
		"a database host with a port", func(s *commonv1.DataSpec) { s.Database.Host = "db:3306" },
		"spec.database.host", "must be a host name or an IP address", NoMatch, "",
	},
	{
		"a database port out of range", func(s *commonv1.DataSpec) { s.Database.Port = 65536 },
		"spec.database.port", "must be between 1 and 65535", TooLarge, "",
	},
	{
		"no database name", func(s *commonv1.DataSpec) { s.Database.Database = "" },
		"spec.database.database", "Required value", TooShort, "",
	},
	{
		"a database name with a dash", func(s *commonv1.DataSpec) { s.Database.Database = "a-database" },
		"spec.database.database", "must be 1 to 64 letters, digits and '_'", NoMatch, "",
	},
	{
		"a database name that is too long", func(s *commonv1.DataSpec) { s.Database.Database = strings.Repeat("d", 65) },
		"spec.database.database", "must be 1 to 64 letters, digits and '_'", "Too long", "",
	},
	{
		"no database Secret", func(s *commonv1.DataSpec) { s.Database.SecretRef.Name = "" },
		"spec.database.secretRef.name", "Required value", TooShort, "",
	},
	{
		"a database Secret that cannot exist", func(s *commonv1.DataSpec) { s.Database.SecretRef.Name = "Service_DB" },
		"spec.database.secretRef.name", "RFC 1123 subdomain", NoMatch, "",
	},
	{
		"a key no Secret can have", func(s *commonv1.DataSpec) { s.Database.SecretRef.Key = "pass word" },
		"spec.database.secretRef.key", "a valid config key must consist of", NoMatch, "",
	},
	{
		"an unknown database TLS mode", func(s *commonv1.DataSpec) { s.Database.TLS = &commonv1.DatabaseTLSSpec{Mode: "disable"} },
		"spec.database.tls.mode", "Unsupported value", "Unsupported value", "",
	},
	{
		"database TLS without a CA", func(s *commonv1.DataSpec) {
			s.Database.TLS = &commonv1.DatabaseTLSSpec{Enabled: true, ClientCertSecretRef: &commonv1.SecretRefSpec{Name: "client"}}
		},
		"spec.database.tls.caBundleSecretRef", "caBundleSecretRef is required when tls is enabled",
		"caBundleSecretRef is required when tls is enabled", "spec.database.tls",
	},
	{
		"database TLS without a client certificate", func(s *commonv1.DataSpec) {
			s.Database.TLS = &commonv1.DatabaseTLSSpec{Enabled: true, CABundleSecretRef: &commonv1.SecretRefSpec{Name: "ca"}}
		},
		"spec.database.tls.clientCertSecretRef", "clientCertSecretRef is required when tls is enabled",
		"clientCertSecretRef is required when tls is enabled", "spec.database.tls",
	},
	{
		"an unknown deletion policy", func(s *commonv1.DataSpec) { s.DeletionPolicy = "Orphan" },
		"spec.deletionPolicy", "Unsupported value", "Unsupported value", "",
	},
}
