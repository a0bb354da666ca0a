package database

import (
	"strings"
	"testing"

	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
)

func TestDatabaseErrorsComeWithAdvice(t *testing.T) {
	h := instance.Brownfield()
	h.Spec.Database.TLS = managed().Spec.Database.TLS
	p := service.NewPass(&service.Tools{}, &instance.Definition, h)
	for text, want := range map[string]string{
		`(1045, "Access denied")`:                    "Secret harbour-db",
		`(2003, "Can't connect")`:                    "db.example.com:3306",
		`(2005, "Unknown server host")`:              "db.example.com:3306",
		`(1049, "Unknown database")`:                 "create database harbour",
		`(2026, "no TLS")`:                           "spec.database.tls.mode",
		`(2003, "[SSL: CERTIFICATE_VERIFY_FAILED]")`: "Secret db-ca",
	} {
		if got := keyed.Hint(p, text); !strings.Contains(got, want) {
			t.Errorf("advice for %s is %q, want it to mention %q", text, got, want)
		}
	}
	if got := keyed.Hint(p, "something else"); got != "" {
		t.Errorf("advice %q for an unknown error", got)
	}
}
