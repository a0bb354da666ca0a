//go:build integration

package servingcert

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
)

// testValidity makes a renewal happen within a test and leaves a loaded machine
// time for it before the certificate expires; testSettle is long enough for the
// API server to notice a changed webhook configuration.
const (
	testValidity = 24 * time.Second
	testSettle   = 3 * time.Second
)

const admissionPath = "/admit"

// guarded marks the objects that the test's webhooks are asked about.
var guarded = map[string]string{"webhook-certificate": "guarded"}

var env *envtest.Env

func TestMain(m *testing.M) {
	envtest.Main(m, envtest.Options{}, func(_ context.Context, e *envtest.Env) error {
		env = e
		return nil
	})
}

func TestAnAPIServerTrustsBothReplicasAndNeverStopsToWhileTheirCertificateIsRenewed(t *testing.T) {
	f := install(t, "renewed")
	f.replica(t, 0)
	f.replica(t, 1)
	expect.Eventually(t, "the API server reaches both replicas", f.admit)
	first := f.secret(t)

	failures := f.probe(t, func() {
		f.renewedAfter(t, first)
	})
	if failures.failed > 0 {
		t.Errorf("%d of %d requests failed, the last one with: %v", failures.failed, failures.made, failures.last)
	}
	if failures.made < 50 {
		t.Errorf("only %d requests were made, too few to say anything", failures.made)
	}
	t.Logf("%d requests during a renewal, %d failed", failures.made, failures.failed)
}

func TestOverwrittenTrustIsRepaired(t *testing.T) {
	f := install(t, "overwritten")
	f.replica(t, 0)
	f.replica(t, 1)
	expect.Eventually(t, "the API server reaches both replicas", f.admit)

	for _, configuration := range f.configurations() {
		f.get(t, configuration)
		setAuthorities(configuration, nil)
		if err := f.client.Update(t.Context(), configuration); err != nil {
			t.Fatal(err)
		}
	}
	expect.Eventually(t, "the webhook configurations trust the certificate again", func(ctx context.Context) error {
		return f.trusts(ctx, f.secret(t).Data[caKey])
	})
	expect.Eventually(t, "the API server reaches both replicas again", f.admit)
}

func TestADeletedSecretIsIssuedAgainWithoutAFailedRequest(t *testing.T) {
	f := install(t, "deleted")
	f.replica(t, 0)
	f.replica(t, 1)
	expect.Eventually(t, "the API server reaches both replicas", f.admit)
	first := f.secret(t)

	failures := f.probe(t, func() {
		if err := f.client.Delete(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		f.renewedAfter(t, first)
	})
	if failures.failed > 0 {
		t.Errorf("%d of %d requests failed, the last one with: %v", failures.failed, failures.made, failures.last)
	}
}

func TestTheSecretGoesWithTheService(t *testing.T) {
	f := install(t, "owned")
	f.replica(t, 0)
	expect.Eventually(t, "the certificate is issued", func(ctx context.Context) error {
		return f.client.Get(ctx, f.secretKey(), &corev1.Secret{})
	})
	secret, service := f.secret(t), &corev1.Service{}
	if err := f.client.Get(t.Context(), client.ObjectKey{Namespace: f.options.Namespace, Name: f.options.ServiceName}, service); err != nil {
		t.Fatal(err)
	}
	if len(secret.OwnerReferences) != 1 || secret.OwnerReferences[0].UID != service.UID {
		t.Errorf("owners %v, want the Service with UID %s", secret.OwnerReferences, service.UID)
	}
	if secret.Type != corev1.SecretTypeTLS {
		t.Errorf("type %s, want %s, which cert-manager can take over", secret.Type, corev1.SecretTypeTLS)
	}
}

// fixture is an installation of two replicas. Its mutating webhook is served by
// the first and its validating webhook by the second, so that each admission
// needs both.
type fixture struct {
	options Options
	client  client.Client
	ports   [2]int32
}

func install(t *testing.T, name string) *fixture {
	t.Helper()
	f := &fixture{client: env.Client(t, clientgoscheme.Scheme), ports: [2]int32{envtest.FreePort(t), envtest.FreePort(t)}}
	f.options = Options{
		Namespace:      env.Namespace(t),
		SecretName:     name + "-webhook-cert",
		ServiceName:    name,
		MutatingName:   name + "-mutating",
		ValidatingName: name + "-validating",
		Validity:       testValidity,
		Settle:         testSettle,
	}
	// The API server expects a certificate for the Service's name, and takes
	// the connection to where an ExternalName points: to this process.
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.options.Namespace, Name: name},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}
	configurations := f.configurations()
	f.fill(configurations[0], f.ports[0])
	f.fill(configurations[1], f.ports[1])
	objects.Create(t, f.client, append(configurations, service)...)
	t.Cleanup(func() {
		for _, configuration := range f.configurations() {
			if err := f.client.Delete(context.Background(), configuration); err != nil {
				t.Errorf("delete %s: %v", configuration.GetName(), err)
			}
		}
	})
	return f
}

