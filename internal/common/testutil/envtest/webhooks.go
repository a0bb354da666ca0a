package envtest

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crenvtest "sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/outside"
)

// ServeWebhooks has the API server call the webhooks of the configurations, which are files
// or directories, until the test ends. It runs a manager that has nothing but what register
// adds to it, and returns once the manager serves them.
func (e *Env) ServeWebhooks(t testing.TB, configurations []string, scheme *runtime.Scheme, register func(ctrl.Manager) error) {
	t.Helper()
	for _, path := range configurations {
		outside.File(path)
	}
	webhooks := &crenvtest.WebhookInstallOptions{Paths: configurations, MaxTime: startTimeout}
	t.Cleanup(func() {
		if err := webhooks.Cleanup(); err != nil {
			t.Error(err)
		}
	})
	if err := webhooks.PrepWithoutInstalling(); err != nil {
		t.Fatal(err)
	}
	e.serve(t, webhooks, scheme, register)
	if err := webhooks.Install(e.Config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.uninstall(t, webhooks) })
}

func (e *Env) serve(t testing.TB, at *crenvtest.WebhookInstallOptions, scheme *runtime.Scheme, register func(ctrl.Manager) error) {
	t.Helper()
	mgr, err := ctrl.NewManager(e.Config, ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: at.LocalServingHost, Port: at.LocalServingPort, CertDir: at.LocalServingCertDir,
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

func (e *Env) uninstall(t testing.TB, webhooks *crenvtest.WebhookInstallOptions) {
	t.Helper()
	var installed []client.Object
	for _, configuration := range webhooks.MutatingWebhooks {
		installed = append(installed, configuration)
	}
	for _, configuration := range webhooks.ValidatingWebhooks {
		installed = append(installed, configuration)
	}
	for _, configuration := range installed {
		if err := e.admin.Delete(context.WithoutCancel(t.Context()), configuration); err != nil {
			t.Errorf("remove a webhook configuration: %v", err)
		}
	}
}
