//go:build integration

package servingcert

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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

const admissionPath = "/admit"

// The API server calls the test's webhooks for objects with this label: those of
// the replicas for guarded objects, and those of the test itself for watched ones.
const (
	label   = "webhook-certificate"
	guarded = "guarded"
	watched = "watched"
)

var env *envtest.Env

func TestMain(m *testing.M) {
	envtest.Main(m, envtest.Options{}, func(_ context.Context, e *envtest.Env) error {
		env = e
		return nil
	})
}

func TestTheAPIServerTrustsAllReplicasDuringARenewal(t *testing.T) {
	f := install(t, "renewed")
	f.replica(t, 0)
	f.replica(t, 1)
	expect.Eventually(t, "the API server reaches both replicas", f.admit)
	first := f.secret(t)

	f.probe(t, func() {
		f.later(t, DefaultValidity*2/3)
		f.renewedAfter(t, first)
	})
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

	f.probe(t, func() {
		if err := f.client.Delete(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		f.renewedAfter(t, first)
	})
}

func TestTheCertificateSecretIsOwnedByTheService(t *testing.T) {
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
	// ahead is the offset of the replicas' clocks.
	ahead atomic.Int64
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
		Validity:       DefaultValidity,
		Settle:         DefaultSettle,
	}
	// The API server expects a certificate for the name of the Service and connects
	// to the target of the ExternalName, which is this process.
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.options.Namespace, Name: name},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}
	configurations := f.configurations()
	canary := f.serveFromSecret(t)
	for i, configuration := range configurations {
		f.fill(configuration, f.ports[i], canary)
	}
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

// fill adds two webhooks to a configuration: one for guarded objects and one for
// watched ones, each served at a port.
func (f *fixture) fill(configuration client.Object, guardedPort, watchedPort int32) {
	for value, port := range map[string]int32{guarded: guardedPort, watched: watchedPort} {
		name := value + ".example.com"
		connect := admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{
			Namespace: f.options.Namespace, Name: f.options.ServiceName, Path: ptr.To(admissionPath), Port: ptr.To(port),
		}}
		rules := []admissionv1.RuleWithOperations{{
			Operations: []admissionv1.OperationType{admissionv1.Create},
			Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
		}}
		namespace := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: f.options.Namespace}}
		objects := &metav1.LabelSelector{MatchLabels: map[string]string{label: value}}
		switch c := configuration.(type) {
		case *admissionv1.MutatingWebhookConfiguration:
			c.Webhooks = append(c.Webhooks, admissionv1.MutatingWebhook{
				Name: name, ClientConfig: connect, Rules: rules, NamespaceSelector: namespace, ObjectSelector: objects,
				SideEffects: ptr.To(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"}, TimeoutSeconds: ptr.To(int32(30)),
			})
		case *admissionv1.ValidatingWebhookConfiguration:
			c.Webhooks = append(c.Webhooks, admissionv1.ValidatingWebhook{
				Name: name, ClientConfig: connect, Rules: rules, NamespaceSelector: namespace, ObjectSelector: objects,
				SideEffects: ptr.To(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"}, TimeoutSeconds: ptr.To(int32(30)),
			})
		}
	}
}

// serveFromSecret serves webhooks with the current certificate in the Secret. The
// API server reaches them once it has learned to trust that certificate.
func (f *fixture) serveFromSecret(t *testing.T) (port int32) {
	t.Helper()
	server := httptest.NewUnstartedServer(allow())
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
		secret := &corev1.Secret{}
		if err := f.client.Get(h.Context(), f.secretKey(), secret); err != nil {
			return nil, err
		}
		pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
		return &pair, err
	}}
	// Do not log the handshakes that fail until then.
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return int32(server.Listener.Addr().(*net.TCPAddr).Port)
}

// allow is a webhook that admits everything.
func allow() http.Handler {
	return onFreshConnections(&admission.Webhook{Handler: admission.HandlerFunc(
		func(context.Context, admission.Request) admission.Response { return admission.Allowed("") },
	)})
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
	mgr.GetWebhookServer().Register(admissionPath, allow())
	if rotator, err = Add(mgr, f.options); err != nil {
		t.Fatal(err)
	}
	rotator.now = func() time.Time { return time.Now().Add(time.Duration(f.ahead.Load())) }
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
// otherwise reuse it without verifying the certificate again.
func onFreshConnections(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		handler.ServeHTTP(w, r)
	})
}

// later advances the clocks of both replicas and makes them check the certificate.
func (f *fixture) later(t *testing.T, d time.Duration) {
	t.Helper()
	now := f.ahead.Add(int64(d))
	configuration := f.configurations()[0]
	look := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/later-by":"%d"}}}`, now)
	if err := f.client.Patch(t.Context(), configuration, client.RawPatch(types.MergePatchType, look)); err != nil {
		t.Fatal(err)
	}
}

// admit makes one request that both replicas have to answer.
func (f *fixture) admit(ctx context.Context) error { return f.ask(ctx, guarded) }

// ask makes one request that a webhook of each configuration has to answer.
func (f *fixture) ask(ctx context.Context, about string) error {
	return f.client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: f.options.Namespace, GenerateName: "probe-", Labels: map[string]string{label: about},
	}}, client.DryRunAll)
}

// enough is the number of requests that make a meaningful sample.
const enough = 50

// probe sends requests continuously while the function runs, and until there are
// enough. None may fail.
func (f *fixture) probe(t *testing.T, while func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var made atomic.Int64
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			// This is not the context that ends the loop, which would fail the last
			// request.
			if err := f.admit(t.Context()); err != nil {
				t.Errorf("request %d failed: %v", made.Load()+1, err)
				return
			}
			made.Add(1)
		}
	})
	defer func() {
		cancel()
		running.Wait()
	}()
	while()
	expect.Eventually(t, "enough requests", func(context.Context) error {
		if n := made.Load(); n < enough {
			return fmt.Errorf("%d were made", n)
		}
		return nil
	})
}

// renewedAfter waits until both replicas present a certificate other than that in
// the old Secret. They do so once it has been trusted for a while.
func (f *fixture) renewedAfter(t *testing.T, old *corev1.Secret) {
	t.Helper()
	expect.Eventually(t, "a new certificate", func(context.Context) error {
		if cert := f.secret(t).Data[corev1.TLSCertKey]; len(cert) == 0 || bytes.Equal(cert, old.Data[corev1.TLSCertKey]) {
			return errors.New("the Secret does not hold one")
		}
		return nil
	})
	expect.Eventually(t, "the API server trusts the new certificate", func(ctx context.Context) error { return f.ask(ctx, watched) })
	expect.Eventually(t, "both replicas present the new certificate", func(ctx context.Context) error {
		renewed := f.secret(t)
		pair, err := tls.X509KeyPair(renewed.Data[corev1.TLSCertKey], renewed.Data[corev1.TLSPrivateKeyKey])
		if err != nil {
			return err
		}
		for _, port := range f.ports {
			if err := presents(ctx, port, pair.Leaf.Raw); err != nil {
				// A replica may only just have learned that the certificate is
				// trusted.
				f.later(t, DefaultSettle)
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

// secret returns the current Secret, or an empty one if it does not exist.
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
