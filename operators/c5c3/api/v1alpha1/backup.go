package v1alpha1

import (
	"cmp"
	"time"

	"github.com/c5c3/forge/internal/common/schedule"
)

// BackupName is the name of mariadb-operator's Backup of a control plane, and of its CronJob.
func (cp *ControlPlane) BackupName() string { return cp.Name + "-backup" }

// BackupKeysName is the name of the Secret and of the Job that store Keystone's keys, encrypted, in the database.
func (cp *ControlPlane) BackupKeysName() string { return cp.BackupName() + "-keys" }

// AnnotationRestore on a ControlPlane requests the restore of the backup that is closest to its
// value, a time in RFC 3339. Example: "2026-11-21T01:00:00Z".
const AnnotationRestore = "c5c3.io/restore"

// PendingRestore returns the time in the annotation for a restore that is not completed, "" for
// none.
func (cp *ControlPlane) PendingRestore() string {
	request := cp.Annotations[AnnotationRestore]
	if last := cp.Status.Restore; last != nil && last.Request == request {
		return ""
	}
	return request
}

// BackupDue returns when the schedule calls for the backup after the last good one. ok is
// false if there is no schedule in effect.
func (cp *ControlPlane) BackupDue() (due time.Time, ok bool) {
	if cp.Spec.Backup == nil || cp.Spec.Backup.Suspend || cp.Status.Backup == nil {
		return time.Time{}, false
	}
	last := cmp.Or(cp.Status.Backup.LastSuccessTime, cp.Status.Backup.ScheduledSince)
	if last == nil {
		return time.Time{}, false
	}
	due, err := schedule.Next(cp.Spec.Backup.Schedule, last.UTC())
	return due, err == nil
}
