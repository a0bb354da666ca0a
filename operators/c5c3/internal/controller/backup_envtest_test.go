//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
)

// inClaim adds backups to a control plane.
func inClaim(cp *c5c3v1alpha1.ControlPlane) {
	cp.Spec.Backup = &c5c3v1alpha1.BackupSpec{
		Schedule: "0 1 * * *", EncryptionKeySecretRef: commonv1.SecretRefSpec{Name: "backup-key"},
		Storage: c5c3v1alpha1.BackupStorageSpec{PersistentVolumeClaim: &c5c3v1alpha1.BackupClaimSpec{ClaimName: "backups"}},
	}
}

// fillInServer simulates mariadb-operator, which names the image and the Secret of root.
func (w *world) fillInServer(t *testing.T) {
	t.Helper()
	server := &infraapi.MariaDB{ObjectMeta: w.meta("openstack-db")}
	expect.Exists(t, w, server)
	objects.Change(t, w, server, func(m *infraapi.MariaDB) {
		m.Spec.Image = "mariadb:11.8"
		m.Spec.RootPasswordSecretKeyRef = &infraapi.SecretKey{Name: "openstack-db-root", Key: "password"}
	})
}

func (w *world) keySecrets(t *testing.T) {
	t.Helper()
	for _, name := range []string{"controlplane-keystone-fernet-keys", "controlplane-keystone-credential-keys"} {
		keys, err := fernet.Generate(3)
		if err != nil {
			t.Fatal(err)
		}
		objects.Create(t, w, &corev1.Secret{ObjectMeta: w.meta(name), Data: keys})
	}
}

func (w *world) encryptionKey(t *testing.T) {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	objects.Create(t, w, secretNamed(w.cp.Namespace, "backup-key", "key", identity.String()))
}

// storing waits for the Job that stores the keys, other than the one with the UID.
func (w *world) storing(t *testing.T, other *batchv1.Job) *batchv1.Job {
	t.Helper()
	run := &batchv1.Job{ObjectMeta: w.meta("controlplane-backup-keys")}
	expect.Object(t, w, run, func() error {
		if other != nil && run.UID == other.UID {
			return errors.New("it is the earlier one")
		}
		return nil
	})
	return run
}

// end simulates the Job controller.
func (w *world) end(t *testing.T, run *batchv1.Job, how ...batchv1.JobConditionType) {
	t.Helper()
	objects.ChangeStatus(t, w, run, func(run *batchv1.Job) {
		now := metav1.Now()
		run.Status.StartTime = &now
		for _, conditionType := range how {
			if conditionType == batchv1.JobComplete {
				run.Status.CompletionTime = &now
			}
			run.Status.Conditions = append(run.Status.Conditions, batchv1.JobCondition{
				Type: conditionType, Status: corev1.ConditionTrue, LastTransitionTime: now, Message: "it has ended",
			})
		}
	})
}

var (
	succeeded = []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete}
	failed    = []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed}
)

// scheduled is a control plane whose backups are scheduled. It returns the Job that has stored
// the keys.
func scheduled(t *testing.T) (*world, *batchv1.Job) {
	t.Helper()
	w := converged(t, inClaim)
	w.keySecrets(t)
	w.encryptionKey(t)
	w.fillInServer(t)
	run := w.storing(t, nil)
	w.end(t, run, succeeded...)
	w.expect(t, "BackupReady", metav1.ConditionTrue, "BackupScheduled", "there is no good backup yet")
	return w, run
}

// cronJob simulates mariadb-operator and the CronJob controller after a backup.
func (w *world) cronJob(t *testing.T, last metav1.Time) *batchv1.CronJob {
	t.Helper()
	cronJob := &batchv1.CronJob{ObjectMeta: w.meta("controlplane-backup")}
	cronJob.Labels = controlplane.Labels(w.cp)
	cronJob.Spec.Schedule = "0 1 * * *"
	cronJob.Spec.JobTemplate.Spec.Template = dumpPod()
	objects.Create(t, w, cronJob)
	objects.ChangeStatus(t, w, cronJob, func(c *batchv1.CronJob) { c.Status.LastSuccessfulTime = &last })
	return cronJob
}

