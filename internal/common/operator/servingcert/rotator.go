package servingcert

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var errNotReady = errors.New("the webhook serving certificate is not issued and trusted yet")

// Rotator issues, publishes, serves and renews the certificate. All replicas
// of an operator run one; optimistic locking on the Secret picks who renews.
type Rotator struct {
	options Options
	// client reads from a cache that holds nothing but the three objects.
	client client.Client
	live   client.Reader
	now    func() time.Time

	served atomic.Pointer[keyPair]
	// next is a trusted certificate that is not served yet, and since when
	// it has been trusted. Only the single reconcile worker touches them.
	next      *keyPair
	trustedAt time.Time
}

// GetCertificate hands the current certificate to a TLS server. It has the
// signature of the field of the same name in tls.Config.
func (r *Rotator) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	current := r.served.Load()
	if current == nil {
		return nil, errNotReady
	}
	return current.certificate, nil
}

// Leaf returns the certificate that is served, nil before the first one.
func (r *Rotator) Leaf() *x509.Certificate {
	current := r.served.Load()
	if current == nil {
		return nil
	}
	return current.certificate.Leaf
}

// Ready is a health check that passes once a certificate is served that the
// webhook configurations trust.
func (r *Rotator) Ready(*http.Request) error {
	if r.served.Load() == nil {
		return errNotReady
	}
	return nil
}

// dnsNames are the names API servers may use to reach the Service.
func (r *Rotator) dnsNames() []string {
	name, namespace := r.options.ServiceName, r.options.Namespace
	return []string{name + "." + namespace + ".svc", r.options.Cluster.ServiceHost(name, namespace)}
}

func (r *Rotator) secretKey() client.ObjectKey {
	return client.ObjectKey{Namespace: r.options.Namespace, Name: r.options.SecretName}
}

func (r *Rotator) configurations() []client.Object {
	return []client.Object{
		&admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: r.options.MutatingName}},
		&admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: r.options.ValidatingName}},
	}
}
