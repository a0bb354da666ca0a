package database

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/redact"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

const (
	volumeTLS = "db-tls"
	// caFile is the file name and default key of the database CA.
	caFile = "ca.crt"
)

// tlsDir is the directory with the certificates in the service's containers.
func tlsDir(d *service.Definition) string { return "/etc/" + d.Name + "/db-tls" }

func caBundleKey(tls *commonv1.DatabaseTLSSpec) string { return tls.CABundleSecretRef.KeyOr(caFile) }

// Env passes the URL in the named Secret to oslo.config without exposing it in a file or
// on a command line. The configuration makes servers retry the database forever; a tool
// has to exit with an error.
func (d Database) Env(secret string) []corev1.EnvVar {
	return []corev1.EnvVar{
		deployment.SecretVariable(d.Variable(), secret, connectionKey),
		{Name: d.option("MAX_RETRIES"), Value: "2"},
		{Name: d.option("RETRY_INTERVAL"), Value: "1"},
	}
}

// ToolEnv returns the environment of the instance's tools that use the same login as the
// pods.
func (d Database) ToolEnv(p *service.Pass) []corev1.EnvVar {
	return append(d.Env(SecretName(p.Resource.GetName())), p.Environment...)
}

// APIEnv passes the URL of the instance to its API pods.
func (d Database) APIEnv(p *service.Pass) corev1.EnvVar {
	return deployment.SecretVariable(d.Variable(), SecretName(p.Resource.GetName()), connectionKey)
}

// Variable is the environment variable with the URL of the database.
func (d Database) Variable() string { return d.option("CONNECTION") }

// option returns the environment variable from which oslo.config reads an option. Its
// names are upper case only.
func (d Database) option(name string) string { return "OS_" + d.Section + "__" + name }

// TLSMounts mounts the certificates for the database if TLS is enabled.
func TLSMounts(p *service.Pass) []deployment.Mount {
	tls := p.Spec.Database.TLS
	if !p.Spec.Database.TLSEnabled() || tls.CABundleSecretRef == nil || tls.ClientCertSecretRef == nil {
		return nil
	}
	return []deployment.Mount{deployment.ProjectedMount(volumeTLS, tlsDir(p.Definition),
		deployment.SecretProjection(tls.CABundleSecretRef.Name, corev1.KeyToPath{Key: caBundleKey(tls), Path: caFile}),
		deployment.SecretProjection(tls.ClientCertSecretRef.Name,
			corev1.KeyToPath{Key: corev1.TLSCertKey, Path: corev1.TLSCertKey},
			corev1.KeyToPath{Key: corev1.TLSPrivateKeyKey, Path: corev1.TLSPrivateKeyKey}))}
}

// connectionURL returns the SQLAlchemy URL of the database.
func connectionURL(p *service.Pass, l login) string {
	return fmt.Sprintf("mysql+pymysql://%s:%s@%s/%s?%s",
		escape(l.user), escape(string(l.password)), Address(p), escape(p.Spec.Database.Database),
		connectionOptions(p.Definition, p.Spec.Database))
}

// loginOf parses the result of connectionURL and reports whether text is one.
func loginOf(text string) (login, bool) {
	parsed, err := url.Parse(text)
	if err != nil || parsed.User == nil {
		return login{}, false
	}
	password, found := parsed.User.Password()
	return login{parsed.User.Username(), redact.Bytes(password)}, found
}

// Address returns host:port of the database server.
func Address(p *service.Pass) string {
	db := p.Spec.Database
	host := strings.Trim(db.Host, "[]")
	if db.IsManaged() {
		host = db.ClusterRef.Name + "." + p.Resource.GetNamespace() + ".svc"
	}
	return net.JoinHostPort(host, strconv.Itoa(int(db.PortOrDefault())))
}

// connectionOptions returns the driver's options, sorted by name. PyMySQL verifies the
// server only if it is given a CA; ssl_verify_cert and ssl_verify_identity must not be
// set because they make it drop the CA. These options do not guarantee an encrypted
// connection: see [RefusesPlainText].
func connectionOptions(d *service.Definition, db commonv1.DatabaseSpec) string {
	options := url.Values{"charset": {"utf8"}}
	if db.TLSEnabled() {
		options.Set("ssl_cert", tlsDir(d)+"/"+corev1.TLSCertKey)
		options.Set("ssl_key", tlsDir(d)+"/"+corev1.TLSPrivateKeyKey)
		if mode := db.TLS.Mode; mode == commonv1.DatabaseTLSVerifyCA || mode == commonv1.DatabaseTLSVerifyFull {
			options.Set("ssl_ca", tlsDir(d)+"/"+caFile)
			options.Set("ssl_check_hostname", strconv.FormatBool(mode == commonv1.DatabaseTLSVerifyFull))
		}
	}
	return strings.ReplaceAll(options.Encode(), "%2F", "/")
}

// RefusesPlainText reports whether the mode requires an encrypted connection. PyMySQL
// falls back to plain text when the server does not offer TLS. That is what prefer means;
// every other mode needs a start file that refuses it.
func RefusesPlainText(db commonv1.DatabaseSpec) bool {
	return db.TLSEnabled() && db.TLS.Mode != commonv1.DatabaseTLSPrefer
}

// escape percent-encodes every reserved character: SQLAlchemy splits the URL before it
// decodes it, and takes a plus sign literally.
func escape(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}
