package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// upgrade takes a Keystone to the next release: the schema is expanded while
// the old pods serve, then they are replaced, then what only they used is
// dropped. A pass acts on the phase that it finds in the status and at most
// records the next one. So no later pass, whatever it has lost or not seen yet,
// can be ahead of the recorded phase; and every phase may run twice.
func (s *scope) upgrade(ctx context.Context) reconcile.Outcome {
	if s.keystone.Status.TargetRelease != s.keystone.Spec.Image.Tag {
		return s.initiateUpgrade()
	}
	switch s.keystone.Status.UpgradePhase {
	case keystonev1alpha1.UpgradePhaseExpanding:
		return s.expand(ctx)
	case keystonev1alpha1.UpgradePhaseMigrating:
		return s.migrate(ctx)
	case keystonev1alpha1.UpgradePhaseRollingUpdate:
		return s.rollOut(ctx)
	case keystonev1alpha1.UpgradePhaseContracting:
		return s.contract(ctx)
	}
	return s.initiateUpgrade()
}

// initiateUpgrade records the target before anything is done for it.
func (s *scope) initiateUpgrade() reconcile.Outcome {
	status := &s.keystone.Status
	status.TargetRelease = s.keystone.Spec.Image.Tag
	status.ExpandedRelease = s.keystone.Spec.Image.Tag
	status.UpgradePhase = keystonev1alpha1.UpgradePhaseExpanding
	note := fmt.Sprintf("Upgrading from %s to %s", status.InstalledRelease, status.TargetRelease)
	return reconcile.Waiting(keystonev1alpha1.ReasonExpandInProgress, note+": about to expand the database schema").
		OnRecord(corev1.EventTypeNormal, keystonev1alpha1.EventUpgradeInitiated, note)
}

// enter records the next phase.
func (s *scope) setPhase(phase keystonev1alpha1.UpgradePhase, reason, event, done string) reconcile.Outcome {
	s.keystone.Status.UpgradePhase = phase
	note := fmt.Sprintf("%s for the upgrade from %s to %s", done, s.keystone.Status.InstalledRelease, s.keystone.Status.TargetRelease)
	return reconcile.Waiting(reason, note).OnRecord(corev1.EventTypeNormal, event, note)
}

func (s *scope) expand(ctx context.Context) reconcile.Outcome {
	outcome := s.runDatabaseTask(ctx, dbExpand(s), taskReasons{
		running: keystonev1alpha1.ReasonExpandInProgress, failed: keystonev1alpha1.ReasonExpandFailed,
		activity: "expanding the database schema", hint: s.abortHint(),
	})
	if !outcome.IsDone() {
		return outcome
	}
	return s.setPhase(keystonev1alpha1.UpgradePhaseMigrating, keystonev1alpha1.ReasonMigrateInProgress,
		keystonev1alpha1.EventExpandComplete, "The database schema is expanded")
}

func (s *scope) migrate(ctx context.Context) reconcile.Outcome {
	outcome := s.runDatabaseTask(ctx, dbMigrate(s), taskReasons{
		running: keystonev1alpha1.ReasonMigrateInProgress, failed: keystonev1alpha1.ReasonMigrateFailed,
		activity: "migrating the data", hint: s.abortHint(),
	})
	if !outcome.IsDone() {
		return outcome
	}
	return s.setPhase(keystonev1alpha1.UpgradePhaseRollingUpdate, keystonev1alpha1.ReasonUpgradeRollingUpdate,
		keystonev1alpha1.EventMigrateComplete, "The data is migrated")
}

// rollOut lets the Deployment step replace the pods and record that it has.
func (s *scope) rollOut(ctx context.Context) reconcile.Outcome {
	proven, err := s.connectionProven(ctx)
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonUpgradeRollingUpdate, err)
	}
	if !proven {
		if check := s.checkLogin(ctx, s.abortHint()); !check.IsDone() {
			return check
		}
	}
	if promoted := s.promoteConnection(ctx); !promoted.IsDone() {
		return promoted
	}
	return reconcile.Waiting(keystonev1alpha1.ReasonUpgradeRollingUpdate, fmt.Sprintf(
		"The pods of release %s are being replaced by those of %s", s.keystone.Status.InstalledRelease, s.keystone.Status.TargetRelease,
	)).Proceed()
}

