package upgrade

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/kubectl-forge/internal/follow"
	"github.com/c5c3/forge/kubectl-forge/internal/show"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// phases are those of an upgrade, in order, with what happens in them.
var phases = []struct {
	phase keystonev1alpha1.UpgradePhase
	text  string
}{
	{keystonev1alpha1.UpgradePhaseExpanding, "tables and columns are added; the old release serves"},
	{keystonev1alpha1.UpgradePhaseMigrating, "data is migrated; the old release serves"},
	{keystonev1alpha1.UpgradePhaseRollingUpdate, "the pods are replaced; both releases serve"},
	{keystonev1alpha1.UpgradePhaseContracting, "what only the old release used is dropped; a rollback is no longer possible"},
}

// failures are the reasons of DatabaseReady that require the user to act.
var failures = []string{
	keystonev1alpha1.ReasonExpandFailed, keystonev1alpha1.ReasonMigrateFailed, keystonev1alpha1.ReasonContractFailed,
	keystonev1alpha1.ReasonVersionParseError, keystonev1alpha1.ReasonUpgradePathInvalid, keystonev1alpha1.ReasonDowngradeNotSupported,
	keystonev1alpha1.ReasonUpgradeTargetChanged, keystonev1alpha1.ReasonUpgradeAbortRefused, keystonev1alpha1.ReasonSchemaDriftDetected,
}

// View describes the progress towards the release, of an upgrade or of a
// rollback.
func View(f Facts, to string) follow.View {
	status := f.Keystone.Status
	view := follow.View{Title: fmt.Sprintf("%s: change to release %s", f.Target().Arg(), to)}
	current := status.Conditions
	if status.ObservedGeneration != f.Keystone.Generation || !f.asksFor(to) {
		view.Rows = append(view.Rows, follow.Row{
			Name: "Operator", State: "Wait", Colour: show.Yellow, Text: "has not observed the change yet",
		})
		return view
	}
	installed := status.InstalledRelease == to && status.TargetRelease == ""
	switch status.TargetRelease {
	case "":
	case to:
		view.Rows = append(view.Rows, phaseRows(status.UpgradePhase)...)
	default:
		view.Rows = append(view.Rows, follow.Row{
			Name: "Abort", State: "Run", Colour: show.Yellow, Text: "the upgrade to " + status.TargetRelease + " is being rolled back",
		})
	}
	for _, name := range []string{
		keystonev1alpha1.ConditionDatabaseReady, keystonev1alpha1.ConditionDeploymentReady, keystonev1alpha1.ConditionReady,
	} {
		if condition := meta.FindStatusCondition(current, name); condition != nil {
			view.Rows = append(view.Rows, follow.ConditionRows([]metav1.Condition{*condition})...)
		}
	}
	view.Done = installed && f.ready()
	view.Failed = failure(current, f.Keystone.Generation)
	return view
}

// asksFor reports whether the change has reached the Keystone.
func (f Facts) asksFor(to string) bool { return f.Keystone.Spec.Image.Tag == to }

func (f Facts) ready() bool {
	ready := meta.IsStatusConditionTrue(f.Keystone.Status.Conditions, keystonev1alpha1.ConditionReady)
	if cp := f.ControlPlane; cp != nil {
		ready = ready && cp.Status.ObservedGeneration == cp.Generation &&
			meta.IsStatusConditionTrue(cp.Status.Conditions, keystonev1alpha1.ConditionReady)
	}
	return ready
}

func phaseRows(current keystonev1alpha1.UpgradePhase) []follow.Row {
	rows := make([]follow.Row, 0, len(phases))
	row := follow.Row{State: "Done", Colour: show.Green}
	if current == "" {
		row.State, row.Colour = "Wait", show.Grey
	}
	for _, phase := range phases {
		row.Name, row.Text = string(phase.phase), phase.text
		if phase.phase == current {
			row.State, row.Colour = "Run", show.Yellow
		} else if row.State == "Run" {
			row.State, row.Colour = "Wait", show.Grey
		}
		rows = append(rows, row)
	}
	return rows
}

// failure returns what blocks the upgrade, nil while it proceeds. A failure of
// an earlier spec does not count.
func failure(conditions []metav1.Condition, generation int64) error {
	database := meta.FindStatusCondition(conditions, keystonev1alpha1.ConditionDatabaseReady)
	if database == nil || database.Status == metav1.ConditionTrue || database.ObservedGeneration != generation ||
		!slices.Contains(failures, database.Reason) {
		return nil
	}
	return fmt.Errorf("%s: %s", database.Reason, database.Message)
}