// fill adds a webhook that is served at the port to a configuration.
func (f *fixture) fill(configuration client.Object, port int32) {
	name := "guard.example.com"
	connect := admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{
		Namespace: f.options.Namespace,
		Name:      f.options.ServiceName,
		Path:      ptr.To(admissionPath),
		Port:      ptr.To(port),
	}}
	rules := []admissionv1.RuleWithOperations{{
		Operations: []admissionv1.OperationType{admissionv1.Create},
		Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}
	namespace := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: f.options.Namespace}}
	objects := &metav1.LabelSelector{MatchLabels: guarded}
	switch c := configuration.(type) {
	case *admissionv1.MutatingWebhookConfiguration:
		c.Webhooks = []admissionv1.MutatingWebhook{{
			Name: name, ClientConfig: connect, Rules: rules, NamespaceSelector: namespace, ObjectSelector: objects,
			SideEffects: ptr.To(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		}}
	case *admissionv1.ValidatingWebhookConfiguration:
		c.Webhooks = []admissionv1.ValidatingWebhook{{
			Name: name, ClientConfig: connect, Rules: rules, NamespaceSelector: namespace, ObjectSelector: objects,
			SideEffects: ptr.To(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		}}
	}
}

// replica runs one replica until the test ends.
func (f *fixture) replica(t *testing.T, index int) {
	t.Helper()
	var rotator *Rotator
	server := webhook.NewServer(webhook.Options{
		Host: "localhost",
		Port: int(f.ports[index]),
		TLSOpts: []func(*tls.Config){func(c *tls.Config) {
			c.NextProtos = []string{"http/1.1"}
			c.GetCertificate = func(h *tls.ClientHelloInfo) (*tls.Certificate, error) { return rotator.GetCertificate(h) }
		}},
	})
	mgr, err := ctrl.NewManager(env.Config, ctrl.Options{
		Metrics:       metricsserver.Options{BindAddress: "0"},
		WebhookServer: server,
		Controller:    config.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	mgr.GetWebhookServer().Register(admissionPath, onFreshConnections(&admission.Webhook{Handler: admission.HandlerFunc(
		func(context.Context, admission.Request) admission.Response { return admission.Allowed("") },
	)}))
	if rotator, err = Add(mgr, f.options); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("replica %d: %v", index, err)
		}
	})
}

// onFreshConnections closes the connection after each answer. API servers would
// keep it, and so not look at the certificate again.
func onFreshConnections(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		handler.ServeHTTP(w, r)
	})
}

// admit makes one request that both webhooks have to answer.
func (f *fixture) admit(ctx context.Context) error {
	return f.client.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.options.Namespace, GenerateName: "probe-", Labels: guarded},
	}, client.DryRunAll)
}

type probeResult struct {
	made, failed int
	last         error
}

// probe makes requests without a pause while the function runs.
func (f *fixture) probe(t *testing.T, while func()) probeResult {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var result probeResult
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			// Not the context that ends the loop: it would fail the last one.
			err := f.admit(t.Context())
			result.made++
			if err != nil {
				result.failed++
				result.last = err
			}
		}
	})
	defer func() {
		cancel()
		running.Wait()
	}()
	while()
	cancel()
	running.Wait()
	return result
}

// renewedAfter waits until both replicas present another certificate than the
// Secret held.
func (f *fixture) renewedAfter(t *testing.T, old *corev1.Secret) {
	t.Helper()
	expect.Eventually(t, "both replicas present a new certificate", func(ctx context.Context) error {
		renewed := f.secret(t)
		if bytes.Equal(renewed.Data[corev1.TLSCertKey], old.Data[corev1.TLSCertKey]) {
			return errors.New("the Secret still holds the old certificate")
		}
		pair, err := tls.X509KeyPair(renewed.Data[corev1.TLSCertKey], renewed.Data[corev1.TLSPrivateKeyKey])
		if err != nil {
			return err
		}
		for _, port := range f.ports {
			if err := presents(ctx, port, pair.Leaf.Raw); err != nil {
				return err
			}
		}
		return nil
	})
}

func presents(ctx context.Context, port int32, raw []byte) error {
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	connection, err := dialer.DialContext(ctx, "tcp", fmt.Sprintf("localhost:%d", port))
	if err != nil {
		return err
	}
	defer connection.Close()
	if !bytes.Equal(connection.(*tls.Conn).ConnectionState().PeerCertificates[0].Raw, raw) {
		return fmt.Errorf("port %d presents another certificate", port)
	}
	return nil
}

func (f *fixture) trusts(ctx context.Context, authorities []byte) error {
	for _, configuration := range f.configurations() {
		if err := f.client.Get(ctx, client.ObjectKeyFromObject(configuration), configuration); err != nil {
			return err
		}
		if setAuthorities(configuration, authorities) {
			return fmt.Errorf("%s trusts something else", configuration.GetName())
		}
	}
	return nil
}

func (f *fixture) configurations() []client.Object {
	return (&Rotator{options: f.options}).configurations()
}

func (f *fixture) secretKey() client.ObjectKey {
	return (&Rotator{options: f.options}).secretKey()
}

// secret returns the current Secret; one that is missing at the moment is
// returned empty.
func (f *fixture) secret(t *testing.T) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{}
	if err := client.IgnoreNotFound(f.client.Get(t.Context(), f.secretKey(), secret)); err != nil {
		t.Fatal(err)
	}
	return secret
}

func (f *fixture) get(t *testing.T, object client.Object) {
	t.Helper()
	if err := f.client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
}
