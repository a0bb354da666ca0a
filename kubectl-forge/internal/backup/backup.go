// Package backup describes the progress of a backup or a restore of a ControlPlane. It makes no request.
package backup

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/poddiag"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/follow"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// Check returns an error if the ControlPlane takes no backups.
func Check(cp *c5c3v1alpha1.ControlPlane) error {
	if cp.Spec.Backup == nil {
		return fmt.Errorf("ControlPlane %s takes no backups: set spec.backup", cp.Name)
	}
	return nil
}

// Missing returns the error for a ControlPlane whose schedule has no CronJob.
func Missing(cp *c5c3v1alpha1.ControlPlane) error {
	message := "wait until the operator has created it"
	if ready := meta.FindStatusCondition(cp.Status.Conditions, c5c3v1alpha1.ConditionBackupReady); ready != nil {
		message = ready.Message
	}
	return fmt.Errorf("there is no CronJob %s: %s", cp.BackupName(), message)
}

// View describes the progress of the backup that a Job takes.
func View(cp *c5c3v1alpha1.ControlPlane, run *batchv1.Job, pods []corev1.Pod) follow.View {
	view := follow.View{Title: "backup of ControlPlane " + cp.Name}
	row := follow.Row{Name: "Job", State: "Run", Text: run.Name}
	proof := follow.Row{Name: "Proof", State: "Wait", Text: "waits for the Job"}
	trouble, _ := poddiag.Problem(pods)
	switch ended, succeeded, at := job.Ended(run); {
	case succeeded:
		row.State = "Done"
		proof, view.Done, view.Failed = prove(cp, at)
	case ended:
		row.State = "Failed"
		view.Failed = fmt.Errorf("job %s failed: %s; kubectl -n %s logs job/%s --all-containers shows its log",
			run.Name, cmp.Or(trouble, "its pod no longer exists"), run.Namespace, run.Name)
	case trouble != "":
		row.Text += ": " + trouble
	}
	view.Rows = append([]follow.Row{row, proof}, follow.ConditionRows(cp.Status.Conditions, c5c3v1alpha1.ConditionBackupReady)...)
	return view
}

// prove describes whether the operator has found that the keys fit the databases.
func prove(cp *c5c3v1alpha1.ControlPlane, since time.Time) (row follow.Row, done bool, failed error) {
	row = follow.Row{Name: "Proof", State: "Wait", Text: "the operator checks that the keys in the backup fit its databases"}
	status := cp.Status.Backup
	if status != nil && status.LastSuccessTime != nil && !status.LastSuccessTime.Time.Before(since.Truncate(time.Second)) {
		row.State, row.Text = "Done", "the keys in the backup fit its databases"
		return row, true, nil
	}
	ready := meta.FindStatusCondition(cp.Status.Conditions, c5c3v1alpha1.ConditionBackupReady)
	if ready != nil && ready.Reason == c5c3v1alpha1.ReasonBackupKeysNotStored {
		row.State = "Failed"
		return row, false, errors.New(ready.Message)
	}
	return row, false, nil
}

// RestoreView describes the progress of the restore that was requested for a time.
func RestoreView(cp *c5c3v1alpha1.ControlPlane, at string) follow.View {
	view := follow.View{Title: "restore of ControlPlane " + cp.Name, Rows: follow.ConditionRows(cp.Status.Conditions)}
	replaced := cp.Status.Restore != nil && cp.Status.Restore.Request == at
	view.Done = replaced && meta.IsStatusConditionTrue(cp.Status.Conditions, vocabulary.ConditionReady) &&
		cp.Status.ObservedGeneration == cp.Generation
	ready := meta.FindStatusCondition(cp.Status.Conditions, c5c3v1alpha1.ConditionRestoreReady)
	final := []string{c5c3v1alpha1.ReasonRestoreRefused, c5c3v1alpha1.ReasonRestoreFailed}
	if ready != nil && !replaced && slices.Contains(final, ready.Reason) {
		view.Failed = errors.New(ready.Message)
	}
	return view
}
