package database

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/database/logins"
	"github.com/c5c3/forge/internal/common/redact"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// connectionURL returns the SQLAlchemy URL of the database.
func connectionURL(p *service.Pass, l logins.Login) string {
	return fmt.Sprintf("mysql+pymysql://%s:%s@%s/%s?%s",
		escape(l.User), escape(string(l.Password)), Address(p), escape(p.Data.Database.Database),
		connectionOptions(p.Definition, p.Data.Database))
}

// loginOf parses the result of connectionURL and reports whether text is one.
func loginOf(text string) (logins.Login, bool) {
	parsed, err := url.Parse(text)
	if err != nil || parsed.User == nil {
		return logins.Login{}, false
	}
	password, found := parsed.User.Password()
	return logins.Login{User: parsed.User.Username(), Password: redact.Bytes(password)}, found
}

// Address returns host:port of the database server.
func Address(p *service.Pass) string {
	if p.DatabaseHost != "" {
		return withPort(p, p.DatabaseHost)
	}
	return SpecAddress(p)
}

// SpecAddress returns host:port of the database server as the spec alone names it: the main
// Service of a MariaDB. Run keys have it, so that no Job runs again because the MariaDB
// takes writes at another Service.
func SpecAddress(p *service.Pass) string {
	db := p.Data.Database
	if db.IsManaged() {
		return withPort(p, serviceHost(p, db.ClusterRef.Name))
	}
	return withPort(p, strings.Trim(db.Host, "[]"))
}

func withPort(p *service.Pass, host string) string {
	return net.JoinHostPort(host, strconv.Itoa(int(p.Data.Database.PortOrDefault())))
}

// The driver's options that verify the server.
const (
	optionCA        = "ssl_ca"
	optionCheckHost = "ssl_check_hostname"
)

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
			options.Set(optionCA, tlsDir(d)+"/"+caFile)
			options.Set(optionCheckHost, strconv.FormatBool(mode == commonv1.DatabaseTLSVerifyFull))
		}
	}
	return strings.ReplaceAll(options.Encode(), "%2F", "/")
}

// escape percent-encodes every reserved character: SQLAlchemy splits the URL before it
// decodes it, and takes a plus sign literally.
func escape(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}
