package servingcert

import (
	"slices"
	"testing"

	"github.com/c5c3/forge/internal/common/cluster"
)

func TestTheWebhookIsNotReadyBeforeItsCertificateIsTrusted(t *testing.T) {
	r := &Rotator{}
	if err := r.Ready(nil); err == nil {
		t.Error("ready without a certificate")
	}
	if _, err := r.GetCertificate(nil); err == nil {
		t.Error("a TLS handshake succeeds without a certificate")
	}
	if r.Leaf() != nil {
		t.Error("there is a certificate before there is one")
	}
}

func TestTheCertificateNamesTheServiceInTheDomainOfTheCluster(t *testing.T) {
	r := &Rotator{options: Options{
		Namespace: "keystone-system", ServiceName: "identity", Cluster: cluster.Settings{Domain: "k8s.example.com"},
	}}
	want := []string{"identity.keystone-system.svc", "identity.keystone-system.svc.k8s.example.com"}
	if got := r.dnsNames(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
