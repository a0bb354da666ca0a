package apiservice

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/metric"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func TestTheReleaseMetricHasInstalledTargetAndPhase(t *testing.T) {
	h := instance.Brownfield()
	h.Status.InstalledRelease, h.Status.TargetRelease, h.Status.UpgradePhase = "2025.2", "2026.1", commonv1.UpgradePhaseExpanding
	want := []reconcile.Sample{{Labels: []string{"2025.2", "2026.1", string(commonv1.UpgradePhaseExpanding)}, Value: 1}}
	info := releases[*instance.Harbour](metric.Names{Prefix: "harbour_operator", Kind: "Harbour"})
	if diff := cmp.Diff(want, info.Read(h, time.Unix(1_000_000, 0))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := len(info.Labels); got != len(want[0].Labels)+len([]metric.Label{metric.Namespace, metric.Name}) {
		t.Errorf("%d labels are defined", got)
	}
}
