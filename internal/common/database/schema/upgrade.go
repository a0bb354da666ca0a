package schema

import (
	"context"
	"fmt"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// upgrade takes an instance to a later release: the schema is expanded while the old
// pods serve, then the pods are replaced, and then what only the old pods used is
// dropped. A pass acts on the phase in the status and at most records the next one. So a
// later pass with a lost or stale status can never be ahead of the recorded phase. Every
// phase may run twice.
func (w *work) upgrade(ctx context.Context) (message string, err error) {
	if w.Status.TargetRelease != w.Spec.Image.Tag {
		if err := w.refuseMislabelled(); err != nil {
			return "", err
		}
		return "", w.initiateUpgrade()
	}
	if w.Status.UpgradePhase == commonv1.UpgradePhaseExpanding {
		return "", w.expand(ctx)
	}
	if err := w.checkDigest(ctx); err != nil {
		return "", err
	}
	switch w.Status.UpgradePhase {
	case commonv1.UpgradePhaseMigrating:
		return "", w.migrate(ctx)
	case commonv1.UpgradePhaseRollingUpdate:
		return "", w.rollOut(ctx)
	case commonv1.UpgradePhaseContracting:
		return w.contract(ctx)
	}
	return "", w.initiateUpgrade()
}

// initiateUpgrade records the target before anything is changed. Like each phase but the
// last, it returns an error: the schema does not fit yet.
func (w *work) initiateUpgrade() error {
	status := w.Status
	status.TargetRelease = w.Spec.Image.Tag
	status.ExpandedRelease = w.Spec.Image.Tag
	status.UpgradePhase = commonv1.UpgradePhaseExpanding
	note := fmt.Sprintf("Upgrading from %s to %s", status.InstalledRelease, status.TargetRelease)
	w.record(vocabulary.EventUpgradeInitiated, note)
	return reconcile.WaitError(vocabulary.ReasonExpandInProgress, note+": about to expand the database schema")
}

// setPhase records the next phase.
func (w *work) setPhase(phase commonv1.UpgradePhase, reason, event, done string) error {
	w.Status.UpgradePhase = phase
	note := fmt.Sprintf("%s for the upgrade from %s to %s", done, w.Status.InstalledRelease, w.Status.TargetRelease)
	w.record(event, note)
	return reconcile.WaitError(reason, note)
}

func (w *work) expand(ctx context.Context) error {
	err := w.runTask(ctx, w.expandTask(), taskReasons{
		running: vocabulary.ReasonExpandInProgress, failed: vocabulary.ReasonExpandFailed,
		activity: "expanding the database schema", hint: w.abortHint(),
	})
	if err != nil {
		return err
	}
	next, reason := commonv1.UpgradePhaseMigrating, vocabulary.ReasonMigrateInProgress
	if w.Migrate == nil {
		next, reason = commonv1.UpgradePhaseRollingUpdate, vocabulary.ReasonUpgradeRollingUpdate
	}
	return w.setPhase(next, reason, vocabulary.EventExpandComplete, "The database schema is expanded")
}

func (w *work) migrate(ctx context.Context) error {
	if w.Migrate == nil {
		// Another version of the operator, which migrates data, recorded this phase.
		return w.expand(ctx)
	}
	err := w.runTask(ctx, w.migrateTask(), taskReasons{
		running: vocabulary.ReasonMigrateInProgress, failed: vocabulary.ReasonMigrateFailed,
		activity: "migrating the data", hint: w.abortHint(),
	})
	if err != nil {
		return err
	}
	return w.setPhase(commonv1.UpgradePhaseRollingUpdate, vocabulary.ReasonUpgradeRollingUpdate,
		vocabulary.EventMigrateComplete, "The data is migrated")
}

// rollOut lets the Deployment step replace the pods and record the end of the rollout.
func (w *work) rollOut(ctx context.Context) error {
	proven, err := w.connectionProven(ctx)
	if err == nil && !proven {
		err = w.checkLogin(ctx, 0, w.abortHint())
	}
	if err != nil {
		return reconcile.WithReason(vocabulary.ReasonUpgradeRollingUpdate, err)
	}
	if err := w.promote(ctx); err != nil {
		return err
	}
	w.proceed = true
	return reconcile.WaitError(vocabulary.ReasonUpgradeRollingUpdate, fmt.Sprintf(
		"The pods of release %s are being replaced by those of %s", w.Status.InstalledRelease, w.Status.TargetRelease))
}

// connectionProven reports whether the expansion used exactly the connection that new
// pods would get.
func (w *work) connectionProven(ctx context.Context) (bool, error) {
	live, err := w.Jobs.Find(ctx, w.Resource, w.Named(TaskExpand))
	if live == nil || err != nil {
		return false, err
	}
	return live.Annotations[annotationConnectionProof] == w.access().Proof(), nil
}

// completeRollout records that the schema may be contracted. It returns an error while a
// pod of the old release is left.
func (w *work) completeRollout(ctx context.Context) (news string, err error) {
	status := w.Status
	if status.UpgradePhase != commonv1.UpgradePhaseRollingUpdate || status.TargetRelease != w.Spec.Image.Tag {
		return "", nil
	}
	old, err := w.oldAPIPod(ctx)
	switch {
	case err != nil:
		return "", err
	case old != "":
		return "", reconcile.WaitError("", fmt.Sprintf(
			"The Deployment is rolled out, but pod %s of release %s has not ended", old, status.InstalledRelease))
	}
	status.UpgradePhase = commonv1.UpgradePhaseContracting
	return "All API pods run release " + status.TargetRelease, nil
}

// contract drops what only the old release used. When it begins, nothing of the old
// release may be running or be started by a CronJob.
func (w *work) contract(ctx context.Context) (message string, err error) {
	from, to := w.Status.InstalledRelease, w.Status.TargetRelease
	reason, what := vocabulary.ReasonContractInProgress, "The database schema is contracted"
	if w.Contract == nil {
		reason, what = vocabulary.ReasonUpgradeRollingUpdate, "The upgrade is complete"
	}
	old, err := w.oldRelease(ctx)
	switch {
	case err != nil:
		return "", reconcile.WithReason(reason, err)
	case old != "":
		w.proceed = w.isServing(ctx)
		return "", reconcile.WaitError(reason, fmt.Sprintf("%s as soon as %s is done with release %s", what, old, from))
	}
	if w.Contract != nil {
		err = w.runTask(ctx, w.contractTask(), taskReasons{
			running: reason, failed: vocabulary.ReasonContractFailed,
			activity: "contracting the database schema", hint: "; going back to " + from + " is no longer possible",
		})
	}
	if err == nil {
		err = w.runCheck(ctx)
	}
	if err != nil {
		w.proceed = w.isServing(ctx)
		return "", err
	}
	if err := w.accept(ctx); err != nil {
		return "", err
	}
	status := w.Status
	status.TargetRelease, status.UpgradePhase, status.ExpandedRelease = "", "", ""
	w.record(vocabulary.EventUpgradeComplete, fmt.Sprintf("Upgraded from %s to %s", from, to))
	return upgradedMessage(from, to), nil
}

// isServing reports whether the pods of the new release have their connection. Later
// steps reconcile them while the contraction is running or failing, unless a changed
// connection must be verified first.
func (w *work) isServing(ctx context.Context) bool {
	hash, err := database.ConnectionInUse(ctx, w.Pass)
	return err == nil && hash == w.access().Hash()
}

// abortHint returns how to abort the upgrade.
func (w *work) abortHint() string {
	return fmt.Sprintf("; set "+imageTag+" back to %s to abort the upgrade", w.Status.InstalledRelease)
}