// connectionProven reports whether the expansion used the very connection that
// new pods would get.
func (s *scope) connectionProven(ctx context.Context) (bool, error) {
	live, err := s.Jobs.Find(ctx, s.keystone, s.Named(taskExpand))
	if live == nil || err != nil {
		return false, err
	}
	return live.Annotations[annotationConnectionProof] == s.connectionProof(), nil
}

// completeRollout records, once no pod of the old release is left, that the
// schema may be contracted. ready is the outcome of the Deployment step.
func (s *scope) completeRollout(ctx context.Context, ready reconcile.Outcome) reconcile.Outcome {
	status := &s.keystone.Status
	if status.UpgradePhase != keystonev1alpha1.UpgradePhaseRollingUpdate || status.TargetRelease != s.keystone.Spec.Image.Tag {
		return ready
	}
	old, err := s.oldAPIPod(ctx)
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonWaitingForDeployment, err)
	}
	if old != "" {
		return reconcile.Waiting(keystonev1alpha1.ReasonWaitingForDeployment,
			fmt.Sprintf("The Deployment is rolled out, but pod %s of release %s has not ended", old, status.InstalledRelease))
	}
	status.UpgradePhase = keystonev1alpha1.UpgradePhaseContracting
	return ready.OnRecord(corev1.EventTypeNormal, keystonev1alpha1.EventDeploymentRolloutComplete,
		fmt.Sprintf("All API pods run release %s", status.TargetRelease))
}

// contract drops what only the old release used. Nothing of the old release
// may run, or be started by a CronJob, when it begins.
func (s *scope) contract(ctx context.Context) reconcile.Outcome {
	from, to := s.keystone.Status.InstalledRelease, s.keystone.Status.TargetRelease
	old, err := s.oldRelease(ctx)
	switch {
	case err != nil:
		return reconcile.Failed(keystonev1alpha1.ReasonContractInProgress, err)
	case old != "":
		return s.proceedIfServing(ctx, reconcile.Waiting(keystonev1alpha1.ReasonContractInProgress, fmt.Sprintf(
			"The database schema is contracted as soon as %s is done with release %s", old, from)))
	}
	outcome := s.runDatabaseTask(ctx, dbContract(s), taskReasons{
		running: keystonev1alpha1.ReasonContractInProgress, failed: keystonev1alpha1.ReasonContractFailed,
		activity: "contracting the database schema", hint: "; going back to " + from + " is no longer possible",
	})
	if outcome.IsDone() {
		outcome = s.runDatabaseTask(ctx, schemaCheck(s), schemaCheckReasons)
	}
	if !outcome.IsDone() {
		return s.proceedIfServing(ctx, outcome)
	}
	outcome = s.acceptSchema(ctx, upgradedMessage(from, to))
	if !outcome.IsDone() {
		return outcome
	}
	status := &s.keystone.Status
	status.TargetRelease, status.UpgradePhase, status.ExpandedRelease = "", "", ""
	return outcome.OnRecord(corev1.EventTypeNormal, keystonev1alpha1.EventUpgradeComplete, fmt.Sprintf("Upgraded from %s to %s", from, to))
}

// proceedIfServing lets the later steps look after the pods of the new release while the
// contraction lasts or fails, unless a changed connection has to be proven
// first.
func (s *scope) proceedIfServing(ctx context.Context, outcome reconcile.Outcome) reconcile.Outcome {
	if hash, err := s.connectionInUse(ctx); err == nil && hash == s.connectionHash() {
		return outcome.Proceed()
	}
	return outcome
}

// abortHint says how to take the upgrade back.
func (s *scope) abortHint() string {
	return fmt.Sprintf("; set "+imageTag+" back to %s to abort the upgrade", s.keystone.Status.InstalledRelease)
}
