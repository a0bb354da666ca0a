//go:build integration

package controller_test

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

const backupTime = "2026-11-21T01:00:00Z"

// requestRestore requests the restore of the backup of a time.
func (w *world) requestRestore(t *testing.T, at string) {
	t.Helper()
	objects.Annotate(t, w, w.cp, c5c3v1alpha1.AnnotationRestore, func(*c5c3v1alpha1.ControlPlane) string { return at })
}

var sealedBundle = regexp.MustCompile(`VALUES \(1, '([^']*)'\)`)

// sealed returns the encrypted keys that the database has.
func (w *world) sealed(t *testing.T) string {
	t.Helper()
	statements := &corev1.Secret{ObjectMeta: w.meta("controlplane-backup-keys")}
	expect.Exists(t, w, statements)
	return string(sealedBundle.FindSubmatch(statements.Data["statements.sql"])[1])
}

// loads simulates mariadb-operator, which has loaded the dump, or could not.
func (w *world) loads(t *testing.T, name, reason string) {
	t.Helper()
	restore := &infraapi.Restore{ObjectMeta: w.meta(name)}
	expect.Exists(t, w, restore)
	if at := restore.Spec.TargetRecoveryTime.UTC().Format("2006-01-02T15:04:05Z"); at != backupTime {
		t.Errorf("%s is of %s", name, at)
	}
	objects.ChangeStatus(t, w, restore, func(r *infraapi.Restore) {
		meta.SetStatusCondition(&r.Status.Conditions, metav1.Condition{Type: "Complete", Status: metav1.ConditionTrue, Reason: reason})
	})
}

// runs completes the Job of the name.
func (w *world) runs(t *testing.T, name string, how ...batchv1.JobConditionType) {
	t.Helper()
	run := &batchv1.Job{ObjectMeta: w.meta(name)}
	expect.Exists(t, w, run)
	w.end(t, run, how...)
}

// reads completes the Job that reads the keys, whose pod says the text.
func (w *world) reads(t *testing.T, text string) {
	t.Helper()
	run := &batchv1.Job{ObjectMeta: w.meta("controlplane-restore-read")}
	expect.Exists(t, w, run)
	pod := &corev1.Pod{ObjectMeta: w.meta("controlplane-restore-read-x"), Spec: run.Spec.Template.Spec}
	pod.Labels = maps.Clone(run.Spec.Template.Labels)
	pod.Labels[batchv1.JobNameLabel] = run.Name
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(run, batchv1.SchemeGroupVersion.WithKind("Job"))}
	objects.Create(t, w, pod)
	objects.ChangeStatus(t, w, pod, func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodSucceeded
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "part-0", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: text}},
		}}
	})
	w.end(t, run, succeeded...)
}

// checks simulates everything until the keys in the backup are read.
func (w *world) checks(t *testing.T, text string) {
	t.Helper()
	w.loads(t, "controlplane-restore-check", "JobComplete")
	w.reads(t, text)
}

func (w *world) keysIn(t *testing.T, name string) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: w.meta(name)}
	expect.Exists(t, w, secret)
	return secret
}

