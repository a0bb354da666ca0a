package database

import (
	"fmt"
	"slices"
	"strings"

	"github.com/c5c3/forge/internal/common/service"
)

// Hint returns advice on the output of a tool that works on the database, including the
// consequence for the pods.
func (d Database) Hint(p *service.Pass, text string) string {
	advice := hint(p, text)
	if access := Connection.Value(p.Slots); advice != "" && access.Candidate() {
		advice += "; until that succeeds, the API pods keep their current connection"
	}
	return advice
}

// hint returns advice on the error codes of MariaDB and PyMySQL that a user can fix
// (https://mariadb.com/kb/en/mariadb-error-code-reference/).
func hint(p *service.Pass, text string) string {
	db := p.Data.Database
	has := func(codes ...string) bool {
		return slices.ContainsFunc(codes, func(code string) bool { return strings.Contains(text, code) })
	}
	switch {
	case has("(1044,", "(1045,", "(1698,"):
		advice := fmt.Sprintf("; check the user name and password in Secret %s and the user's rights on database %s",
			db.SecretRef.Name, db.Database)
		if !db.TLSEnabled() {
			advice += ", or enable spec.database.tls if the server requires TLS"
		}
		return advice
	case db.TLSEnabled() && has("CERTIFICATE_VERIFY_FAILED"):
		return fmt.Sprintf("; check that Secret %s of spec.database.tls.caBundleSecretRef holds the authority of the server's certificate"+
			" and, with mode verify-full, that the certificate is for the host of %s", db.TLS.CABundleSecretRef.Name, Address(p))
	case has("(2026,"):
		return fmt.Sprintf("; enable TLS on the server at %s, or set spec.database.tls.mode to prefer", Address(p))
	case has("(2003,", "(2005,"):
		return fmt.Sprintf("; check that %s is the address of the database and can be reached from the pods", Address(p))
	case has("(1049,"):
		return fmt.Sprintf("; create database %s or correct spec.database.database", db.Database)
	}
	return ""
}
