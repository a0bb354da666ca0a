package backup

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

func controlPlane(reason string, last *metav1.Time) *c5c3v1alpha1.ControlPlane {
	cp := &c5c3v1alpha1.ControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Name: "controlplane"}}
	cp.Spec.Backup = &c5c3v1alpha1.BackupSpec{}
	condition := testutil.True(c5c3v1alpha1.ConditionBackupReady, reason)
	condition.Message = "a message"
	cp.Status.Conditions = []metav1.Condition{condition}
	cp.Status.Backup = &c5c3v1alpha1.BackupStatus{LastSuccessTime: last}
	return cp
}

func runEnded(how batchv1.JobConditionType, at time.Time) *batchv1.Job {
	run := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Name: "controlplane-backup-manual-x", UID: "run"}}
	if how != "" {
		run.Status.Conditions = []batchv1.JobCondition{{Type: how, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(at)}}
	}
	return run
}

func TestABackupIsDoneWhenItsKeysAreProven(t *testing.T) {
	now := time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)
	run := runEnded(batchv1.JobComplete, now)
	earlier := ptr.To(metav1.NewTime(now.Add(-24 * time.Hour)))
	if view := View(controlPlane(c5c3v1alpha1.ReasonStoringBackupKeys, earlier), run, nil); view.Done || view.Failed != nil {
		t.Errorf("a dump without proof is the end: %+v", view)
	}
	if view := View(controlPlane(c5c3v1alpha1.ReasonBackedUp, ptr.To(metav1.NewTime(now))), run, nil); !view.Done {
		t.Errorf("got %+v after the proof", view)
	}
}

func TestABackupFailsIfItsKeysDoNotFit(t *testing.T) {
	run := runEnded(batchv1.JobComplete, time.Now())
	view := View(controlPlane(c5c3v1alpha1.ReasonBackupKeysNotStored, nil), run, nil)
	if view.Failed == nil || view.Failed.Error() != "a message" {
		t.Errorf("got %+v", view)
	}
}

func TestAFailedBackupJobIsExplainedByItsPod(t *testing.T) {
	run := runEnded("", time.Now())
	pods := []corev1.Pod{testutil.JobPod(run, "pod", testutil.Ended("mariadb-operator", "no space left"))}
	view := View(controlPlane(c5c3v1alpha1.ReasonBackedUp, nil), run, pods)
	if view.Failed != nil || !strings.Contains(view.Rows[0].Text, "no space left") {
		t.Errorf("a Job that retries: %+v", view)
	}
	run = runEnded(batchv1.JobFailed, time.Now())
	view = View(controlPlane(c5c3v1alpha1.ReasonBackedUp, nil), run, pods)
	if view.Failed == nil || !strings.Contains(view.Failed.Error(), "no space left") {
		t.Errorf("got %+v", view)
	}
}

func TestARestoreIsDoneWhenTheControlPlaneIsReadyAgain(t *testing.T) {
	const at = "2026-11-21T01:00:00Z"
	cp := controlPlane(c5c3v1alpha1.ReasonBackedUp, nil)
	cp.Status.Conditions = append(cp.Status.Conditions, testutil.True("Ready", "AllReady"))
	if view := RestoreView(cp, at); view.Done || view.Failed != nil {
		t.Errorf("before the operator has seen it: %+v", view)
	}
	refused := testutil.True(c5c3v1alpha1.ConditionRestoreReady, c5c3v1alpha1.ReasonRestoreRefused)
	refused.Status, refused.Message = metav1.ConditionFalse, "another control plane"
	cp.Status.Conditions = append(cp.Status.Conditions, refused)
	if view := RestoreView(cp, at); view.Failed == nil || view.Failed.Error() != "another control plane" {
		t.Errorf("got %+v", view)
	}
	cp.Status.Restore = &c5c3v1alpha1.RestoreStatus{Request: at}
	if view := RestoreView(cp, at); !view.Done {
		t.Errorf("got %+v", view)
	}
}