func TestARestoreReplacesNothingBeforeTheKeysAreProven(t *testing.T) {
	t.Parallel()
	w, first := scheduled(t)
	original, text := w.keysIn(t, "controlplane-keystone-credential-keys"), w.sealed(t)
	rotated := original.DeepCopy()
	objects.Change(t, w, rotated, func(s *corev1.Secret) { s.Data["3"] = s.Data["0"] })
	second := w.storing(t, first)
	w.end(t, second, succeeded...)

	w.requestRestore(t, backupTime)
	w.expect(t, "RestoreReady", metav1.ConditionFalse, "CheckingBackup")
	w.expect(t, "BackupReady", metav1.ConditionFalse, "Restoring")
	w.expect(t, "KeystoneReady", metav1.ConditionTrue, "KeystoneReady")
	backup := &infraapi.Backup{ObjectMeta: w.meta("controlplane-backup")}
	expect.Object(t, w, backup, func() error {
		if !backup.Spec.Schedule.Suspend {
			return errors.New("it is not suspended")
		}
		return nil
	})
	w.checks(t, text)
	w.runs(t, "controlplane-restore-proof", succeeded...)
	w.expect(t, "RestoreReady", metav1.ConditionFalse, "Restoring", "controlplane-restore-drop")
	if now := w.keysIn(t, original.Name); len(now.Data) != 4 {
		t.Error("the keys were replaced before the databases")
	}
	w.runs(t, "controlplane-restore-drop", succeeded...)
	w.loads(t, "controlplane-restore", "JobComplete")
	w.expect(t, "RestoreReady", metav1.ConditionTrue, "Restored", backupTime)
	if now := w.keysIn(t, original.Name); len(now.Data) != 3 || now.UID == original.UID {
		t.Errorf("there are %d keys", len(now.Data))
	}
	keystone := w.keystone(t)
	if again := keystone.Annotations[keystonev1alpha1.AnnotationRunAgain]; again != backupTime {
		t.Errorf("the schema is installed again for %q", again)
	}
	expect.Gone(t, w, &infraapi.MariaDB{ObjectMeta: w.meta("controlplane-restore-check")})
	expect.Gone(t, w, &infraapi.Restore{ObjectMeta: w.meta("controlplane-restore")})
	w.end(t, w.storing(t, second), succeeded...)
	w.expect(t, "BackupReady", metav1.ConditionTrue, "BackupScheduled")
	expect.Object(t, w, backup, func() error {
		if backup.Spec.Schedule.Suspend {
			return errors.New("it is still suspended")
		}
		return nil
	})
}

func TestABackupHoldsTheKeyOfBarbican(t *testing.T) {
	t.Parallel()
	w := emptyWith(t, services.Barbican)
	inClaim(w.cp)
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	w.reportService(t, services.Barbican, "2025.2", true)
	w.keySecrets(t)
	w.encryptionKey(t)
	w.fillInServer(t)
	const name = "controlplane-barbican-key-encryption-key"
	w.expect(t, "BackupReady", metav1.ConditionFalse, "StoringBackupKeys", name)
	original := secretNamed(w.cp.Namespace, name, "kek.conf", "the first key")
	objects.Create(t, w, original)
	run := w.storing(t, nil)
	w.end(t, run, succeeded...)
	w.expect(t, "BackupReady", metav1.ConditionTrue, "BackupScheduled")
	text := w.sealed(t)
	rotated := original.DeepCopy()
	objects.Change(t, w, rotated, func(s *corev1.Secret) { s.Data["kek.conf"] = []byte("another key") })
	w.end(t, w.storing(t, run), succeeded...)

	w.requestRestore(t, backupTime)
	w.checks(t, text)
	w.runs(t, "controlplane-restore-proof", succeeded...)
	w.runs(t, "controlplane-restore-drop", succeeded...)
	w.loads(t, "controlplane-restore", "JobComplete")
	w.expect(t, "RestoreReady", metav1.ConditionTrue, "Restored", backupTime)
	if got := w.keysIn(t, name); string(got.Data["kek.conf"]) != "the first key" {
		t.Errorf("the key is %q", got.Data)
	}
}

