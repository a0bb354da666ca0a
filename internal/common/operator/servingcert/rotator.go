package servingcert

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync/atomic"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/cluster"
)

const (
	// DefaultValidity is how long a certificate is valid when Options.Validity
	// is zero.
	DefaultValidity = 90 * 24 * time.Hour
	// DefaultSettle is the wait between trust and use when Options.Settle is
	// zero. API servers learn of a webhook configuration by a watch, normally
	// within milliseconds.
	DefaultSettle = 10 * time.Second
)

var errNotReady = errors.New("the webhook serving certificate is not issued and trusted yet")

// Options says which certificate to maintain and who has to trust it.
type Options struct {
	// Namespace holds the Secret and the Service.
	Namespace string
	// SecretName is the Secret that holds the certificate. The rotator creates
	// it if it is missing and adopts one that cert-manager left behind.
	SecretName string
	// ServiceName is the Service through which API servers reach the webhooks. The
	// certificate is issued for its DNS names, and it owns the Secret.
	ServiceName string
	// Cluster has the domain that the full DNS name of the Service ends in.
	Cluster cluster.Settings
	// MutatingName and ValidatingName are the webhook configurations whose
	// caBundle is kept up to date. Both must exist.
	MutatingName, ValidatingName string
	// Labels are put on the Secret when the rotator creates it.
	Labels map[string]string
	// Validity is how long a certificate is valid; it is renewed when a third
	// of that is left. Zero means DefaultValidity.
	Validity time.Duration
	// Settle is how long a renewed certificate has to be trusted before it is
	// served. Zero means DefaultSettle.
	Settle time.Duration
}

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

// Reconcile brings Secret, webhook configurations and the served certificate
// in line. Any event triggers the same pass, so the request is ignored.
func (r *Rotator) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	pair, err := r.ensureIssued(ctx)
	if err != nil || pair == nil {
		return reconcile.Result{}, err
	}
	if trusted, err := r.publish(ctx, pair); err != nil || !trusted {
		return reconcile.Result{}, err
	}
	if wait := r.serveWhenSettled(ctx, pair); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	return reconcile.Result{RequeueAfter: max(pair.renewAt(r.options.Validity).Sub(r.now()), time.Second)}, nil
}

// ensureIssued returns the certificate from the Secret, or nil after it wrote a
// new one: its own write triggers an event and is used in the next pass,
// as on every other replica.
func (r *Rotator) ensureIssued(ctx context.Context) (*keyPair, error) {
	secret := &corev1.Secret{}
	if err := r.client.Get(ctx, r.secretKey(), secret); err != nil {
		if !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("read webhook certificate Secret %s: %w", r.secretKey(), err)
		}
		return nil, r.create(ctx)
	}
	pair, err := load(secret, r.dnsNames(), r.now())
	switch {
	case err != nil:
		return nil, r.renew(ctx, secret, err.Error())
	case !r.now().Before(pair.renewAt(r.options.Validity)):
		return nil, r.renew(ctx, secret, "due")
	}
	return pair, nil
}

// serveWhenSettled starts serving a trusted certificate, at once if none is
// served or the served one has expired, otherwise after the settle time, whose
// remainder it returns.
func (r *Rotator) serveWhenSettled(ctx context.Context, pair *keyPair) time.Duration {
	current := r.served.Load()
	if pair.same(current) {
		r.next = nil
		return 0
	}
	now := r.now()
	if !pair.same(r.next) {
		r.next, r.trustedAt = pair, now
	}
	if wait := r.options.Settle - now.Sub(r.trustedAt); wait > 0 && current != nil && now.Before(current.notAfter) {
		return wait
	}
	r.served.Store(pair)
	r.next = nil
	log.FromContext(ctx).Info("serving webhook certificate", "notAfter", pair.notAfter)
	return 0
}

// create issues the first certificate. It is not an error if another replica was
// faster: its Secret arrives as an event.
func (r *Rotator) create(ctx context.Context) error {
	data, err := issue(r.dnsNames(), r.now(), r.options.Validity, r.earlier(nil))
	if err != nil {
		return err
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.options.Namespace,
			Name:      r.options.SecretName,
			Labels:    r.options.Labels,
		},
		Type: corev1.SecretTypeTLS,
		Data: data,
	}
	if secret.OwnerReferences, err = r.owner(ctx); err != nil {
		return err
	}
	if err := apply.Create(ctx, r.client, secret); client.IgnoreAlreadyExists(err) != nil {
		return err
	}
	log.FromContext(ctx).Info("issued webhook certificate", "reason", "missing")
	return nil
}

// renew replaces the certificate in the Secret. Losing the race against
// another replica is not an error: the winner's Secret arrives as an event.
func (r *Rotator) renew(ctx context.Context, secret *corev1.Secret, reason string) error {
	data, err := issue(r.dnsNames(), r.now(), r.options.Validity, r.earlier(secret.Data[caKey]))
	if err != nil {
		return err
	}
	updated := secret.DeepCopy()
	if updated.Data == nil {
		updated.Data = map[string][]byte{}
	}
	maps.Copy(updated.Data, data)
	err = apply.Update(ctx, r.client, updated, "renewing the certificate in")
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	log.FromContext(ctx).Info("issued webhook certificate", "reason", reason)
	return nil
}

// earlier returns the authorities that a new bundle keeps: those of the Secret
// and, in case it was emptied or deleted, those of the served certificate.
func (r *Rotator) earlier(bundle []byte) []*x509.Certificate {
	if current := r.served.Load(); current != nil {
		return unexpired(r.now(), bundle, current.authorities)
	}
	return unexpired(r.now(), bundle)
}

// owner makes the Secret be deleted with the Service it was created for. If the operator
// runs outside the cluster there may be no Service yet; the Secret then stays.
func (r *Rotator) owner(ctx context.Context) ([]metav1.OwnerReference, error) {
	service := &corev1.Service{}
	key := client.ObjectKey{Namespace: r.options.Namespace, Name: r.options.ServiceName}
	if err := r.live.Get(ctx, key, service); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("read webhook Service %s: %w", key, err)
	}
	return []metav1.OwnerReference{{
		APIVersion: "v1",
		Kind:       "Service",
		Name:       service.Name,
		UID:        service.UID,
	}}, nil
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
