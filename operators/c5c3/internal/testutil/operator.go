// Package testutil runs the c5c3 operator in a test, with the caches and permissions that
// it has in production and an API server owned by the test.
package testutil

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/operators/c5c3/internal/controller"
)

// Run runs an operator for all namespaces until ctx ends, or returns an error if it fails
// to start.
func Run(ctx context.Context, cfg *rest.Config, options controller.Options, log logr.Logger) error {
	return RunIn(ctx, cfg, "", options, log)
}

// RunIn is Run for one namespace, "" for all.
func RunIn(ctx context.Context, cfg *rest.Config, namespace string, options controller.Options, log logr.Logger) error {
	return RunAs(ctx, cfg, startup.Config{Namespace: namespace}, options, log)
}

// RunAs is Run with custom settings.
func RunAs(ctx context.Context, cfg *rest.Config, settings startup.Config, options controller.Options, log logr.Logger) error {
	settings.MaxConcurrentReconciles, settings.OperatorNamespace = 2, "c5c3-system"
	managerOptions := operator.ManagerOptions(operator.Options{
		Name: "c5c3-operator", Scheme: controller.Scheme(), CacheTransform: controller.Trim,
	}, settings)
	managerOptions.Logger = log
	mgr, err := ctrl.NewManager(cfg, managerOptions)
	if err != nil {
		return fmt.Errorf("create the operator's manager: %w", err)
	}
	if err := controller.Setup(ctx, mgr, settings, options); err != nil {
		return fmt.Errorf("set up the operator: %w", err)
	}
	return mgr.Start(ctx)
}
