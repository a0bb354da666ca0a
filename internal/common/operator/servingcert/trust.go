package servingcert

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
)

// clientConfigs returns the connection settings of every webhook in a mutating
// or validating webhook configuration, for reading and writing.
func clientConfigs(configuration client.Object) []*admissionv1.WebhookClientConfig {
	var configs []*admissionv1.WebhookClientConfig
	switch c := configuration.(type) {
	case *admissionv1.MutatingWebhookConfiguration:
		for i := range c.Webhooks {
			configs = append(configs, &c.Webhooks[i].ClientConfig)
		}
	case *admissionv1.ValidatingWebhookConfiguration:
		for i := range c.Webhooks {
			configs = append(configs, &c.Webhooks[i].ClientConfig)
		}
	}
	return configs
}

// setAuthorities makes every webhook of a configuration trust the bundle and
// reports whether that changed anything.
func setAuthorities(configuration client.Object, authorities []byte) bool {
	changed := false
	for _, config := range clientConfigs(configuration) {
		if !bytes.Equal(config.CABundle, authorities) {
			config.CABundle = authorities
			changed = true
		}
	}
	return changed
}

// publish makes every webhook configuration trust the certificate's authorities
// and reports whether they all do. They do not if another replica was faster
// or knows a newer certificate; the event of its write triggers the next pass.
func (r *Rotator) publish(ctx context.Context, pair *keyPair) (bool, error) {
	trusted := true
	var failures []error
	for _, configuration := range r.configurations() {
		done, err := r.publishTo(ctx, configuration, pair)
		if err != nil {
			failures = append(failures, fmt.Errorf(
				"publish webhook certificate authorities in %T %q: %w",
				configuration, configuration.GetName(), err))
		}
		trusted = trusted && done
	}
	return trusted, errors.Join(failures...)
}

func (r *Rotator) publishTo(ctx context.Context, configuration client.Object, pair *keyPair) (bool, error) {
	if err := r.client.Get(ctx, client.ObjectKeyFromObject(configuration), configuration); err != nil {
		return false, err
	}
	if !setAuthorities(configuration, pair.authorities) {
		return true, nil
	}
	// Without reading the actual Secret, a replica whose cache lags would
	// revert what another one that knows a newer certificate has just published.
	current := &corev1.Secret{}
	if err := r.live.Get(ctx, r.secretKey(), current); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	if current.ResourceVersion != pair.resourceVersion {
		return false, nil
	}
	err := apply.Update(ctx, r.client, configuration, apply.Updating)
	if apierrors.IsConflict(err) {
		return false, nil
	}
	return err == nil, err
}
