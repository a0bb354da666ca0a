package tls

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/metric"
	"github.com/c5c3/forge/internal/common/testutil/certificate"
)

func TestTheValidityOfACertificateIsExportedUntilItsResourceIsGone(t *testing.T) {
	labels := []metric.Label{{Name: "harbour"}, metric.Namespace, {Name: "certificate"}}
	registry := prometheus.NewPedanticRegistry()
	m, err := NewMetrics(registry,
		metric.Definition{Name: "start", Type: metric.Gauge, Labels: labels}, metric.Definition{Name: "end", Type: metric.Gauge, Labels: labels})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := certificate.SelfSigned(t)
	owner := types.NamespacedName{Namespace: "openstack", Name: "harbour"}
	m.Set(owner, "client", text)
	m.Set(owner, "ca", []byte("no certificate"))
	if got, err := testutil.GatherAndCount(registry); got != 2 || err != nil {
		t.Errorf("%d series (%v), want those of the client's certificate", got, err)
	}
	m.Forget(owner)
	if got, err := testutil.GatherAndCount(registry); got != 0 || err != nil {
		t.Errorf("%d series (%v) are left", got, err)
	}
}
