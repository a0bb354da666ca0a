//go:build integration

package refs

import (
	"context"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/transport"
)

func TestAnAPIServerWatchUpdatesAndDropsCachedContent(t *testing.T) {
	// Without this, controller-runtime complains after 30 seconds.
	ctrl.SetLogger(logr.Discard())
	env := envtest.Start(t, envtest.Options{})
	g := gomega.NewWithT(t)
	g.SetDefaultEventuallyTimeout(expect.Timeout)
	user := env.Client(t, clientgoscheme.Scheme)
	counter := &transport.Counter{}
	mgr, err := ctrl.NewManager(counter.Config(env.Config), ctrl.Options{
		Scheme: clientgoscheme.Scheme, Metrics: metricsserver.Options{BindAddress: "0"},
	})
	must(t, err)
	watched := make(chan struct{})
	reader := runReader(t, mgr, sync.OnceFunc(func() { close(watched) }))

	s := secret("admin", "one")
	s.Namespace = env.Namespace(t)
	must(t, user.Create(t.Context(), s))
	var got corev1.Secret
	password := func() (string, error) {
		err := reader.Get(t.Context(), client.ObjectKeyFromObject(s), &got)
		return string(got.Data["password"]), err
	}
	g.Eventually(password).Should(gomega.Equal("one"))
	// As in an operator: passes begin once its watches run.
	g.Eventually(watched).Should(gomega.BeClosed())
	before := counter.Snapshot()
	g.Expect(password()).To(gomega.Equal("one"))
	if requests := counter.Since(before); len(requests) > 0 {
		t.Errorf("reading an unchanged Secret took requests:\n%s", requests)
	}

	s.Data["password"] = []byte("two")
	must(t, user.Update(t.Context(), s))
	g.Eventually(password).Should(gomega.Equal("two"))

	g.Expect(reader.kept()).To(gomega.Equal(1))
	must(t, user.Delete(t.Context(), s))
	g.Eventually(reader.kept).Should(gomega.Equal(0))
}

// runReader runs mgr and a Reader whose Secrets a controller watches, until the
// test ends. It calls event for each event.
func runReader(t *testing.T, mgr ctrl.Manager, event func()) *Reader {
	t.Helper()
	reader, err := New(mgr, "")
	must(t, err)
	ctl, err := controller.New("refs", mgr, controller.Options{
		SkipNameValidation: new(true),
		Reconciler: reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			return reconcile.Result{}, nil
		}),
	})
	must(t, err)
	must(t, ctl.Watch(reader.SecretSource(func(context.Context, client.Object) []reconcile.Request {
		event()
		return nil
	})))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the manager ended with: %v", err)
		}
	})
	return reader
}
