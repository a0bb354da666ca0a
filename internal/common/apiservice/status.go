package apiservice

import (
	"time"

	"github.com/c5c3/forge/internal/common/metric"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
)

// releases exposes the installed and the target release of each resource.
func releases[R service.Resource](m metric.Names) reconcile.Gauge[R] {
	return reconcile.Gauge[R]{
		Definition: m.ReleaseInfo(),
		Read: func(resource R, _ time.Time) []reconcile.Sample {
			status := resource.ServiceStatus()
			return []reconcile.Sample{{
				Labels: []string{status.InstalledRelease, status.TargetRelease, string(status.UpgradePhase)}, Value: 1,
			}}
		},
	}
}
