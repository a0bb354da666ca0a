package upgrade

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/follow"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/show"
)

// phase is one of an upgrade, with what happens in it.
type phase struct {
	phase commonv1.UpgradePhase
	text  string
}

// phases are those of an upgrade, offlinePhases those of an offline one, in order.
var phases = []phase{
	{commonv1.UpgradePhaseExpanding, "tables and columns are added; the old release serves"},
	{commonv1.UpgradePhaseMigrating, "data is migrated; the old release serves"},
	{commonv1.UpgradePhaseRollingUpdate, "the pods are replaced; both releases serve"},
	{commonv1.UpgradePhaseContracting, "what only the old release used is dropped; a rollback is no longer possible"},
}

var offlinePhases = []phase{
	{commonv1.UpgradePhaseStopping, "everything that uses the database is stopped; the API is down"},
	{commonv1.UpgradePhaseSyncing, "the database is migrated; the API is down, and a rollback is no longer possible"},
}

// failures are the reasons of DatabaseReady that require the user to act.
var failures = []string{
	vocabulary.ReasonExpandFailed, vocabulary.ReasonMigrateFailed, vocabulary.ReasonContractFailed,
	vocabulary.ReasonVersionParseError, vocabulary.ReasonUpgradePathInvalid, vocabulary.ReasonDowngradeNotSupported,
	vocabulary.ReasonUpgradeTargetChanged, vocabulary.ReasonUpgradeAbortRefused, vocabulary.ReasonSchemaDriftDetected,
	vocabulary.ReasonDBSyncFailed, vocabulary.ReasonDatabaseNewerThanImage,
}

// View describes the progress of the change, an upgrade or a rollback.
func View(f Facts, change Change) follow.View {
	view := follow.View{Title: fmt.Sprintf("%s: change to release %s", f.Target().Arg(), change), Done: f.ready()}
	before := ""
	for _, service := range f.Services {
		to := change.Tag(service)
		rows, installed := serviceRows(service, to)
		if before != "" && service.ServiceSpec().Image.Tag != to {
			rows = []follow.Row{{Name: "Upgrade", State: "Wait", Colour: show.Grey, Text: "begins when " + before + " has its release"}}
		}
		if before == "" && !installed {
			before = service.Of.Kind
		}
		for i := range rows {
			rows[i].Name = f.label(service, rows[i].Name)
		}
		view.Rows = append(view.Rows, rows...)
		view.Done = view.Done && installed
		if view.Failed == nil {
			view.Failed = f.failure(service, to)
		}
	}
	return view
}

// observed reports whether the change has reached the service and its operator. A
// ControlPlane changes one service after another.
func observed(service inventory.Service, to string) bool {
	return service.ServiceStatus().ObservedGeneration == service.GetGeneration() && service.ServiceSpec().Image.Tag == to
}

// serviceRows describes the progress of a service, and reports whether it has the release.
func serviceRows(service inventory.Service, to string) (rows []follow.Row, installed bool) {
	if !observed(service, to) {
		return []follow.Row{{Name: "Operator", State: "Wait", Colour: show.Yellow, Text: "has not observed the change yet"}}, false
	}
	status := service.ServiceStatus()
	if status.TargetRelease != "" {
		rows = changeRows(status, to)
	}
	for _, name := range []string{vocabulary.ConditionDatabaseReady, vocabulary.ConditionDeploymentReady, vocabulary.ConditionReady} {
		if condition := meta.FindStatusCondition(status.Conditions, name); condition != nil {
			rows = append(rows, follow.ConditionRows([]metav1.Condition{*condition})...)
		}
	}
	return rows, status.InstalledRelease == to && status.TargetRelease == ""
}

// changeRows describes the upgrade of a service that is in progress.
func changeRows(status *commonv1.ServiceStatus, to string) []follow.Row {
	if status.TargetRelease == to {
		return phaseRows(status.UpgradePhase)
	}
	return []follow.Row{{
		Name: "Abort", State: "Run", Colour: show.Yellow, Text: "the upgrade to " + status.TargetRelease + " is being rolled back",
	}}
}

func (f Facts) ready() bool {
	if cp := f.ControlPlane; cp != nil &&
		(cp.Status.ObservedGeneration != cp.Generation || !meta.IsStatusConditionTrue(cp.Status.Conditions, vocabulary.ConditionReady)) {
		return false
	}
	return !slices.ContainsFunc(f.Services, func(service inventory.Service) bool {
		return !meta.IsStatusConditionTrue(service.GetConditions(), vocabulary.ConditionReady)
	})
}

func phaseRows(current commonv1.UpgradePhase) []follow.Row {
	all := phases
	if current.IsOffline() {
		all = offlinePhases
	}
	rows := make([]follow.Row, 0, len(all))
	row := follow.Row{State: "Done", Colour: show.Green}
	if current == "" {
		row.State, row.Colour = "Wait", show.Grey
	}
	for _, phase := range all {
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

// failure returns what blocks the upgrade of a service, nil while it proceeds. A failure of
// an earlier spec does not count.
func (f Facts) failure(service inventory.Service, to string) error {
	if !observed(service, to) {
		return nil
	}
	database := meta.FindStatusCondition(service.GetConditions(), vocabulary.ConditionDatabaseReady)
	if database == nil || database.Status == metav1.ConditionTrue || database.ObservedGeneration != service.GetGeneration() ||
		!slices.Contains(failures, database.Reason) {
		return nil
	}
	err := fmt.Errorf("%s: %s", database.Reason, database.Message)
	if len(f.Services) > 1 {
		err = fmt.Errorf("%s: %w", service.Ref().Arg(), err)
	}
	return err
}
