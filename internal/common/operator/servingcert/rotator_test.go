package servingcert

import (
	"context"
	"slices"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/cluster"
)

func TestACertificateIsServedOnceItsTrustHasSettled(t *testing.T) {
	start := time.Now()
	first, second := issuedPair(t, time.Hour), issuedPair(t, 2*time.Hour)
	r := &Rotator{options: Options{Settle: 10 * time.Second}}
	serve := func(pair *keyPair, at time.Duration) time.Duration {
		r.now = func() time.Time { return start.Add(at) }
		return r.serveWhenSettled(t.Context(), pair)
	}

	steps := []struct {
		reason string
		pair   *keyPair
		at     time.Duration
		wait   time.Duration
		served *keyPair
	}{
		{"the first needs no wait, nobody relies on another", first, 0, 0, first},
		{"the second waits while the first is served", second, time.Minute, 10 * time.Second, first},
		{"passes in between do not start the wait again", second, time.Minute + 4*time.Second, 6 * time.Second, first},
		{"after the wait it is served", second, time.Minute + 10*time.Second, 0, second},
		{"and stays", second, 2 * time.Minute, 0, second},
	}
	for _, step := range steps {
		if wait := serve(step.pair, step.at); wait != step.wait {
			t.Errorf("%s: wait %s, want %s", step.reason, wait, step.wait)
		}
		if !step.served.same(r.served.Load()) || r.Leaf() != step.served.certificate.Leaf {
			t.Errorf("%s: another certificate is served", step.reason)
		}
	}
}

func TestAnExpiredCertificateIsReplacedAtOnce(t *testing.T) {
	r := &Rotator{options: Options{Settle: time.Hour}}
	r.served.Store(issuedPair(t, time.Minute))
	r.now = func() time.Time { return time.Now().Add(2 * time.Minute) }
	next := issuedPair(t, time.Hour)
	if wait := r.serveWhenSettled(t.Context(), next); wait != 0 || !next.same(r.served.Load()) {
		t.Errorf("waits %s with an expired certificate, which no client accepts anyway", wait)
	}
}

func TestNothingIsReadyOrServedBeforeACertificateIsTrusted(t *testing.T) {
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

func TestAReplicaThatLagsDoesNotTakeBackNewerAuthorities(t *testing.T) {
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

func TestOptionsNameWhatIsMissing(t *testing.T) {
	complete := Options{Namespace: "n", SecretName: "s", ServiceName: "s", MutatingName: "m", ValidatingName: "v"}
	if err := complete.complete(); err != nil {
		t.Fatalf("complete options are refused: %v", err)
	}
	if complete.Validity != DefaultValidity || complete.Settle != DefaultSettle {
		t.Errorf("validity %s and settle time %s are not the defaults", complete.Validity, complete.Settle)
	}
	incomplete := complete
	incomplete.ServiceName = ""
	if err := incomplete.complete(); err == nil {
		t.Error("options without a Service are accepted")
	}
}

func issuedPair(t *testing.T, validity time.Duration) *keyPair {
	t.Helper()
	pair, err := load(issuedSecret(t, validity, nil), testNames, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return pair
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

func TestTheCertificateNamesTheServiceInTheDomainOfTheCluster(t *testing.T) {
	r := &Rotator{options: Options{
		Namespace: "keystone-system", ServiceName: "identity", Cluster: cluster.Settings{Domain: "k8s.example.com"},
	}}
	want := []string{"identity.keystone-system.svc", "identity.keystone-system.svc.k8s.example.com"}
	if got := r.dnsNames(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
