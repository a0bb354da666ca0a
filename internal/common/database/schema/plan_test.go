package schema

import (
	"strings"
	"testing"

	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

func TestAReleaseChangeIsSyncedUpgradedAbortedOrRefused(t *testing.T) {
	const expanding, contracting = commonv1.UpgradePhaseExpanding, commonv1.UpgradePhaseContracting
	const stopping, syncing = commonv1.UpgradePhaseStopping, commonv1.UpgradePhaseSyncing
	tests := map[string]struct {
		installed, target string
		phase             commonv1.UpgradePhase
		contracted        string
		tag               string
		slurp, any        bool
		offline           bool
		want              schemaPlan
		reason, says      string
	}{
		"a first installation takes any tag":    {tag: "latest", want: schemaSync},
		"the same tag is kept up to date":       {installed: "2025.1", tag: "2025.1", want: schemaSync},
		"a tag that is no release stays":        {installed: "latest", tag: "latest", want: schemaSync},
		"a rebuild is a patch":                  {installed: "2025.1", tag: "2025.1-fixed", want: schemaSync},
		"the next release is an upgrade":        {installed: "2025.2", tag: "2026.1", want: schemaUpgrade},
		"an upgrade goes on":                    {installed: "2025.1", target: "2025.2", phase: expanding, tag: "2025.2", want: schemaUpgrade},
		"an upgrade is aborted":                 {installed: "2025.1", target: "2025.2", phase: expanding, tag: "2025.1", want: schemaAbort},
		"a contraction goes on":                 {installed: "2025.1", target: "2025.2", phase: contracting, tag: "2025.2", want: schemaUpgrade},
		"a phase without a target counts less":  {installed: "2025.1", phase: expanding, tag: "2025.2", want: schemaUpgrade},
		"a finished upgrade is kept up to date": {installed: "2025.2", contracted: "2025.2", tag: "2025.2", want: schemaSync},
		"a patch after an upgrade":              {installed: "2025.2", contracted: "2025.2", tag: "2025.2-fixed", want: schemaSync},
		"a downgrade": {
			installed: "2025.2", tag: "2025.1", reason: vocabulary.ReasonDowngradeNotSupported, says: "set image.tag to 2025.2 or later",
		},
		"SLURP":                  {installed: "2025.1", tag: "2026.1", slurp: true, want: schemaUpgrade},
		"any distance for tests": {installed: "2022.2", tag: "2025.1", any: true, want: schemaUpgrade},
		"back for tests": {
			installed: "2025.1", tag: "2022.2", any: true, reason: vocabulary.ReasonDowngradeNotSupported, says: "set image.tag to 2025.1 or later",
		},
		"any distance offline":         {installed: "2022.2", tag: "2025.1", offline: true, want: schemaOffline},
		"the next release offline":     {installed: "2024.2", tag: "2025.1", offline: true, want: schemaOffline},
		"SLURP offline":                {installed: "2024.1", tag: "2025.1", slurp: true, offline: true, want: schemaOffline},
		"a first installation offline": {tag: "2025.1", offline: true, want: schemaSync},
		"a rebuild offline":            {installed: "2025.1", tag: "2025.1-fixed", offline: true, want: schemaSync},
		"no change offline":            {installed: "2025.1", tag: "2025.1", offline: true, want: schemaSync},
		"an offline upgrade goes on":   {installed: "2022.2", target: "2025.1", phase: syncing, tag: "2025.1", want: schemaOffline},
		"an offline upgrade is aborted": {
			installed: "2022.2", target: "2025.1", phase: stopping, tag: "2022.2", offline: true, want: schemaAbort,
		},
		"an upgrade stays online": {
			installed: "2024.2", target: "2025.1", phase: expanding, tag: "2025.1", offline: true, want: schemaUpgrade,
		},
		"back offline": {
			installed: "2025.1", tag: "2022.2", offline: true,
			reason: vocabulary.ReasonDowngradeNotSupported, says: "set image.tag to 2025.1 or later",
		},
		"offline to no release": {
			installed: "2025.1", tag: "edge", offline: true, reason: vocabulary.ReasonVersionParseError, says: `"edge"`,
		},
		"another tag while pods are stopped": {
			installed: "2022.2", target: "2025.1", phase: stopping, tag: "2025.2",
			reason: vocabulary.ReasonUpgradeTargetChanged, says: "set image.tag to 2025.1 to finish it, or to 2022.2 to abort it",
		},
		"another tag while the database is migrated": {
			installed: "2022.2", target: "2025.1", phase: syncing, tag: "2025.2", offline: true,
			reason: vocabulary.ReasonUpgradeTargetChanged, says: "set image.tag to 2025.1 to finish it",
		},
		"taking back an offline migration": {
			installed: "2022.2", target: "2025.1", phase: syncing, tag: "2022.2",
			reason: vocabulary.ReasonUpgradeAbortRefused,
			says:   "set image.tag to 2025.1; the only way back to 2022.2 is a restore of a database backup",
		},
		"a distance that needs a request": {
			installed: "2022.2", tag: "2025.1", slurp: true, reason: vocabulary.ReasonUpgradePathInvalid,
			says: `go to 2023.1 first, or request an offline upgrade with the annotation forge.c5c3.io/offline-upgrade: "2025.1": ` +
				"the API is down during the upgrade, and the only way back is a restore of a database backup",
		},
		"SLURP, which the service does not support": {
			installed: "2025.1", tag: "2026.1", reason: vocabulary.ReasonUpgradePathInvalid, says: "go to 2025.2 first",
		},
		"a skipped release": {
			installed: "2024.2", tag: "2025.2", slurp: true, reason: vocabulary.ReasonUpgradePathInvalid, says: "go to 2025.1 first",
		},
		"a skipped SLURP release": {
			installed: "2024.1", tag: "2026.1", slurp: true, reason: vocabulary.ReasonUpgradePathInvalid, says: "go to 2025.1 first",
		},
		"a tag that is no release": {
			installed: "2025.1", tag: "edge", reason: vocabulary.ReasonVersionParseError, says: `"edge"`,
		},
		"an installed tag that is no release": {
			installed: "edge", tag: "2025.1", reason: vocabulary.ReasonVersionParseError, says: "set image.tag back to edge",
		},
		"a third tag": {
			installed: "2025.1", target: "2025.2", phase: expanding, tag: "2025.2-fixed",
			reason: vocabulary.ReasonUpgradeTargetChanged, says: "set image.tag to 2025.2 to finish it, or to 2025.1 to abort it",
		},
		"a third tag when no abort is possible": {
			installed: "2025.1", target: "2025.2", phase: contracting, tag: "2026.1",
			reason: vocabulary.ReasonUpgradeTargetChanged, says: "set image.tag to 2025.2 to finish it",
		},
		"taking back a contraction": {
			installed: "2025.1", target: "2025.2", phase: contracting, tag: "2025.1",
			reason: vocabulary.ReasonUpgradeAbortRefused, says: "set image.tag to 2025.2",
		},
		"taking back a contraction that the status has not recorded": {
			installed: "2025.1", target: "2025.2", phase: expanding, contracted: "2025.2", tag: "2025.1",
			reason: vocabulary.ReasonUpgradeAbortRefused, says: "set image.tag to 2025.2",
		},
		"taking back a contraction whose phase was lost": {
			installed: "2025.1", contracted: "2025.2", tag: "2025.1",
			reason: vocabulary.ReasonUpgradeAbortRefused, says: "set image.tag to 2025.2",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			status := &commonv1.ServiceStatus{InstalledRelease: test.installed, TargetRelease: test.target, UpgradePhase: test.phase}
			plan, err := planSchema(request{tag: test.tag, slurp: test.slurp, anyDistance: test.any, offline: test.offline}, status, test.contracted)
			outcome := reconcile.Failed("", err)
			if plan != test.want || outcome.Reason() != test.reason || !strings.Contains(outcome.Message(), test.says) {
				t.Errorf("got plan %d, %s: %s; want plan %d, %s with %q",
					plan, outcome.Reason(), outcome.Message(), test.want, test.reason, test.says)
			}
		})
	}
}
