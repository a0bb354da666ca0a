//go:build integration

package envtest

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/thirdparty"
)

// shared is the API server of the tests that need one.
var shared *Env

func TestMain(m *testing.M) {
	o := Options{ThirdParty: thirdparty.All, GarbageCollector: true, Long: true}
	Main(m, o, func(_ context.Context, e *Env) error {
		shared = e
		return nil
	})
}

func TestAMissingBinaryIsNamedWithTheCommandThatBuildsIt(t *testing.T) {
	_, err := binary("nonesuch")
	if err == nil {
		t.Fatal("no error")
	}
	root, rootErr := checkout()
	if rootErr != nil {
		t.Fatal(rootErr)
	}
	want := "make " + filepath.Join(root, ".cache/bin/nonesuch")
	if !strings.Contains(err.Error(), want) {
		t.Errorf("error %q does not say %q", err, want)
	}
}

func TestABinaryInTheAssetsDirectoryWins(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(assetsVariable, dir)
	want := filepath.Join(dir, "etcd")
	if err := os.WriteFile(want, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := binary("etcd")
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAnInvalidDelayIsRejected(t *testing.T) {
	for _, asked := range []string{"500", "-1s", "0s", "soon"} {
		t.Setenv(delayVariable, asked)
		if err := delay(&rest.Config{}); err == nil || !strings.Contains(err.Error(), delayVariable+"="+asked) {
			t.Errorf("%s: got %v", asked, err)
		}
	}
}

func TestTheServerGetsReady(t *testing.T) {
	cfg := rest.CopyConfig(shared.Config)
	cfg.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	c, err := rest.UnversionedRESTClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	expect.Eventually(t, "the server is ready", func(ctx context.Context) error {
		return c.Get().AbsPath("/readyz").Do(ctx).Error()
	})
}

func TestTheServerHasThirdPartyKindsAndCollectsGarbage(t *testing.T) {
	c, ns := shared.Client(t, scheme.Scheme), shared.Namespace(t)

	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "owner"}}
	if err := c.Create(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	child := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "child", OwnerReferences: []metav1.OwnerReference{
		*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap")),
	}}}
	child.Spec.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers:    []corev1.Container{{Name: "main", Image: "none"}},
	}
	if err := c.Create(t.Context(), child); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), owner, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		t.Fatal(err)
	}
	expect.Gone(t, c, child)
}

func TestAUserMayDoWhatItsRulesSayAndNothingElse(t *testing.T) {
	rules := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(rules, []byte("- {apiGroups: [\"\"], resources: [configmaps], verbs: [create]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := shared.User(t.Context(), "reader", rules)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(cfg, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	meta := metav1.ObjectMeta{Namespace: shared.Namespace(t), Name: "mine"}
	if err := c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: meta}); err != nil {
		t.Errorf("creating a ConfigMap: %v", err)
	}
	if err := c.Create(t.Context(), &corev1.Secret{ObjectMeta: meta}); !apierrors.IsForbidden(err) {
		t.Errorf("creating a Secret: got %v, want forbidden", err)
	}
}

// When a connection has as many streams as the server allows, a request may be refused with
// PROTOCOL_ERROR: the server can notice the end of another one later than the client.
func TestAllClientsOfATestFitIntoAConnection(t *testing.T) {
	var connections atomic.Int32
	cfg := rest.CopyConfig(shared.Config)
	cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		connections.Add(1)
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	c, err := client.NewWithWatch(cfg, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ns := shared.Namespace(t)
	for range 300 {
		w, err := c.Watch(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(ns))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("300 watches took %d connections", n)
	}
}
