//go:build integration

package controller_test

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/controller"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// bare is an API server without any third-party kinds, and one operator for all of its
// namespaces that is never restarted.
type bare struct {
	*testing.T
	env    *envtest.Env
	client client.Client
}

func newBare(t *testing.T) *bare {
	t.Helper()
	b := &bare{T: t, env: envtest.Start(t, envtest.Options{CRDs: []string{crdDirectory}})}
	b.client = b.env.Client(t, controller.Controller.Scheme())
	standin.Start(b, b.env.Config, standin.NewDeployments(), standin.NewJobs())
	cfg, err := b.env.User(t.Context(), "keystone-operator", rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	// Kinds are discovered by watching their definitions, so the interval does not
	// matter.
	testutil.Start(t, cfg, "", func(o *testutil.Options) { o.DiscoveryInterval = time.Hour })
	return b
}

// newKeystone creates a Keystone of the mode in its own namespace.
func (b *bare) newKeystone(k func(namespace, name string) *keystonev1alpha1.Keystone, inputs []client.Object) *keystonev1alpha1.Keystone {
	b.Helper()
	namespace := b.env.Namespace(b.T)
	for _, obj := range inputs {
		obj.SetNamespace(namespace)
		objects.Create(b.T, b.client, obj)
	}
	created := k(namespace, testutil.Name)
	objects.Create(b.T, b.client, created)
	return created
}
