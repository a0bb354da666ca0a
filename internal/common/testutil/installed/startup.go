package installed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
)

// Guards fails unless the operator, as the chart installs it with its defaults, admits the
// sample, refuses one that invalidate has changed, with the complaint, and works on it. Only
// the webhook may find what is wrong.
func Guards[T client.Object](t *testing.T, c Chart, invalidate func(T), complaint string) {
	t.Helper()
	installed := c.Read(t, "defaults")
	installed.RunWithWebhooks(t)
	admin := c.Env.Client(t, c.Options.Scheme)
	expect.Eventually(t, "the sample is admitted", func(ctx context.Context) error {
		return admin.Create(ctx, c.Resource(t, installed.Namespace), client.DryRunAll)
	})
	expect.Eventually(t, "an invalid one is refused", func(ctx context.Context) error {
		invalid := c.Resource(t, installed.Namespace)
		invalidate(invalid.(T))
		err := admin.Create(ctx, invalid, client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), complaint) {
			return errors.Join(errors.New("it is not"), err)
		}
		return nil
	})
	c.ExpectWork(t, installed.Namespace)
}

// WorksWithARole fails unless the operator of a single namespace works there without any
// right in the cluster.
func (c Chart) WorksWithARole(t *testing.T) {
	t.Helper()
	installed := c.Read(t, "namespace-scoped")
	for _, object := range installed.Objects {
		if kind := object.GetObjectKind().GroupVersionKind().Kind; strings.Contains(kind, "Cluster") || strings.Contains(kind, "Webhook") {
			t.Errorf("the release has a %s", kind)
		}
	}
	installed.Create(t)
	installed.Run(t)
	c.ExpectWork(t, installed.Namespace)
}

// AppliesDefinitions fails unless the Job of the chart's hook may apply the definitions.
func (c Chart) AppliesDefinitions(t *testing.T) {
	t.Helper()
	installed := c.Read(t, "defaults")
	installed.Create(t)
	if err := installed.ApplyDefinitions(t); err != nil {
		t.Error(err)
	}
}

// ExpectWork creates the sample, which lacks what it refers to, in the namespace, and waits
// until the operator says so.
func (c Chart) ExpectWork(t *testing.T, namespace string) {
	t.Helper()
	admin, resource := c.Env.Client(t, c.Options.Scheme), c.Resource(t, namespace)
	expect.Eventually(t, "the sample is created", func(ctx context.Context) error { return admin.Create(ctx, resource) })
	expect.Object(t, admin, resource, func() error {
		conditions, err := expect.Conditions(resource)
		if err == nil && !meta.IsStatusConditionFalse(conditions, c.Begun) {
			err = fmt.Errorf("%s is not False", c.Begun)
		}
		return err
	})
}

// RunWithWebhooks creates the objects and starts the operator, with additional arguments,
// where the API server finds its webhooks.
func (r *Release) RunWithWebhooks(t *testing.T, args ...string) {
	t.Helper()
	port := envtest.FreePort(t)
	r.ServeWebhooksAt(port)
	r.Create(t)
	r.Run(t, append(args, fmt.Sprintf("--webhook-port=%d", port))...)
}
