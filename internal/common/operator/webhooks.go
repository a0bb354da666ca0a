package operator

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync/atomic"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/c5c3/forge/internal/common/metric"
	"github.com/c5c3/forge/internal/common/operator/servingcert"
)

// servingCertificate connects the webhook server, which is needed to create the
// manager, to the rotator, which needs the manager.
type servingCertificate struct {
	rotator atomic.Pointer[servingcert.Rotator]
}

var errNoRotator = errors.New("the webhook certificate rotation is not set up yet")

func (c *servingCertificate) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	rotator := c.rotator.Load()
	if rotator == nil {
		return nil, errNoRotator
	}
	return rotator.GetCertificate(hello)
}

// tlsOptions makes the webhook server get its certificate from the rotator. Without
// a rotator the server reads the files and notices their changes itself.
func (c *servingCertificate) tlsOptions(s *settings) []func(*tls.Config) {
	if s.webhookCertSource != certSourceSelfManaged {
		return nil
	}
	return []func(*tls.Config){func(config *tls.Config) { config.GetCertificate = c.get }}
}

// setupWebhooks registers the operator's webhooks, the source of their
// certificate, and readiness that depends on both.
func setupWebhooks(mgr ctrl.Manager, o Options, s *settings, serving *servingCertificate) error {
	if err := o.Webhooks(mgr, s.Config); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("webhook", untilPassed(mgr.GetWebhookServer().StartedChecker())); err != nil {
		return err
	}
	if s.webhookCertSource != certSourceSelfManaged {
		return exportCertificate(o.Name, certificateIn(s.webhookCertDir))
	}
	rotator, err := servingcert.Add(mgr, rotatorOptions(o.Name, s))
	if err != nil {
		return err
	}
	serving.rotator.Store(rotator)
	if err := exportCertificate(o.Name, rotator.Leaf); err != nil {
		return err
	}
	return mgr.AddReadyzCheck("webhook-certificate", rotator.Ready)
}

func exportCertificate(operator string, served func() *x509.Certificate) error {
	if _, err := metric.Register(metrics.Registry, newCertificateExporter(operator, served)); err != nil {
		return fmt.Errorf("exporting the certificate of the webhooks: %w", err)
	}
	return nil
}

// rotatorOptions derives every name from the Service's, as the flag documents.
func rotatorOptions(name string, s *settings) servingcert.Options {
	return servingcert.Options{
		Namespace:      s.OperatorNamespace,
		SecretName:     s.webhookService + "-webhook-cert",
		ServiceName:    s.webhookService,
		MutatingName:   s.webhookService + "-mutating",
		ValidatingName: s.webhookService + "-validating",
		Labels: map[string]string{
			"app.kubernetes.io/name":      name,
			"app.kubernetes.io/instance":  s.webhookService,
			"app.kubernetes.io/component": "webhook",
			managedByLabel:                name,
		},
		Validity: s.webhookCertValidity,
		Settle:   servingcert.DefaultSettle,
		Cluster:  s.Cluster,
	}
}
