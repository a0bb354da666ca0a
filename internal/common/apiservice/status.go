package apiservice

import (
	"time"

	"github.com/c5c3/forge/internal/common/metric"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
)

// recomputed takes out of the status what becomes known once on the way to Ready and was
// not written yet when the resource was read. The endpoint is that of API pods which are
// ready. Until the first release is written, the Jobs tell that they were done with this
// image, and the Deployment tells the release when another one is wanted.
func recomputed[R service.Resource](read R) func(R) {
	status := read.ServiceStatus()
	endpoint, release := status.Endpoint != "", status.InstalledRelease != ""
	return func(later R) {
		if !endpoint {
			later.ServiceStatus().Endpoint = ""
		}
		if !release {
			later.ServiceStatus().InstalledRelease = ""
		}
	}
}

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
