package servingcert

import (
	"context"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestAStaleReplicaDoesNotOverwriteANewerCABundle(t *testing.T) {
	stale := issuedPair(t, time.Hour)
	stale.resourceVersion = "1"
	newer := []byte("published by another replica")
	r := rotatorOver(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "operators", Name: "identity-webhook-cert", ResourceVersion: "2"},
	}, newer)

	trusted, err := r.publish(t.Context(), stale)
	if err != nil {
		t.Fatal(err)
	}
	if trusted {
		t.Error("a certificate counts as trusted that is not the current one")
	}
	assertAuthorities(t, r, newer)
}

func TestOverwrittenAuthoritiesAreRepairedInEveryWebhook(t *testing.T) {
	pair := issuedPair(t, time.Hour)
	pair.resourceVersion = "1"
	r := rotatorOver(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "operators", Name: "identity-webhook-cert", ResourceVersion: "1"},
	}, []byte("overwritten"))

	trusted, err := r.publish(t.Context(), pair)
	if err != nil || !trusted {
		t.Fatalf("trusted = %t, error = %v", trusted, err)
	}
	assertAuthorities(t, r, pair.authorities)
}

func TestAMissingWebhookConfigurationIsNamedAndTheOtherIsStillUpdated(t *testing.T) {
	pair := issuedPair(t, time.Hour)
	pair.resourceVersion = "1"
	r := rotatorOver(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "operators", Name: "identity-webhook-cert", ResourceVersion: "1"},
	}, []byte("old"))
	mutating := r.configurations()[0]
	if err := r.client.Delete(t.Context(), mutating); err != nil {
		t.Fatal(err)
	}

	if trusted, err := r.publish(t.Context(), pair); trusted || err == nil {
		t.Errorf("trusted = %t, error = %v, want an error that names identity-mutating", trusted, err)
	}
	validating := r.configurations()[1]
	if err := r.client.Get(t.Context(), client.ObjectKeyFromObject(validating), validating); err != nil {
		t.Fatal(err)
	}
	if setAuthorities(validating, pair.authorities) {
		t.Error("the configuration that exists was not updated")
	}
}

// rotatorOver returns a rotator over a Secret and configurations of two
// webhooks each, all of which trust the given authorities.
func rotatorOver(t *testing.T, secret *corev1.Secret, authorities []byte) *Rotator {
	t.Helper()
	trusting := admissionv1.WebhookClientConfig{CABundle: authorities}
	mutating := &admissionv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "identity-mutating"},
		Webhooks:   []admissionv1.MutatingWebhook{{Name: "a", ClientConfig: trusting}, {Name: "b", ClientConfig: trusting}},
	}
	validating := &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "identity-validating"},
		Webhooks:   []admissionv1.ValidatingWebhook{{Name: "a", ClientConfig: trusting}, {Name: "b", ClientConfig: trusting}},
	}
	c := fake.NewClientBuilder().WithObjects(secret, mutating, validating).Build()
	return &Rotator{
		options: Options{
			Namespace:      "operators",
			SecretName:     "identity-webhook-cert",
			MutatingName:   mutating.Name,
			ValidatingName: validating.Name,
		},
		client: c,
		live:   c,
		now:    time.Now,
	}
}

func assertAuthorities(t *testing.T, r *Rotator, want []byte) {
	t.Helper()
	for _, configuration := range r.configurations() {
		if err := r.client.Get(context.Background(), client.ObjectKeyFromObject(configuration), configuration); err != nil {
			t.Fatal(err)
		}
		for i, config := range clientConfigs(configuration) {
			if string(config.CABundle) != string(want) {
				t.Errorf("webhook %d of %s trusts %q, want %q", i, configuration.GetName(), config.CABundle, want)
			}
		}
	}
}
