package envtest

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/c5c3/forge/internal/common/testutil/expect"
)

// ServeWebhooks runs a manager with nothing but what register adds to it, at the
// address where the API server expects the webhooks of Options, until the test
// ends. It returns once the webhooks answer.
func (e *Env) ServeWebhooks(t testing.TB, scheme *runtime.Scheme, register func(ctrl.Manager) error) {
	t.Helper()
	mgr, err := ctrl.NewManager(e.Config, ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: e.Webhooks.LocalServingHost, Port: e.Webhooks.LocalServingPort, CertDir: e.Webhooks.LocalServingCertDir,
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := register(mgr); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the manager of the webhooks ended with: %v", err)
		}
	})
	expect.Eventually(t, "the webhook server to answer", func(context.Context) error {
		return mgr.GetWebhookServer().StartedChecker()(nil)
	})
}
