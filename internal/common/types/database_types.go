package types

import corev1 "k8s.io/api/core/v1"

// DefaultDatabasePort is the TCP port of a database whose spec names none, the
// one MariaDB and MySQL listen on.
const DefaultDatabasePort int32 = 3306

// Keys of a Secret with credentials. The key of a password can be
// changed with the reference, that of a user name cannot.
const (
	UsernameKey = "username"
	PasswordKey = "password"
)

// DatabaseSpec describes the database of a service: either a MariaDB resource in the same
// namespace (managed) or a server that is run outside of forge (brownfield).
//
// +kubebuilder:validation:XValidation:rule="has(self.clusterRef) != has(self.host)",message="exactly one of clusterRef or host must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.clusterRef) || (has(self.clusterRef.name) && size(self.clusterRef.name) > 0)",message="clusterRef.name must not be empty"
type DatabaseSpec struct {
	// clusterRef names a MariaDB resource in the same namespace. The operator
	// then creates the database, its user and its grants there. Exactly one
	// of clusterRef and host must be set.
	//
	// +optional
	ClusterRef *corev1.LocalObjectReference `json:"clusterRef,omitempty"`

	// host is the name or address of a database server that is run outside of
	// forge; the database and its user must exist. Example:
	// "db.example.com".
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-zA-Z0-9]([a-zA-Z0-9._-]*[a-zA-Z0-9])?|[a-fA-F0-9]*:[a-fA-F0-9:.]*:[a-fA-F0-9:.]*)$`
	Host string `json:"host,omitempty"`

	// port is the server's TCP port. When it is not set, 3306 is used.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// database is the name of the database on the server. Each service needs its
	// own.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_]+$`
	Database string `json:"database"`

	// secretRef names the Secret with the credentials: the user under
	// "username", the password under key (default "password").
	//
	// +required
	SecretRef SecretRefSpec `json:"secretRef"`

	// tls encrypts the connection to the database. When it is not set, only the connection
	// to a MariaDB resource that requires TLS is encrypted, with the CA bundle and the
	// client certificate that mariadb-operator keeps for it.
	//
	// +optional
	TLS *DatabaseTLSSpec `json:"tls,omitempty"`
}

// IsManaged reports whether a MariaDB resource in the cluster serves the
// database, as opposed to a server run by something else.
func (d DatabaseSpec) IsManaged() bool {
	return d.ClusterRef != nil
}

// PortOrDefault returns the TCP port to connect to.
func (d DatabaseSpec) PortOrDefault() int32 {
	if d.Port == 0 {
		return DefaultDatabasePort
	}
	return d.Port
}

// TLSEnabled reports whether connections to the database are encrypted.
func (d DatabaseSpec) TLSEnabled() bool {
	return d.TLS != nil && d.TLS.Enabled
}

// DatabaseTLSMode determines how much of the server's identity a client
// checks. The names and their meaning follow MySQL's ssl-mode.
//
// +kubebuilder:validation:Enum=prefer;require;verify-ca;verify-full
type DatabaseTLSMode string

const (
	// DatabaseTLSPrefer encrypts when the server offers it.
	DatabaseTLSPrefer DatabaseTLSMode = "prefer"
	// DatabaseTLSRequire refuses an unencrypted connection.
	DatabaseTLSRequire DatabaseTLSMode = "require"
	// DatabaseTLSVerifyCA also checks that the CA bundle signed the server's
	// certificate.
	DatabaseTLSVerifyCA DatabaseTLSMode = "verify-ca"
	// DatabaseTLSVerifyFull also checks that the certificate is for the host
	// that was dialled.
	DatabaseTLSVerifyFull DatabaseTLSMode = "verify-full"
)

// DatabaseTLSSpec describes an encrypted connection to the database.
//
// +kubebuilder:validation:XValidation:rule="!has(self.enabled) || !self.enabled || has(self.caBundleSecretRef)",message="caBundleSecretRef is required when tls is enabled"
// +kubebuilder:validation:XValidation:rule="!has(self.enabled) || !self.enabled || has(self.clientCertSecretRef)",message="clientCertSecretRef is required when tls is enabled"
type DatabaseTLSSpec struct {
	// enabled turns encryption on. The default is false.
	//
	// +optional
	// +default=false
	Enabled bool `json:"enabled,omitempty"`

	// mode determines whether encryption is required and what is verified: "prefer"
	// encrypts if the server supports it, "require" always encrypts, "verify-ca" also
	// verifies the CA of the server's certificate, "verify-full" also verifies its host
	// name. The default is "require".
	//
	// +optional
	// +default="require"
	Mode DatabaseTLSMode `json:"mode,omitempty"`

	// caBundleSecretRef names the Secret with the certificates of the CAs that may sign the
	// server's certificate, in PEM format under key (default "ca.crt").
	//
	// +optional
	CABundleSecretRef *SecretRefSpec `json:"caBundleSecretRef,omitempty"`

	// clientCertSecretRef names the Secret of type kubernetes.io/tls with the
	// certificate and key that the client presents to the server, under
	// "tls.crt" and "tls.key". Its key field is not used.
	//
	// +optional
	ClientCertSecretRef *SecretRefSpec `json:"clientCertSecretRef,omitempty"`
}