func dumpPod() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "mariadb-operator", Image: "mariadb-operator"}},
	}}
}

func TestBackupsAreScheduledOnceTheDatabaseHasTheKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t, inClaim)
	w.expect(t, "BackupReady", metav1.ConditionFalse, "WaitingForInfrastructure", "does not name its image")
	w.fillInServer(t)
	w.expect(t, "BackupReady", metav1.ConditionFalse, "WaitingForKeystone", "is not installed yet")
	w.report(t, "2025.2", "", true)
	w.expect(t, "BackupReady", metav1.ConditionFalse, "WaitingForKeystone", "controlplane-keystone-fernet-keys")
	w.keySecrets(t)
	w.expect(t, "BackupReady", metav1.ConditionFalse, "WaitingForEncryptionKey", "Secret backup-key")
	invalid := secretNamed(w.cp.Namespace, "backup-key", "key", "no age key")
	objects.Create(t, w, invalid)
	w.expect(t, "BackupReady", metav1.ConditionFalse, "EncryptionKeyInvalid", "key of Secret backup-key")
	objects.Delete(t, w, invalid)
	w.encryptionKey(t)
	w.expect(t, "BackupReady", metav1.ConditionFalse, "StoringBackupKeys")
	if err := w.Get(t.Context(), client.ObjectKey{Namespace: w.cp.Namespace, Name: "controlplane-backup"}, &infraapi.Backup{}); err == nil {
		t.Error("backups without keys are scheduled")
	}
	w.end(t, w.storing(t, nil), succeeded...)
	w.expect(t, "BackupReady", metav1.ConditionTrue, "BackupScheduled")
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestTheDatabaseGetsRotatedKeys(t *testing.T) {
	t.Parallel()
	w, first := scheduled(t)
	rotated := &corev1.Secret{ObjectMeta: w.meta("controlplane-keystone-credential-keys")}
	objects.Change(t, w, rotated, func(s *corev1.Secret) { s.Data["2"] = []byte("newest") })
	w.end(t, w.storing(t, first), succeeded...)
	w.expect(t, "BackupReady", metav1.ConditionTrue, "BackupScheduled")
	statements := &corev1.Secret{ObjectMeta: w.meta("controlplane-backup-keys")}
	expect.Exists(t, w, statements)
	if text := string(statements.Data["statements.sql"]); strings.Contains(text, "newest") || strings.Count(text, "', '") != 2 {
		t.Errorf("the statements show a key, or do not prove all three:\n%s", text)
	}
}

func TestABackupIsGoodWhenItsKeysAreProven(t *testing.T) {
	t.Parallel()
	w, first := scheduled(t)
	last := metav1.NewTime(time.Date(2026, 11, 21, 1, 0, 5, 0, time.UTC))
	w.cronJob(t, last)
	proof := w.storing(t, first)
	if w.cp.Status.Backup.LastSuccessTime != nil {
		t.Error("a dump without proof counts")
	}
	w.end(t, proof, failed...)
	w.expect(t, "BackupReady", metav1.ConditionFalse, "BackupKeysNotStored", "controlplane-backup-keys")
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	objects.Delete(t, w, proof, client.PropagationPolicy(metav1.DeletePropagationBackground))
	w.end(t, w.storing(t, proof), succeeded...)
	w.expect(t, "BackupReady", metav1.ConditionTrue, "BackedUp", "2026-11-21T01:00:05Z")
	if got := w.cp.Status.Backup.LastSuccessTime; got == nil || !got.Equal(&last) {
		t.Errorf("the last good one is of %v", got)
	}
}

