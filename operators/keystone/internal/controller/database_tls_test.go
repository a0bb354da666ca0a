package controller

import (
	"testing"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func TestEveryTLSModeGetsWhatItsNamePromises(t *testing.T) {
	const files = "&ssl_cert=/etc/keystone/db-tls/tls.crt"
	const ca = "&ssl_ca=/etc/keystone/db-tls/ca.crt"
	const key = "&ssl_key=/etc/keystone/db-tls/tls.key"
	for mode, want := range map[commonv1.DatabaseTLSMode]struct {
		options string
		guard   bool
	}{
		commonv1.DatabaseTLSPrefer:     {"charset=utf8" + files + key, false},
		commonv1.DatabaseTLSRequire:    {"charset=utf8" + files + key, true},
		commonv1.DatabaseTLSVerifyCA:   {"charset=utf8" + ca + files + "&ssl_check_hostname=false" + key, true},
		commonv1.DatabaseTLSVerifyFull: {"charset=utf8" + ca + files + "&ssl_check_hostname=true" + key, true},
	} {
		k := managed()
		k.Spec.Database.TLS.Mode = mode
		if got := connectionOptions(k.Spec.Database); got != want.options {
			t.Errorf("%s: options %q, want %q", mode, got, want.options)
		}
		files := map[string]string{}
		if err := addPythonFiles(k, files); err != nil {
			t.Fatal(err)
		}
		if _, guarded := files[tlsGuardFile]; guarded != want.guard {
			t.Errorf("%s: a connection in plain text is refused: %t, want %t", mode, guarded, want.guard)
		}
	}
	k := managed()
	k.Spec.Database.TLS.Enabled = false
	if got := connectionOptions(k.Spec.Database); got != "charset=utf8" || refusesPlainText(k.Spec.Database) {
		t.Errorf("without TLS: options %q, plain text refused: %t", got, refusesPlainText(k.Spec.Database))
	}
}
