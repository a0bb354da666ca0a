package servingcert

import (
	"context"
	"crypto/x509"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/c5c3/forge/internal/common/apply"
)

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
