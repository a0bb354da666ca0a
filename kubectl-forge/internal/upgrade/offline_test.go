package upgrade

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/kubectl-forge/internal/check"
)

func TestPreflightWarnsThatTheAPIIsDownDuringAnOfflineUpgrade(t *testing.T) {
	f := both()
	f.ControlPlane.Annotations = map[string]string{commonv1.AnnotationOfflineUpgrade: "2030.1"}
	var warnings []string
	for _, finding := range Preflight(f, "2030.1") {
		if finding.Result != check.OK {
			warnings = append(warnings, fmt.Sprint(finding.Result, " ", finding.Name, ": ", finding.Text))
		}
	}
	const text = ": Release: the upgrade from 2025.2 to 2030.1 is offline: the API is down meanwhile, " +
		"and the only way back is a restore of a database backup"
	want := []string{"Warning Keystone" + text, "Warning Placement" + text}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
