// Package testutil runs the keystone operator in a test, with the caches and permissions
// that it has in production and an API server owned by the test.
package testutil

import (
	"context"
	"testing"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	kit "github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/internal/common/testutil/running"
	"github.com/c5c3/forge/operators/keystone/internal/controller"
)

// Operator is a running keystone operator.
type Operator struct {
	*running.Operator
	// API answers the operator's health probes.
	API *API
}

// Program is the operator. adjust may override options.
func Program(adjust ...func(*controller.Options)) running.Program {
	return running.Program{
		Options: operator.Options{Name: "keystone-operator", Scheme: controller.Scheme(), CacheTransform: controller.Trim},
		Setup: func(ctx context.Context, mgr ctrl.Manager, settings startup.Config, replaced kit.Options) error {
			options := controller.Options{Options: replaced}
			for _, change := range adjust {
				change(&options)
			}
			return controller.SetupWith(ctx, mgr, settings, options)
		},
	}
}

// Start runs an operator for one namespace, or for all if namespace is empty, until the
// test ends. Its log is shown if the test fails. adjust may override options.
func Start(t testing.TB, cfg *rest.Config, namespace string, adjust ...func(*controller.Options)) *Operator {
	t.Helper()
	api := NewAPI(&running.API{})
	return &Operator{Operator: running.Start(t, Program(adjust...), cfg, namespace, kit.Options{Probe: api}), API: api}
}

// Run runs an operator for one namespace, or for all if namespace is empty,
// until ctx ends.
func Run(ctx context.Context, cfg *rest.Config, namespace string) error {
	return Program().Run(ctx, cfg, namespace, kit.Options{Probe: NewAPI(&running.API{})})
}
