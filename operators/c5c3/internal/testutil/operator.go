// Package testutil runs the c5c3 operator inside a test, with the caches and
// rights it has in production and an API server that the test owns.
package testutil

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/operators/c5c3/internal/controller"
)

// Run runs an operator for all namespaces until ctx ends, or until it has
// started when something is wrong.
func Run(ctx context.Context, cfg *rest.Config, options controller.Options, log logr.Logger) error {
	return RunIn(ctx, cfg, "", options, log)
}

// RunIn is Run for one namespace, all of them for "".
func RunIn(ctx context.Context, cfg *rest.Config, namespace string, options controller.Options, log logr.Logger) error {
	return RunAs(ctx, cfg, operator.Config{Namespace: namespace}, options, log)
}

// RunAs is Run with settings of the test's own.
func RunAs(ctx context.Context, cfg *rest.Config, settings operator.Config, options controller.Options, log logr.Logger) error {
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
