package controller

import (
	"fmt"
	"strings"
	"time"

	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// candidateRetry is how soon a changed connection that the database refused is
// tried again. The server may learn about a new password later than the Secret,
// and from then on pods cannot open connections with the old one.
const candidateRetry = time.Minute

// databaseHint says what to do about what a database Job printed, and what it
// means for the pods.
func (s *scope) databaseHint(text string) string {
	hint := databaseHint(s.keystone, text)
	if hint != "" && s.connection.candidate() {
		hint += "; until that succeeds the API pods keep the connection they have"
	}
	return hint
}

// databaseHint says what to do about the error codes of MariaDB and PyMySQL that
// a user can do something about
// (https://mariadb.com/kb/en/mariadb-error-code-reference/).
func databaseHint(k *keystonev1alpha1.Keystone, text string) string {
	db := k.Spec.Database
	has := func(codes ...string) bool {
		for _, code := range codes {
			if strings.Contains(text, code) {
				return true
			}
		}
		return false
	}
	switch {
	case has("(1044,", "(1045,", "(1698,"):
		hint := fmt.Sprintf("; check the user name and password in Secret %s and the user's rights on database %s",
			db.SecretRef.Name, db.Database)
		if !db.TLSEnabled() {
			hint += ", or enable spec.database.tls if the server requires TLS"
		}
		return hint
	case db.TLSEnabled() && has("CERTIFICATE_VERIFY_FAILED"):
		return fmt.Sprintf("; check that Secret %s of spec.database.tls.caBundleSecretRef holds the authority of the server's certificate"+
			" and, with mode verify-full, that the certificate is for the host of %s", db.TLS.CABundleSecretRef.Name, databaseAddress(k))
	case has("(2026,"):
		return fmt.Sprintf("; enable TLS on the server at %s, or set spec.database.tls.mode to prefer", databaseAddress(k))
	case has("(2003,", "(2005,"):
		return fmt.Sprintf("; check that %s is the address of the database and can be reached from the pods", databaseAddress(k))
	case has("(1049,"):
		return fmt.Sprintf("; create database %s or correct spec.database.database", db.Database)
	}
	return ""
}
