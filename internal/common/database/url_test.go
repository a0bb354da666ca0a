package database

import (
	"net/url"
	"testing"

	"github.com/c5c3/forge/internal/common/database/logins"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func TestEveryTLSModeSetsItsConnectionOptions(t *testing.T) {
	const files = "&ssl_cert=/etc/harbour/db-tls/tls.crt"
	const ca = "&ssl_ca=/etc/harbour/db-tls/ca.crt"
	const key = "&ssl_key=/etc/harbour/db-tls/tls.key"
	for mode, want := range map[commonv1.DatabaseTLSMode]struct {
		options string
		guard   bool
	}{
		commonv1.DatabaseTLSPrefer:     {"charset=utf8" + files + key, false},
		commonv1.DatabaseTLSRequire:    {"charset=utf8" + files + key, true},
		commonv1.DatabaseTLSVerifyCA:   {"charset=utf8" + ca + files + "&ssl_check_hostname=false" + key, true},
		commonv1.DatabaseTLSVerifyFull: {"charset=utf8" + ca + files + "&ssl_check_hostname=true" + key, true},
	} {
		h := managed()
		h.Spec.Database.TLS.Mode = mode
		if got := connectionOptions(&instance.Definition, h.Spec.Database); got != want.options {
			t.Errorf("%s: options %q, want %q", mode, got, want.options)
		}
		if guarded := RefusesPlainText(h.Spec.Database); guarded != want.guard {
			t.Errorf("%s: a connection in plain text is refused: %t, want %t", mode, guarded, want.guard)
		}
	}
	h := managed()
	h.Spec.Database.TLS.Enabled = false
	if got := connectionOptions(&instance.Definition, h.Spec.Database); got != "charset=utf8" || RefusesPlainText(h.Spec.Database) {
		t.Errorf("without TLS: options %q, plain text refused: %t", got, RefusesPlainText(h.Spec.Database))
	}
}

func TestTheConnectionURLKeepsAnyPasswordIntact(t *testing.T) {
	p := service.NewPass(&service.Tools{}, &instance.Definition, instance.Brownfield())
	for _, password := range []string{"simple", "-starts", "a b+c", "p@ss:w/rd?&=#%", "ü☃", `"'$(x)\`} {
		raw := connectionURL(p, logins.Login{User: "us er", Password: []byte(password)})
		parsed, err := url.Parse(raw)
		if err != nil {
			t.Fatalf("password %q: %v", password, err)
		}
		got, _ := parsed.User.Password()
		if got != password || parsed.User.Username() != "us er" || parsed.Host != "db.example.com:3306" || parsed.Path != "/harbour" {
			t.Errorf("password %q came out of the URL as %q, user %q, host %q, path %q",
				password, got, parsed.User.Username(), parsed.Host, parsed.Path)
		}
	}
}
