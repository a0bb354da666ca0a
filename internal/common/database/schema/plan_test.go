package schema

import (
	"strings"
	"testing"

	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

func TestAReleaseIsRefusedFollowedOrTakenBack(t *testing.T) {
	const expanding, contracting = commonv1.UpgradePhaseExpanding, commonv1.UpgradePhaseContracting
	tests := map[string]struct {
		installed, target string
		phase             commonv1.UpgradePhase
		contracted        string
		tag               string
		slurp, any        bool
		want              schemaPlan
		reason, says      string
	}{
		"a first installation takes any tag":    {tag: "latest", want: schemaSync},
		"the same tag is kept up to date":       {installed: "2025.1", tag: "2025.1", want: schemaSync},
		"a tag that is no release stays":        {installed: "latest", tag: "latest", want: schemaSync},
		"a rebuild is a patch":                  {installed: "2025.1", tag: "2025.1-fixed", want: schemaSync},
		"the next release is an upgrade":        {installed: "2025.2", tag: "2026.1", want: schemaUpgrade},
		"an upgrade goes on":                    {installed: "2025.1", target: "2025.2", phase: expanding, tag: "2025.2", want: schemaUpgrade},
		"an upgrade is taken back":              {installed: "2025.1", target: "2025.2", phase: expanding, tag: "2025.1", want: schemaAbort},
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
		"a third tag when nothing can be taken back": {
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
			plan, err := planSchema(request{tag: test.tag, slurp: test.slurp, anyDistance: test.any}, status, test.contracted)
			outcome := reconcile.Failed("", err)
			if plan != test.want || outcome.Reason() != test.reason || !strings.Contains(outcome.Message(), test.says) {
				t.Errorf("got plan %d, %s: %s; want plan %d, %s with %q",
					plan, outcome.Reason(), outcome.Message(), test.want, test.reason, test.says)
			}
		})
	}
}
