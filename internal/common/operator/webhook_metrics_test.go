package operator

import (
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/client-go/util/cert"

	"github.com/c5c3/forge/internal/common/metric"
	"github.com/c5c3/forge/internal/common/testutil/certificate"
)

func TestTheWebhookCertificateLifetimeIsExportedOnceIssued(t *testing.T) {
	folder := t.TempDir()
	exporter := newCertificateExporter("test-operator", certificateIn(folder))
	if got := testutil.CollectAndCount(exporter); got != 0 {
		t.Errorf("%d series without a certificate", got)
	}

	chain, _ := certificate.SelfSigned(t)
	if err := os.WriteFile(filepath.Join(folder, "tls.crt"), chain, 0o600); err != nil {
		t.Fatal(err)
	}
	parsed, err := cert.ParseCertsPEM(chain)
	if err != nil {
		t.Fatal(err)
	}
	expectLifetime(t, exporter, parsed[0])
}

func expectLifetime(t *testing.T, exporter *certificateExporter, served *x509.Certificate) {
	t.Helper()
	definitions := metric.Webhooks("test_operator")
	var want strings.Builder
	for i, at := range []time.Time{served.NotBefore, served.NotAfter} {
		d := definitions[i]
		fmt.Fprintf(&want, "# HELP %s %s\n# TYPE %s gauge\n%s %d\n", d.Name, d.Help, d.Name, d.Name, at.Unix())
	}
	if err := testutil.CollectAndCompare(exporter, strings.NewReader(want.String())); err != nil {
		t.Error(err)
	}
}
