package testutil

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/operators/keystone/internal/controller"
)

// Run runs an operator for one namespace, or for all if namespace is empty,
// until ctx ends. adjust may change what tests replace.
func Run(
	ctx context.Context, cfg *rest.Config, namespace string, api *API, log logr.Logger, adjust ...func(*controller.Options),
) error {
	return run(ctx, cfg, namespace, api, log, &announcements{counts: map[string]int{}}, adjust...)
}

func run(
	ctx context.Context, cfg *rest.Config, namespace string, api *API, log logr.Logger,
	announced *announcements, adjust ...func(*controller.Options),
) error {
	settings := operator.Config{Namespace: namespace, MaxConcurrentReconciles: 2, OperatorNamespace: "keystone-system"}
	options := operator.ManagerOptions(operator.Options{
		Name: "keystone-operator", Scheme: controller.Scheme(), CacheTransform: controller.Trim,
	}, settings)
	options.Logger = log
	mgr, err := ctrl.NewManager(cfg, options)
	if err != nil {
		return fmt.Errorf("create the operator's manager: %w", err)
	}
	var replaced controller.Options
	replaced.Probe = api
	for _, change := range adjust {
		change(&replaced)
	}
	if err := controller.SetupWith(ctx, listened{mgr, announced}, settings, replaced); err != nil {
		return fmt.Errorf("set up the operator: %w", err)
	}
	return mgr.Start(ctx)
}
