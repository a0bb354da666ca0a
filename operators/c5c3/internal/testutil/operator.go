// Package testutil runs the c5c3 operator in a test, with the caches and permissions that
// it has in production and an API server owned by the test.
package testutil

import (
	"context"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	common "github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/internal/common/testutil/running"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	"github.com/c5c3/forge/operators/c5c3/internal/controller"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// Program is the operator, which looks for optional kinds every second. adjust may change the
// tools of its passes.
func Program(korc *standin.KORC, adjust ...func(*pass.Tools)) running.Program {
	return running.Program{
		Options: operator.Options{Name: "c5c3-operator", Scheme: controller.Scheme(), CacheTransform: controller.Trim},
		Setup: func(ctx context.Context, mgr ctrl.Manager, settings startup.Config, replaced common.Options) error {
			replaced.DiscoveryInterval = time.Second
			return controller.Setup(ctx, mgr, settings, controller.Options{Options: replaced, Adjust: func(t *pass.Tools) {
				asking(korc)(t)
				for _, change := range adjust {
					change(t)
				}
			}})
		},
	}
}