func TestAnEmptyControlPlaneWaitsForItsRestore(t *testing.T) {
	t.Parallel()
	source, _ := scheduled(t)
	w := emptyWorld(t)
	w.seed()
	inClaim(w.cp)
	key := source.keysIn(t, "backup-key")
	objects.Create(t, w, &corev1.Secret{ObjectMeta: w.meta("backup-key"), Data: key.Data})
	w.cp.Annotations = map[string]string{c5c3v1alpha1.AnnotationRestore: backupTime}
	mariadb.Set("MariaDB", w.cp.Namespace, "openstack-db", standin.Hang())
	objects.Create(t, w, w.cp)
	w.expect(t, "RestoreReady", metav1.ConditionFalse, "WaitingForInfrastructure")
	mariadb.Set("MariaDB", w.cp.Namespace, "openstack-db", standin.Succeed())
	w.fillInServer(t)
	// It is the backup of a control plane in another namespace.
	w.checks(t, source.sealed(t))
	w.expect(t, "RestoreReady", metav1.ConditionFalse, "RestoreRefused", source.cp.Namespace+"/controlplane")
	w.expect(t, "KeystoneReady", metav1.ConditionFalse, "WaitingForInfrastructure", "RestoreReady")
	absent(t, w, "controlplane-keystone")
	objects.Annotate(t, w, w.cp, c5c3v1alpha1.AnnotationRestore, func(*c5c3v1alpha1.ControlPlane) string { return "" })
	w.expect(t, "RestoreReady", metav1.ConditionTrue, "NoRestoreRequested")
	expect.Exists(t, w, &keystonev1alpha1.Keystone{ObjectMeta: w.meta("controlplane-keystone")})
}

func absent(t *testing.T, w *world, keystone string) {
	t.Helper()
	err := w.Get(t.Context(), client.ObjectKey{Namespace: w.cp.Namespace, Name: keystone}, &keystonev1alpha1.Keystone{})
	if err == nil {
		t.Error("there is a Keystone with new keys")
	}
}

func TestARestoreThatCannotBeDoneIsRefused(t *testing.T) {
	t.Parallel()
	w, _ := scheduled(t)
	text := w.sealed(t)
	w.requestRestore(t, "yesterday")
	w.expect(t, "RestoreReady", metav1.ConditionFalse, "RestoreRefused", "is not a time")

	w.requestRestore(t, backupTime)
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Backup.EncryptionKeySecretRef.Name = "other-key" })
	w.expect(t, "RestoreReady", metav1.ConditionFalse, "WaitingForEncryptionKey", "other-key")
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Backup.EncryptionKeySecretRef.Name = "backup-key" })
	w.checks(t, text)
	w.runs(t, "controlplane-restore-proof", failed...)
	w.expect(t, "RestoreReady", metav1.ConditionFalse, "RestoreRefused", "do not fit its databases")
	w.expect(t, "KeystoneReady", metav1.ConditionTrue, "KeystoneReady")
	if err := w.Get(t.Context(), client.ObjectKey{Namespace: w.cp.Namespace, Name: "controlplane-restore-drop"}, &batchv1.Job{}); err == nil {
		t.Error("the databases are dropped")
	}
}

func TestABackupThatCannotBeLoadedFails(t *testing.T) {
	t.Parallel()
	w, _ := scheduled(t)
	w.requestRestore(t, backupTime)
	w.loads(t, "controlplane-restore-check", "JobFailed")
	w.expect(t, "RestoreReady", metav1.ConditionFalse, "RestoreFailed", "logs job/controlplane-restore-check")
}

func TestAnotherRequestStartsAgain(t *testing.T) {
	t.Parallel()
	w, _ := scheduled(t)
	w.requestRestore(t, "2026-11-20T01:00:00Z")
	server := &infraapi.MariaDB{ObjectMeta: w.meta("controlplane-restore-check")}
	expect.Exists(t, w, server)
	first := server.UID
	w.requestRestore(t, backupTime)
	expect.Object(t, w, server, func() error {
		if server.UID == first {
			return fmt.Errorf("it is the server of the first request")
		}
		return nil
	})
}

func TestAMariaDBThatTheAPIServerRefusesIsReportedByTheRestore(t *testing.T) {
	t.Parallel()
	w, _ := scheduled(t)
	w.refuse(t, "apply", "mariadbs", "controlplane-restore-check")
	w.requestRestore(t, backupTime)
	w.expect(t, "RestoreReady", metav1.ConditionFalse, "RestoreError")
}
