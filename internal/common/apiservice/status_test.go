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

func TestAStatusWriteIsDeferredOnlyForTheFirstReleaseAndEndpoint(t *testing.T) {
	type status = commonv1.ServiceStatus
	known := status{InstalledRelease: "2025.2", Endpoint: "http://harbour"}
	for name, c := range map[string]struct {
		before, now status
		want        bool
	}{
		"the first release":       {now: status{InstalledRelease: "2025.2"}, want: true},
		"the first endpoint":      {before: status{InstalledRelease: "2025.2"}, now: known, want: true},
		"both":                    {now: known, want: true},
		"another release":         {before: known, now: status{InstalledRelease: "2026.1", Endpoint: known.Endpoint}},
		"another endpoint":        {before: known, now: status{InstalledRelease: known.InstalledRelease, Endpoint: "https://harbour"}},
		"no release anymore":      {before: known, now: status{Endpoint: known.Endpoint}},
		"another generation":      {now: status{InstalledRelease: "2025.2", ObservedGeneration: 2}},
		"the start of an upgrade": {before: known, now: status{InstalledRelease: "2025.2", Endpoint: known.Endpoint, TargetRelease: "2026.1"}},
		"an upgrade, recovered":   {now: status{InstalledRelease: "2025.2", TargetRelease: "2026.1"}},
		"the phase of an upgrade": {now: status{InstalledRelease: "2025.2", UpgradePhase: commonv1.UpgradePhaseExpanding}},
		"what an abort has left":  {now: status{InstalledRelease: "2025.2", ExpandedRelease: "2026.1"}},
	} {
		before, now := &instance.Harbour{Status: c.before}, &instance.Harbour{Status: c.now}
		recomputed(before)(now)
		if got := cmp.Equal(c.before, now.Status); got != c.want {
			t.Errorf("%s: got %t, want %t", name, got, c.want)
		}
	}
}

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
