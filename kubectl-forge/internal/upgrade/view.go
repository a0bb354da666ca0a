package upgrade

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/follow"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
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

// View describes the progress of the change, an upgrade or a rollback. A ControlPlane changes one service after another.
func View(f Facts, change Change) follow.View {
	view := follow.View{Title: fmt.Sprintf("%s: change to release %s", f.Target().Arg(), change), Done: f.isReady()}
	if f.ControlPlane != nil {
		view.Done = view.Done && inventory.IsObserved(f.ControlPlane)
	}
	before := ""
	for _, service := range f.Services {
		to := change.Tag(service)
		rows, installed := serviceRows(service, to)
		if before != "" && service.ServiceSpec().Image.Tag != to {
			rows = []follow.Row{{Name: "Upgrade", State: "Wait", Text: "begins when " + before + " has its release"}}
		}
		if before == "" && !installed {
			before = service.Of.Kind
		}
		for i := range rows {
			rows[i].Name = f.label(service, rows[i].Name)
		}
		view.Rows = append(view.Rows, rows...)
		view.Done = view.Done && installed && meta.IsStatusConditionTrue(service.GetConditions(), vocabulary.ConditionReady)
		view.Failed = cmp.Or(view.Failed, f.failure(service, to))
	}
	return view
}

// observed reports whether the change has reached the service and its operator.
func observed(service inventory.Instance, to string) bool {
	return inventory.IsObserved(service) && service.ServiceSpec().Image.Tag == to
}

// serviceRows describes the progress of a service, and reports whether it has the release.
func serviceRows(service inventory.Instance, to string) (rows []follow.Row, installed bool) {
	if !observed(service, to) {
		return []follow.Row{{Name: "Operator", State: "Wait", Text: "has not observed the change yet"}}, false
	}
	status := service.ServiceStatus()
	switch status.TargetRelease {
	case "":
	case to:
		rows = phaseRows(status.UpgradePhase)
	default:
		rows = []follow.Row{{Name: "Abort", State: "Run", Text: "the upgrade to " + status.TargetRelease + " is being rolled back"}}
	}
	rows = append(rows, follow.ConditionRows(status.Conditions,
		vocabulary.ConditionDatabaseReady, vocabulary.ConditionDeploymentReady, vocabulary.ConditionReady)...)
	return rows, status.InstalledRelease == to && status.TargetRelease == ""
}

// phaseRows lists the phases of an upgrade: those that have ended, the current one and those to come.
func phaseRows(current commonv1.UpgradePhase) []follow.Row {
	all := phases
	if current.IsOffline() {
		all = offlinePhases
	}
	at := slices.IndexFunc(all, func(p phase) bool { return p.phase == current })
	rows := make([]follow.Row, 0, len(all))
	for i, p := range all {
		row := follow.Row{Name: string(p.phase), State: "Wait", Text: p.text}
		switch {
		case i < at:
			row.State = "Done"
		case i == at:
			row.State = "Run"
		}
		rows = append(rows, row)
	}
	return rows
}

// failure returns what blocks the upgrade of a service, nil while it proceeds. A failure of
// an earlier spec does not count.
func (f Facts) failure(service inventory.Instance, to string) error {
	database := meta.FindStatusCondition(service.GetConditions(), vocabulary.ConditionDatabaseReady)
	switch {
	case !observed(service, to), database == nil, database.Status == metav1.ConditionTrue,
		database.ObservedGeneration != service.GetGeneration(), !slices.Contains(failures, database.Reason):
		return nil
	case len(f.Services) > 1:
		return fmt.Errorf("%s: %s: %s", service.Ref().Arg(), database.Reason, database.Message)
	}
	return fmt.Errorf("%s: %s", database.Reason, database.Message)
}