func TestAFailedBackupIsReportedWithItsLog(t *testing.T) {
	t.Parallel()
	w, first := scheduled(t)
	cronJob := w.cronJob(t, metav1.NewTime(time.Date(2026, 11, 21, 1, 0, 5, 0, time.UTC)))
	w.end(t, w.storing(t, first), succeeded...)
	w.expect(t, "BackupReady", metav1.ConditionTrue, "BackedUp")
	run := &batchv1.Job{ObjectMeta: w.meta("controlplane-backup-1"), Spec: batchv1.JobSpec{Template: dumpPod()}}
	run.Labels = controlplane.Labels(w.cp)
	run.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(cronJob, batchv1.SchemeGroupVersion.WithKind("CronJob"))}
	objects.Create(t, w, run)
	w.end(t, run, failed...)
	w.expect(t, "BackupReady", metav1.ConditionFalse, "BackupFailed", "it has ended", "logs job/controlplane-backup-1", "2026-11-21T01:00:05Z")
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestAnotherStorageReplacesTheSchedule(t *testing.T) {
	t.Parallel()
	w, _ := scheduled(t)
	backup := &infraapi.Backup{ObjectMeta: w.meta("controlplane-backup")}
	objects.Change(t, w, backup, func(b *infraapi.Backup) { b.Finalizers = []string{"test.c5c3.io/stay"} })
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Backup.Storage.PersistentVolumeClaim.ClaimName = "others" })
	w.expect(t, "BackupReady", metav1.ConditionFalse, "ReplacingBackup")
	objects.Change(t, w, backup, func(b *infraapi.Backup) { b.Finalizers = nil })
	w.expect(t, "BackupReady", metav1.ConditionTrue, "BackupScheduled")
	expect.Object(t, w, backup, func() error {
		if claim := backup.Spec.Storage.Volume.PersistentVolumeClaim.ClaimName; claim != "others" {
			return fmt.Errorf("it is in %s", claim)
		}
		return nil
	})
}

func TestAnotherScheduleChangesTheBackup(t *testing.T) {
	t.Parallel()
	w, _ := scheduled(t)
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Spec.Backup.Schedule, cp.Spec.Backup.Suspend = "0 2 * * *", true
	})
	backup := &infraapi.Backup{ObjectMeta: w.meta("controlplane-backup")}
	expect.Object(t, w, backup, func() error {
		if got := *backup.Spec.Schedule; got != (infraapi.Schedule{Cron: "0 2 * * *", Suspend: true}) {
			return fmt.Errorf("got %+v", got)
		}
		return nil
	})
}

func TestABackupThatTheAPIServerRefusesIsReported(t *testing.T) {
	t.Parallel()
	w := converged(t, inClaim)
	lift := w.refuse(t, "apply", "backups", "controlplane-backup")
	w.keySecrets(t)
	w.encryptionKey(t)
	w.fillInServer(t)
	w.end(t, w.storing(t, nil), succeeded...)
	w.expect(t, "BackupReady", metav1.ConditionFalse, "BackupError")
	lift()
	w.expect(t, "BackupReady", metav1.ConditionTrue, "BackupScheduled")
}

func TestWithoutTheFieldTheScheduleIsRemoved(t *testing.T) {
	t.Parallel()
	w, run := scheduled(t)
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Backup = nil })
	w.expect(t, "BackupReady", metav1.ConditionTrue, "BackupNotConfigured")
	for _, object := range []client.Object{
		&infraapi.Backup{ObjectMeta: w.meta("controlplane-backup")}, &corev1.Secret{ObjectMeta: w.meta("controlplane-backup-keys")}, run,
	} {
		expect.Gone(t, w, object)
	}
	expect.Eventually(t, "the status is empty", func(ctx context.Context) error {
		if err := w.Get(ctx, client.ObjectKeyFromObject(w.cp), w.cp); err != nil || w.cp.Status.Backup == nil {
			return err
		}
		return errors.New("it is not")
	})
}

func TestBackupsOfAReleasedKeystoneStayAsTheyAre(t *testing.T) {
	t.Parallel()
	w, _ := scheduled(t)
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Services = c5c3v1alpha1.ServicesSpec{} })
	w.expect(t, "BackupReady", metav1.ConditionTrue, "KeystoneNotManaged")
	expect.Exists(t, w, &infraapi.Backup{ObjectMeta: w.meta("controlplane-backup")})
}
